import { expect, test } from 'vitest'
import { readOrThrow } from './report.js'
import { wallAt } from './wall-mapping.js'
import { readZoneName, zoneDataVersion, zoneNamed } from './zone.js'

const name = (input: unknown) =>
  readOrThrow('timing_invalid', (report) => readZoneName(input, 'zone', report))

test('UTC is the default', () => {
  expect(name(undefined)).toBe('UTC')
})

test('a zone is known in any case; a link keeps its own name', () => {
  expect(name('america/new_york')).toBe('America/New_York')
  expect(name('Asia/Kolkata')).toBe('Asia/Kolkata')
  expect(name('Europe/Kyiv')).toBe('Europe/Kyiv')
})

test.each([
  ['Europe/Pariss', '(did you mean "Europe/Paris"?)'],
  ['New York', '(did you mean "America/New_York"?)'],
  ['+05:30', 'a fixed offset is written "Etc/GMT-5"'],
  ['UTC+5', 'a fixed offset is written "Etc/GMT-5"'],
  ['', 'zone: "" – is not an IANA time zone'],
  [5, 'zone: 5 – expected a zone'],
])('%s is refused with the reason', (input, message) => {
  expect(() => name(input)).toThrow(message)
})

test('offsets change at the millisecond they should', () => {
  const zone = zoneNamed('America/New_York')
  const change = Date.parse('2026-03-08T07:00:00Z')
  expect(wallAt(zone, change - 1)).toBe(Date.parse('2026-03-08T01:59:59.999Z'))
  expect(wallAt(zone, change)).toBe(Date.parse('2026-03-08T03:00:00Z'))
})

test('an offset with seconds is kept: Monrovia until 1972', () => {
  expect(zoneNamed('Africa/Monrovia').segmentAt(0).offset).toBe(-(44 * 60 + 30) * 1000)
})

test('two changes within a week are both seen', () => {
  // Brazil's north-east put the clock forward on 8 October 2000 and back a week later.
  const zone = zoneNamed('America/Recife')
  const hours = ['2000-10-07T12:00Z', '2000-10-10T12:00Z', '2000-10-16T12:00Z'].map(
    (text) => zone.segmentAt(Date.parse(text)).offset / 3_600_000,
  )
  expect(hours).toEqual([-3, -2, -3])
})

test('segments meet without holes or overlaps', () => {
  for (const zoneName of ['Africa/Casablanca', 'Asia/Gaza', 'Australia/Lord_Howe', 'Asia/Tokyo']) {
    const zone = zoneNamed(zoneName)
    let segment = zone.segmentAt(0)
    while (segment.end < Date.UTC(2100, 0, 1)) {
      const following = zone.segmentAt(segment.end)
      expect([following.start, following.before]).toEqual([segment.end, segment.offset])
      expect(following.offset).toBe(segment.after)
      segment = following
    }
  }
})

test('the version of the zone data is known', () => {
  expect(zoneDataVersion()).toMatch(/^\d{4}[a-z]$/)
})
