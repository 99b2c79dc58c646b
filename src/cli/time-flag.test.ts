import { describe, expect, it } from 'vitest'
import { readTime, readUntil } from './time-flag.js'

const now = Date.parse('2026-11-15T12:00:00Z')
const read = (text: string) => new Date(readTime(text, '--from', 'America/New_York', now)).toISOString()

describe('a time as people type it', () => {
  it.each([
    ['2026-12-01T09:00', '2026-12-01T14:00:00.000Z'],
    ['2026-12-01', '2026-12-01T05:00:00.000Z'],
    ['2026-12-01T09:00+01:00', '2026-12-01T08:00:00.000Z'],
    ['now', '2026-11-15T12:00:00.000Z'],
    ['2 days ago', '2026-11-13T12:00:00.000Z'],
    ['in 90s', '2026-11-15T12:01:30.000Z'],
  ])('%s', (text, instant) => {
    expect(read(text)).toBe(instant)
  })

  it.each([
    ['soon', /^--from: "soon" – is not an ISO 8601 date-time/],
    ['2 dyas ago', /^--from: "2 dyas" – "dyas" is not a unit of time/],
    ['2026-02-30', /^--from: "2026-02-30" – day 30 is out of range 1–28$/],
  ])('is refused by the name of its flag: %s', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })
})

describe('when a pause ends', () => {
  it('is a length by the clock of the database, or an instant, for which the zone is asked only if it has no offset', async () => {
    const noZone = () => expect.fail('asked for the zone')
    expect(await readUntil('2 hours', noZone)).toEqual({ in: '2 hours' })
    expect(await readUntil('in 2 hours', noZone)).toEqual({ in: '2 hours' })
    expect(await readUntil('2026-12-01T09:00:00-05:00', noZone)).toBe('2026-12-01T14:00:00.000Z')
    expect(await readUntil('2026-12-01', () => 'Asia/Tokyo')).toBe('2026-11-30T15:00:00.000Z')
  })
})
