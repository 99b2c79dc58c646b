import { describe, expect, it } from 'vitest'
import type { Occurrence } from './kinds.ts'
import { labelsOf } from './labels.ts'
import { groupedBy, kindsOf, planTimesOf, spanOf } from './plan-times.ts'

const HOUR_MS = 3_600_000
const ZONE = 'Europe/Berlin'

const upcoming = (planTime: string, scope = 'global'): Occurrence => ({
  planTime,
  scope,
  disposition: 'upcoming',
  runId: null,
  runState: null,
  reason: null,
  note: null,
})

/** So many plan times, each so long after the one before. */
function planTimesFrom(start: string, stepMs: number, count: number) {
  const times = Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(start) + index * stepMs).toISOString(),
  )
  return planTimesOf(times.map((time) => upcoming(time)))
}

describe('plan times', () => {
  it('are gathered from the scopes of each, and counted by what became of them', () => {
    const [first, second] = ['2026-03-01T12:00:00.000Z', '2026-03-01T13:00:00.000Z']
    const occurrences = [
      { ...upcoming(first, 'a'), disposition: 'run' as const, runState: 'failed' as const },
      { ...upcoming(first, 'b'), disposition: 'run' as const, runState: 'succeeded' as const },
      { ...upcoming(first, 'c'), disposition: 'run' as const, runState: 'succeeded' as const },
      upcoming(second),
    ]
    const planTimes = planTimesOf(occurrences)
    expect(planTimes.map(({ at, occurrences: each }) => [at, each.length])).toEqual([
      [first, 3],
      [second, 1],
    ])
    expect([...kindsOf(occurrences, new Date(first))]).toEqual([
      ['failed', 1],
      ['succeeded', 2],
      ['upcoming', 1],
    ])
  })

  it('are in the days of the zone, which have 23 and 25 hours when its clock changes', () => {
    const sizes = (start: string) =>
      groupedBy('day', planTimesFrom(start, HOUR_MS, 72), ZONE).map(({ key, planTimes }) => [
        key,
        planTimes.length,
      ])
    expect(sizes('2026-03-27T23:00:00Z')).toEqual([
      ['2026-03-28', 24],
      ['2026-03-29', 23],
      ['2026-03-30', 24],
      ['2026-03-31', 1],
    ])
    expect(sizes('2026-10-23T22:00:00Z')).toEqual([
      ['2026-10-24', 24],
      ['2026-10-25', 25],
      ['2026-10-26', 23],
    ])
  })

  it('are told apart by their offset where the same time shows twice', () => {
    const labels = labelsOf('day', planTimesFrom('2026-10-25T00:00:00Z', HOUR_MS / 2, 4), ZONE)
    expect(new Set(labels).size).toBe(4)
    expect(labels[0]).toMatch(/^02:00.*GMT\+2$/)
    expect(labels[2]).toMatch(/^02:00.*GMT\+1$/)
    expect(labelsOf('day', planTimesFrom('2026-10-24T00:00:00Z', HOUR_MS / 2, 2), ZONE)).toEqual([
      '02:00',
      '02:30',
    ])
  })

  it.each([
    ['every second', 1_000, 60, 'day'],
    ['every six hours', 6 * HOUR_MS, 60, 'day'],
    ['daily', 24 * HOUR_MS, 60, 'month'],
    ['monthly', 30 * 24 * HOUR_MS, 60, 'year'],
    ['yearly', 365 * 24 * HOUR_MS, 60, 'ever'],
    ['daily, but two of them', 24 * HOUR_MS, 2, 'day'],
    ['once', 0, 1, 'day'],
  ] as const)('%s are gathered by what holds several of them', (_, stepMs, count, span) => {
    expect(spanOf(planTimesFrom('2026-01-01T12:00:00Z', stepMs, count), 'UTC')).toBe(span)
  })
})
