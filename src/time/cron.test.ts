import { expect, test } from 'vitest'
import type { EscapementError } from '../errors.js'
import { FIXED_HOURS_POLICY, WILDCARD_HOURS_POLICY } from './cron.js'
import { expandAlias } from './cron-expression.js'
import { MAX_SEARCH_STEPS, searchSteps } from './search.js'
import { type CronTiming, compileTiming, cron } from './timing.js'

function planTimes(timing: CronTiming, from: string, count: number): string[] {
  return compileTiming(timing)
    .between(Date.parse(from), Number.MAX_SAFE_INTEGER, count)
    .map((at) => new Date(at).toISOString().slice(0, 16))
}

const days = (expression: string, from: string, count: number) =>
  planTimes(cron(expression), from, count).map((text) => text.slice(0, 10))

test.each([
  ['0 0 31 * *', '2026-01-01', ['2026-01-31', '2026-03-31', '2026-05-31']],
  ['0 0 29 2 *', '2026-01-01', ['2028-02-29', '2032-02-29', '2036-02-29']],
  ['0 0 29 2 *', '2096-03-01', ['2104-02-29']],
  ['0 0 L * *', '2026-01-15', ['2026-01-31', '2026-02-28', '2026-03-31']],
  ['0 0 LW * *', '2026-01-15', ['2026-01-30', '2026-02-27', '2026-03-31']],
  ['0 0 15W * *', '2026-02-01', ['2026-02-16', '2026-03-16', '2026-04-15']],
  ['0 0 1W * *', '2026-02-01', ['2026-02-02', '2026-03-02', '2026-04-01', '2026-05-01']],
  ['0 0 1W * *', '2026-07-15', ['2026-08-03', '2026-09-01']],
  ['0 0 31W * *', '2026-02-01', ['2026-02-27', '2026-03-31', '2026-04-30', '2026-05-29']],
  ['0 9 * * 1#2', '2026-01-01', ['2026-01-12', '2026-02-09', '2026-03-09']],
  ['0 9 * * 5L', '2026-01-01', ['2026-01-30', '2026-02-27', '2026-03-27']],
  [
    '0 0 13 * 5',
    '2026-03-01',
    ['2026-03-06', '2026-03-13', '2026-03-20', '2026-03-27', '2026-04-03', '2026-04-10', '2026-04-13'],
  ],
  ['0 0 */10 * 1', '2026-06-01', ['2026-06-01', '2026-08-31', '2026-09-21']],
  ['0 0 1,31 * *', '2026-02-02', ['2026-03-01', '2026-03-31', '2026-04-01']],
  ['0 0 ? * 7', '2026-03-01', ['2026-03-01', '2026-03-08']],
  ['0 0 * * fri-sun', '2026-03-02', ['2026-03-06', '2026-03-07', '2026-03-08', '2026-03-13']],
  ['@weekly', '2026-03-02', ['2026-03-08', '2026-03-15']],
  ['@yearly', '2026-03-02', ['2027-01-01', '2028-01-01']],
])('%s from %s', (expression, from, expected) => {
  expect(days(expression, from, expected.length)).toEqual(expected)
})

test('the 13th or a Friday, when both day fields are restricted', () => {
  expect(days('0 0 13 * 5', '2026-04-12', 2)).toEqual(['2026-04-13', '2026-04-17'])
})

test('six fields begin with seconds', () => {
  const compiled = compileTiming(cron('15,45 59 23 31 12 *'))
  expect(compiled.between(Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1), 9)).toEqual([
    Date.UTC(2026, 11, 31, 23, 59, 15),
    Date.UTC(2026, 11, 31, 23, 59, 45),
  ])
})

test.each([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])('%s is %s', (alias, expression) => {
  expect(expandAlias(alias)).toBe(expression)
})

test('text is canonical: names in upper case, single blanks, aliases in lower case', () => {
  expect(cron(' 0  9 * * mon-Fri ').expression).toBe('0 9 * * MON-FRI')
  expect(cron('@Daily').expression).toBe('@daily')
})

const NEW_YORK = 'America/New_York'

test('a fixed hour happens exactly once on the day the clock skips it and on the day it repeats', () => {
  expect(planTimes(cron('30 2 * * *', { zone: NEW_YORK }), '2026-03-08T00:00Z', 2)).toEqual([
    '2026-03-08T07:30',
    '2026-03-09T06:30',
  ])
  expect(planTimes(cron('30 1 * * *', { zone: NEW_YORK }), '2026-11-01T00:00Z', 2)).toEqual([
    '2026-11-01T05:30',
    '2026-11-02T06:30',
  ])
})

test('wildcard hours follow the clock on the wall, without a hole or a double', () => {
  expect(planTimes(cron('0 * * * *', { zone: NEW_YORK }), '2026-03-08T06:00Z', 3)).toEqual([
    '2026-03-08T06:00',
    '2026-03-08T07:00',
    '2026-03-08T08:00',
  ])
  expect(planTimes(cron('*/30 * * * *', { zone: NEW_YORK }), '2026-11-01T05:00Z', 5)).toEqual([
    '2026-11-01T05:00',
    '2026-11-01T05:30',
    '2026-11-01T06:00',
    '2026-11-01T06:30',
    '2026-11-01T07:00',
  ])
})

test.each([
  ['*/2', WILDCARD_HOURS_POLICY],
  ['*', WILDCARD_HOURS_POLICY],
  ['0-23', WILDCARD_HOURS_POLICY],
  ['0-11,12-23', WILDCARD_HOURS_POLICY],
  ['0-22', FIXED_HOURS_POLICY],
  ['2', FIXED_HOURS_POLICY],
  ['0/2', FIXED_HOURS_POLICY],
])('hour field %s takes its policy by default', (hour, { gap, fold }) => {
  expect(cron(`30 ${hour} * * *`)).toMatchObject({ gap, fold })
})

test.each([
  ['shift', ['2026-03-07T07:30', '2026-03-08T07:30', '2026-03-09T06:30']],
  ['skip', ['2026-03-07T07:30', '2026-03-09T06:30']],
] as const)('gap %s', (gap, expected) => {
  expect(
    planTimes(cron('30 2 * * *', { zone: NEW_YORK, gap }), '2026-03-07T00:00Z', expected.length),
  ).toEqual(expected)
})

test.each([
  ['first', ['2026-11-01T05:30', '2026-11-02T06:30']],
  ['second', ['2026-11-01T06:30', '2026-11-02T06:30']],
  ['both', ['2026-11-01T05:30', '2026-11-01T06:30', '2026-11-02T06:30']],
] as const)('fold %s', (fold, expected) => {
  expect(
    planTimes(cron('30 1 * * *', { zone: NEW_YORK, fold }), '2026-11-01T00:00Z', expected.length),
  ).toEqual(expected)
})

test.each([
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', ['2026-10-03T15:45', '2026-10-04T15:15']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', ['2026-04-04T14:45', '2026-04-05T15:15']],
  ['America/Havana', '0 0 * * *', '2026-03-08T00:00Z', ['2026-03-08T05:00', '2026-03-09T04:00']],
  ['Europe/London', '30 1 * * *', '2026-03-29T00:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
  ['Asia/Kolkata', '30 2 * * *', '2026-03-08T00:00Z', ['2026-03-08T21:00', '2026-03-09T21:00']],
  ['Africa/Casablanca', '30 2 * * *', '2026-03-21T03:00Z', ['2026-03-22T02:30', '2026-03-23T01:30']],
  [
    'Pacific/Apia',
    '0 12 * * *',
    '2011-12-29T00:00Z',
    ['2011-12-29T22:00', '2011-12-30T22:00', '2011-12-31T22:00'],
  ],
])('%s: %s from %s', (zone, expression, from, expected) => {
  const found = planTimes(cron(expression, { zone }), from, expected.length)
  expect(found).toEqual(expected)
})

test.each([
  ['61 * * * *', 'timing.expression: "61 * * * *" – minute 61 is out of range 0–59'],
  ['0 24 * * *', 'hour 24 is out of range 0–23'],
  ['0 0 0 * *', 'day-of-month 0 is out of range 1–31'],
  ['0 0 1 13 *', 'month 13 is out of range 1–12'],
  ['0 0 * * 8', 'day-of-week 8 is out of range 0–7'],
  ['60 0 0 * * *', 'second 60 is out of range 0–59'],
  ['0 22-2 * * *', 'hour "22-2" goes backwards; write "22-23,0-2"'],
  ['0 0 * * FRI-MON', 'day-of-week "FRI-MON" goes backwards; write "FRI-SAT,SUN-MON"'],
  ['0 0 * NOV-FEB *', 'month "NOV-FEB" goes backwards; write "NOV-DEC,JAN-FEB"'],
  ['0 0 * * SAT-MON', 'write "SAT,SUN-MON"'],
  ['0 0 * * 5-0', 'write "5-6,0"'],
  ['0 9 * * MONDAY', '"MONDAY" is not a number or a name (did you mean "MON"?)'],
  ['*/0 * * * *', 'minute step "0" is out of range 1–60'],
  ['*/61 * * * *', 'minute step "61" is out of range 1–60'],
  ['*/5/5 * * * *', 'minute "*/5/5" has more than one step'],
  ['1,,2 * * * *', 'minute "1,,2" has an empty item'],
  ['? * * * *', 'minute cannot be "?"'],
  ['0 0 L-3 * *', 'day-of-month "L-3" is not understood; special days are "L", "LW" and "15W"'],
  ['0 0 32W * *', 'day-of-month 32 is out of range 1–31'],
  ['0 0 * * L', 'day-of-week "L" is ambiguous; write "6" for Saturday, or "6L" for the last Saturday'],
  ['0 0 * * 1#6', 'the number after # is out of range 1–5'],
  ['* * * *', 'has 4 fields; expected 5, or 6 with leading seconds'],
  ['0 0 1 1 * 2026 *', 'has 7 fields; expected 5'],
  ['', 'has 0 fields'],
  ['@dayly', '(did you mean "@daily"?)'],
  ['0 0 30 2 *', '"0 0 30 2 *" – never happens: no such day exists in any year'],
  ['0 0 31 2,4,6,9,11 *', 'never happens'],
  ['0 0 30 FEB ?', 'never happens'],
  [5, 'timing.expression: 5 – expected a cron expression'],
])('%s is refused with the reason', (expression, message) => {
  expect(() => cron(expression as string)).toThrow(message)
})

test('every wrong field of a text, and every other wrong field, is reported at once', () => {
  let mistakes: unknown
  try {
    cron('61 25 * * *', { zone: 'Nowhere', gap: 'jump' as 'skip' })
  } catch (error) {
    mistakes = (error as EscapementError).details.mistakes
  }
  expect(mistakes).toMatchObject([
    { field: 'timing.expression', message: expect.stringContaining('minute 61') },
    { field: 'timing.expression', message: expect.stringContaining('hour 25') },
    { field: 'timing.zone' },
    { field: 'timing.gap', message: '"jump" – expected "shift" or "skip"' },
  ])
})

test('30 February is refused after looking at no more than the kinds of months', () => {
  expect(() => cron('0 0 30 2 *')).toThrow('never happens')
  expect(searchSteps()).toBeLessThanOrEqual(14)
  expect(searchSteps()).toBeLessThan(MAX_SEARCH_STEPS)
})

test('a rule that the zone swallows for ever ends the search instead of prolonging it', () => {
  // The second Sunday in March at 02:30 is in New York's gap every year since 2007.
  const compiled = compileTiming(cron('30 2 * 3 SUN#2', { zone: NEW_YORK, gap: 'skip' }))
  expect(compiled.next(Date.parse('2026-01-01T00:00Z'))).toBeNull()
  expect(searchSteps()).toBeLessThan(1_000)
  expect(compiled.previous(Date.parse('2026-01-01T00:00Z'))).toBe(Date.parse('2006-03-12T07:30Z'))
})

test('a rare wall time that shows twice is found again from inside its second showing', () => {
  const compiled = compileTiming(cron('30 1 1 11 *', { zone: NEW_YORK, fold: 'both' }))
  const first = Date.parse('2026-11-01T05:30Z')
  const second = Date.parse('2026-11-01T06:30Z')
  expect(compiled.previous(Date.parse('2026-11-01T06:10Z'))).toBe(first)
  expect(compiled.next(Date.parse('2026-11-01T05:50Z'))).toBe(second)
})
