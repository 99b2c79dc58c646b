import { describe, expect, it } from 'vitest'
import { distance } from './local-time.js'
import { distanceTo, moment, wallElsewhere, wallRange, wallTime } from './moment.js'

const NOON = '2026-11-15T15:30:00.000Z'
const now = Date.parse(NOON)

describe('a time for whoever reads the terminal', () => {
  it('is on their own wall, to the minute, or to the second where there are some', () => {
    expect(wallTime(NOON)).toBe('2026-11-15 12:00')
    expect(wallTime('2026-11-15T15:30:07Z')).toBe('2026-11-15 12:00:07')
  })

  it('has its distance beside it, and the wall of the schedule where that shows another time', () => {
    const later = '2026-11-18T12:30:00Z'
    expect(moment(later, { now })).toBe('2026-11-18 09:00 (in 3 days)')
    expect(moment(later, { now, zone: 'America/St_Johns' })).toBe('2026-11-18 09:00 (in 3 days)')
    expect(moment(later, { now, zone: 'Europe/Paris' })).toBe(
      '2026-11-18 09:00 (in 3 days, 13:30 in Europe/Paris)',
    )
    expect(wallElsewhere('2026-11-18T20:30:00Z', 'Asia/Tokyo')).toBe('2026-11-19 05:30')
  })

  it('is a range without the date twice', () => {
    expect(wallRange(NOON, '2026-11-15T16:30:00Z')).toBe('2026-11-15 12:00 to 13:00')
    expect(wallRange(NOON, '2026-11-16T16:30:00Z')).toBe('2026-11-15 12:00 to 2026-11-16 13:00')
  })
})

describe('a distance', () => {
  it('is in the largest unit of which there are two, also when an answer took its time', () => {
    expect(distance(2 * 3_600_000 - 700)).toBe('in 2 hours')
    expect(distance(110 * 60_000)).toBe('in 110 minutes')
    expect(distance(-47.6 * 3_600_000)).toBe('2 days ago')
  })

  it('is now where there is none', () => {
    expect(distanceTo(NOON, now + 499)).toBe('now')
    expect(distanceTo(NOON, now + 1_000)).toBe('1 second ago')
  })
})
