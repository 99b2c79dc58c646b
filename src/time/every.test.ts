import { expect, test } from 'vitest'
import { formatInstant } from './instant.js'
import { compileTiming, every } from './timing.js'

function planTimes(timing: ReturnType<typeof every>, from: string, count: number): string[] {
  return compileTiming(timing).between(Date.parse(from), Number.MAX_SAFE_INTEGER, count).map(formatInstant)
}

test('every 15 minutes lands on the quarters of the hour', () => {
  expect(planTimes(every('15 minutes'), '2026-03-08T06:58:00Z', 3)).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-08T07:15:00.000Z',
    '2026-03-08T07:30:00.000Z',
  ])
})

test('every month from 31 January keeps the 31st where there is one', () => {
  const timing = every('1 month', { anchor: '2027-01-31T09:00', zone: 'Europe/Paris' })
  expect(planTimes(timing, '2027-01-01T00:00:00Z', 4)).toEqual([
    '2027-01-31T08:00:00.000Z',
    '2027-02-28T08:00:00.000Z',
    '2027-03-31T07:00:00.000Z',
    '2027-04-30T07:00:00.000Z',
  ])
})

test('every year from 29 February falls on the 28th of common years', () => {
  const timing = every('1 year', { anchor: '2024-02-29T00:00' })
  expect(planTimes(timing, '2024-01-01T00:00:00Z', 5).map((text) => text.slice(0, 10))).toEqual([
    '2024-02-29',
    '2025-02-28',
    '2026-02-28',
    '2027-02-28',
    '2028-02-29',
  ])
})

test('every week lands on a Monday by default and on the weekday of its anchor otherwise', () => {
  expect(planTimes(every('1 week'), '2026-03-01T00:00:00Z', 1)).toEqual(['2026-03-02T00:00:00.000Z'])
  const thursdays = every('1 week', { anchor: '2026-01-01T09:00', zone: 'America/New_York' })
  expect(planTimes(thursdays, '2026-03-05T00:00:00Z', 2)).toEqual([
    '2026-03-05T14:00:00.000Z',
    '2026-03-12T13:00:00.000Z',
  ])
})

test('a day at 02:30 is shifted where 02:30 does not exist, and comes back the day after', () => {
  const timing = every('1 day', { anchor: '2026-01-01T02:30', zone: 'America/New_York' })
  expect(planTimes(timing, '2026-03-07T00:00:00Z', 3)).toEqual([
    '2026-03-07T07:30:00.000Z',
    '2026-03-08T07:30:00.000Z',
    '2026-03-09T06:30:00.000Z',
  ])
})

test('nothing comes before the anchor', () => {
  const hourly = compileTiming(every('1 hour', { anchor: '2030-01-01T00:30Z' }))
  expect(hourly.next(0)).toBe(Date.parse('2030-01-01T00:30Z'))
  expect(hourly.previous(Date.parse('2030-01-01T00:30Z'))).toBeNull()
})
