import { expect, it } from 'vitest'
import { timeTicks } from '../chart/time-ticks.ts'
import { pointsOf } from './points.ts'
import { rangeOf, SPANS, spanOf } from './spans.ts'
import { latenessInAll, latenessOf, throughputInAll, throughputOf } from './words.ts'

const [HOUR, DAY, WEEK] = SPANS
const local = (text: string) => new Date(text).getTime()
const point = {
  succeeded: 3,
  failed: 1,
  cancelled: 1,
  skipped: 1,
  lateness: { runs: 4, p50: 2, p95: 40, p99: 2_500, max: 2_600 },
}

it('takes the span of the address, and the hour for what is none', () => {
  expect([spanOf('week').name, spanOf('year').name, spanOf(null).name]).toEqual(['week', 'hour', 'hour'])
})

it('ends with the last whole minute, or with the bar that is under way', () => {
  const now = Date.parse('2026-03-01T12:34:56Z')
  expect(new Date(rangeOf(HOUR, now).to).toISOString()).toBe('2026-03-01T12:34:00.000Z')
  expect(new Date(rangeOf(DAY, now).to).toISOString()).toBe('2026-03-01T12:45:00.000Z')
  expect(new Date(rangeOf(WEEK, now).to).toISOString()).toBe('2026-03-01T14:00:00.000Z')
  for (const span of SPANS) expect(rangeOf(span, now).to - rangeOf(span, now).from).toBe(span.ms)
})

it('has a point for each bar, also where nothing happened', () => {
  const from = Date.parse('2026-03-01T12:00:00Z')
  const range = { from, to: from + 3 * 60_000, bucketMs: 60_000 }
  const points = pointsOf([{ ...point, from: '2026-03-01T12:01:00.000Z' }], range)
  expect(points.map(({ ended, others }) => [ended, others])).toEqual([
    [0, 0],
    [6, 2],
    [0, 0],
  ])
  expect(points[1]!.lateness).toEqual(point.lateness)
  expect(points[2]).toMatchObject({ from: new Date('2026-03-01T12:02:00Z'), lateness: null })
})

it('labels quarters of an hour, of a day, and days, as on the wall here', () => {
  const hour = timeTicks(HOUR, local('2026-03-02T12:05:00'))
  expect(hour.map(({ label }) => label)).toEqual(['12:15', '12:30', '12:45', '13:00'])
  expect(hour[0]!.place).toBeCloseTo(1 / 6)
  const day = timeTicks(DAY, local('2026-03-02T01:00:00')).map(({ label }) => label)
  expect(day).toEqual(['06:00', '12:00', '18:00', '00:00'])
  const week = timeTicks(WEEK, local('2026-03-10T12:00:00')).map(({ label }) => label)
  expect(week).toEqual(['Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue'])
})

it('says what a point and what all of them are', () => {
  const from = local('2026-03-02T12:00:00')
  const range = { from, to: from + 2 * 60_000, bucketMs: 60_000 }
  const points = pointsOf([{ ...point, from: new Date(from + 60_000).toISOString() }], range)
  expect(throughputOf(points[1]!)).toBe('3 succeeded, 1 failed, 2 cancelled or skipped')
  expect(latenessOf(points[1]!.lateness)).toBe('median 2 ms, 95 % 40 ms, 99 % 2 s, longest 2 s')
  expect(latenessOf(points[0]!.lateness)).toBe('no run started')
  expect(throughputInAll(points, HOUR)).toBe('6 runs ended, 1 failed; at most 6 in a minute, at 12:01')
  expect(latenessInAll(points, DAY)).toBe(
    '4 runs started, 99 % of them within 2 s even at the worst, at Mon 12:01',
  )
  expect([throughputInAll([points[0]!], HOUR), latenessInAll([points[0]!], HOUR)]).toEqual([
    undefined,
    undefined,
  ])
})
