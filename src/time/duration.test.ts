import { expect, test } from 'vitest'
import { type DurationInput, durationToMs, formatDuration, parseDuration } from './duration.js'

test.each<[DurationInput, string]>([
  ['90s', '1 minute 30 seconds'],
  ['15 minutes', '15 minutes'],
  ['1 hour 30 minutes', '1 hour 30 minutes'],
  ['1h30m', '1 hour 30 minutes'],
  ['1.5 hours', '1 hour 30 minutes'],
  ['1 week, 1 day', '8 days'],
  ['14 days', '2 weeks'],
  ['24 hours', '24 hours'],
  ['18 months', '1 year 6 months'],
  ['250ms', '250 milliseconds'],
  ['0s', '0 seconds'],
  ['P1M', '1 month'],
  ['PT1M', '1 minute'],
  ['P1Y2M10DT2H30M', '1 year 2 months 10 days 2 hours 30 minutes'],
  ['pt0.5s', '500 milliseconds'],
  ['  2 Days ', '2 days'],
  [{ hours: 1, minutes: 30 }, '1 hour 30 minutes'],
  [{ weeks: 2 }, '2 weeks'],
])('%j is %s', (input, canonical) => {
  expect(formatDuration(parseDuration(input))).toBe(canonical)
  expect(parseDuration(canonical)).toEqual(parseDuration(input))
})

test.each<[unknown, string]>([
  ['', 'interval: "" – is not a duration'],
  ['soon', 'is not a duration'],
  ['P', 'is not a duration'],
  ['PT', 'is not a duration'],
  ['-5 minutes', 'is not a duration'],
  ['5', 'is not a duration'],
  ['5 minuts', '"minuts" is not a unit of time (did you mean "minutes"?)'],
  ['1M', 'M is ambiguous: write "min" or "months"'],
  ['1h 2h', 'names hours twice'],
  ['1.5 days', 'days must be whole'],
  ['0.1 ms', 'is finer than a millisecond'],
  ['2000 years', 'is longer than 1,000 years'],
  [900, '900 – expected a duration such as'],
  [null, 'expected a duration'],
  [{}, 'names no unit'],
  [{ minuts: 5 }, 'interval.minuts: is not a unit of time (did you mean "minutes"?)'],
  [{ minutes: -5 }, 'interval.minutes: -5 – expected a number of at least 0'],
  [{ minutes: '5' }, 'interval.minutes: "5" – expected a number'],
])('%j is refused with the reason', (input, message) => {
  expect(() => parseDuration(input as DurationInput, 'interval')).toThrow(message)
})

test('every unknown or wrong unit of an object is reported at once', () => {
  expect(() => parseDuration({ minuts: 1, hours: -1 } as DurationInput)).toThrow(/minuts.*\n.*hours/)
})

test('days count as 24 hours where only elapsed time matters, and months are refused there', () => {
  expect(durationToMs('1 week 1 day 1 hour')).toBe((8 * 24 + 1) * 3_600_000)
  expect(() => durationToMs('1 month', 'grace')).toThrow(
    'grace: "1 month" – months and years have no fixed length',
  )
})
