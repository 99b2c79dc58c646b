import { expect, test } from 'vitest'
import { type DateTime, formatInstant, formatWall, readDateTime, readInstant } from './instant.js'
import { readOrThrow } from './report.js'

const read = (input: unknown): DateTime =>
  readOrThrow('timing_invalid', (report) => readDateTime(input, 'at', report))

test.each([
  ['2026-12-01T09:00Z', '2026-12-01T09:00:00.000Z'],
  ['2026-12-01T09:00:30.25+05:30', '2026-12-01T03:30:30.250Z'],
  ['2026-12-01 09:00:00-0800', '2026-12-01T17:00:00.000Z'],
  ['2026-12-01T09:00:00.123000000Z', '2026-12-01T09:00:00.123Z'],
  ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
])('%s is the instant %s', (text, instant) => {
  expect(read(text)).toEqual({ instant: Date.parse(instant) })
})

test('a Date and a number are instants', () => {
  expect(read(new Date(5))).toEqual({ instant: 5 })
  expect(read(5)).toEqual({ instant: 5 })
})

test.each([
  ['2026-12-01T09:00', '2026-12-01T09:00:00'],
  ['2026-12-01', '2026-12-01T00:00:00'],
  ['1900-01-01T23:59:59.5', '1900-01-01T23:59:59.500'],
])('%s is wall time', (text, wall) => {
  const found = read(text) as { wall: number }
  expect(formatWall(found.wall)).toBe(wall)
})

test.each([
  ['tomorrow', 'at: "tomorrow" – is not an ISO 8601 date-time'],
  ['2026-13-01', 'month 13 is out of range 1–12'],
  ['2026-02-29T00:00Z', 'day 29 is out of range 1–28'],
  ['2026-01-01T24:00Z', 'hour 24 is out of range 0–23'],
  ['2026-01-01T23:60Z', 'minute 60 is out of range 0–59'],
  ['2026-01-01T23:59:60Z', 'second 60 is out of range 0–59'],
  ['1899-12-31', 'year 1899 is out of range 1900–9999'],
  ['2026-01-01T00:00:00.0001Z', 'is finer than a millisecond'],
  ['2026-01-01T00:00+99:00', 'offset +99:00 is out of range'],
  ['1900-01-01T00:00+05:00', 'is outside the years 1900 to 9999'],
  [Number.NaN, 'expected a valid date or whole milliseconds'],
  [1.5, 'expected a valid date or whole milliseconds'],
  [new Date(Number.NaN), 'at: an invalid Date – expected a valid date'],
  [8.64e15, 'is outside the years 1900 to 9999'],
  [{}, 'expected a date-time'],
  [undefined, 'at: undefined – expected a date-time'],
])('%s is refused with the reason', (input, message) => {
  expect(() => read(input)).toThrow(message)
})

test('where no zone is known, wall time is refused with the fix', () => {
  const instant = () =>
    readOrThrow('timing_invalid', (report) => readInstant('2026-12-01T09:00', 'from', report))
  expect(instant).toThrow('from: "2026-12-01T09:00" – needs an offset, such as "2026-12-01T09:00:00Z"')
})

test('identities are formatted in UTC with milliseconds', () => {
  expect(formatInstant(0)).toBe('1970-01-01T00:00:00.000Z')
})
