import { expect, it } from 'vitest'
import { LATENESS_BOUNDS, latenessOf } from './lateness.js'

/** As the database counts them: in the bucket of the last bound that is not above. */
function countsOf(latenesses: readonly number[]): number[] {
  const counts = new Array<number>(LATENESS_BOUNDS.length + 1).fill(0)
  for (const ms of latenesses) counts[LATENESS_BOUNDS.filter((bound) => bound <= ms).length]! += 1
  return counts
}

const of = (latenesses: readonly number[]) => latenessOf(countsOf(latenesses), Math.max(...latenesses))

it('has bounds that no number stored by them may lose', () => {
  expect(LATENESS_BOUNDS.slice(0, 16)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32])
  expect([LATENESS_BOUNDS.length, LATENESS_BOUNDS.at(-1)]).toEqual([124, 2 ** 32])
})

it('is null where nothing started, and exact below eight milliseconds', () => {
  expect(latenessOf([], 0)).toBeNull()
  expect(latenessOf([0, 0], 0)).toBeNull()
  expect(of([0, 0, 0])).toEqual({ runs: 3, p50: 0, p95: 0, p99: 0, max: 0 })
  expect(of([1, 3, 3, 7])).toEqual({ runs: 4, p50: 3, p95: 7, p99: 7, max: 7 })
})

it('is never above the greatest, also in the last bucket', () => {
  expect(of([1_000])).toEqual({ runs: 1, p50: 1_000, p95: 1_000, p99: 1_000, max: 1_000 })
  const year = 365 * 86_400_000
  expect(of([year])).toMatchObject({ p99: year, max: year })
})

it('is within an eighth of the true percentiles, for one minute and for the sum of many', () => {
  // Skewed as lateness is: most are small, few are large.
  const latenesses = Array.from({ length: 5_000 }, (_, index) => Math.floor(1.002 ** (index % 4_999)))
  const sorted = latenesses.toSorted((a, b) => a - b)
  const summed = countsOf(latenesses.slice(0, 2_000)).map(
    (count, index) => count + countsOf(latenesses.slice(2_000))[index]!,
  )
  const lateness = latenessOf(summed, sorted.at(-1)!)!
  expect(lateness.runs).toBe(5_000)
  for (const [share, found] of [
    [0.5, lateness.p50],
    [0.95, lateness.p95],
    [0.99, lateness.p99],
  ] as const) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1]!
    expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(1 / 8)
  }
})
