import { expect, it } from 'vitest'
import { retryDelayMs } from './retry-delay.js'

const delays = (retry: Parameters<typeof retryDelayMs>[0], random = 0) =>
  [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(retry, attempt, random))

it('follows the list, repeats its last, and ends with the attempts', () => {
  expect(delays({ attempts: 5, backoff: [10, 20] })).toEqual([10, 20, 20, 20, null])
})

it('means no retry when the list is empty', () => {
  expect(delays({ attempts: 5, backoff: [] })).toEqual([null, null, null, null, null])
})

it('grows by its factor up to its maximum', () => {
  const backoff = { firstMs: 10, factor: 3, maxMs: 100, jitter: 0.5 }
  expect(delays({ attempts: 5, backoff })).toEqual([10, 30, 90, 100, null])
})

it('leaves the share of the wait to chance that is asked for', () => {
  const backoff = { firstMs: 100, factor: 1, maxMs: 1000, jitter: 0.5 }
  expect(delays({ attempts: 3, backoff }, 1)).toEqual([50, 50, null, null, null])
})

it('is a number however many attempts there were', () => {
  const after = (firstMs: number) =>
    retryDelayMs(
      { attempts: 2_147_483_647, backoff: { firstMs, factor: 2, maxMs: 1000, jitter: 0 } },
      1_000_000,
      0,
    )
  expect([after(0), after(1)]).toEqual([0, 1000])
})
