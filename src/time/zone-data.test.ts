import { describe, expect, it, test } from 'vitest'
import { after, cron, every, once, rrule, type Timing } from './timing.js'
import { followsZone, isNewer, ZONE_DATA, zoneDataOf } from './zone-data.js'

const zone = 'Europe/Paris'

describe('a timing', () => {
  it.each<[string, Timing]>([
    ['once at a wall time', once('2026-12-01T09:00', { zone })],
    ['every day', every('1 day', { zone, anchor: '2026-01-01T00:00:00Z' })],
    ['every 6 hours from a wall time', every('6 hours', { zone })],
    ['cron', cron('0 9 * * *', { zone })],
    ['rrule', rrule('FREQ=DAILY', { zone })],
  ])('follows its zone: %s', (_, timing) => expect(followsZone(timing)).toBe(true))

  it.each<[string, Timing]>([
    ['once at an instant', once('2026-12-01T09:00:00+01:00', { zone })],
    ['every 6 hours from an instant', every('6 hours', { zone, anchor: '2026-01-01T00:00:00Z' })],
    ['cron in UTC', cron('0 9 * * *')],
    ['cron at a fixed offset', cron('0 9 * * *', { zone: 'Etc/GMT-5' })],
    ['after', after('6 hours')],
  ])('follows no zone: %s', (_, timing) => expect(followsZone(timing)).toBe(false))

  it('keeps the version where its zone can move it, and none where it cannot', () => {
    expect(zoneDataOf(cron('0 9 * * *', { zone }), '2026a')).toBe('2026a')
    expect(zoneDataOf(cron('0 9 * * *'), '2026a')).toBeNull()
  })
})

test('versions go by year, then by letter, and one that is not known is older than any', () => {
  const sorted = ['', '2025a', '2025c', '2026a', '2026b']
  for (const [index, version] of sorted.entries()) {
    expect(sorted.filter((other) => isNewer(other, version))).toEqual(sorted.slice(index + 1))
  }
})

test('this runtime tells its version', () => expect(ZONE_DATA).toMatch(/^\d{4}[a-z]+$/))
