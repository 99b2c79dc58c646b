import { expect, it } from 'vitest'
import { atOnceWords, lostWords, retryWords } from './policy-words.ts'

it('says how often a run is tried, and how long it waits in between', () => {
  expect(retryWords({ attempts: 1, backoff: [10_000] })).toBe('1')
  expect(retryWords({ attempts: 5, backoff: [] })).toBe('1')
  expect(retryWords({ attempts: 3, backoff: [10_000, 60_000, 600_000] })).toBe('3, after 10 s, 1 min')
  expect(retryWords({ attempts: 5, backoff: [10_000] })).toBe('5, after 10 s each time')
  expect(retryWords({ attempts: 5, backoff: [10_000, 60_000] })).toBe('5, after 10 s, 1 min, then the same')
  expect(
    retryWords({ attempts: 9, backoff: { firstMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.5 } }),
  ).toBe('9, after 1 s, then × 2 up to 1 min')
})

it('says how many run at once, and what becomes of those whose worker is gone', () => {
  expect(atOnceWords({ concurrency: null, concurrencyKey: null })).toBe('any number')
  expect(atOnceWords({ concurrency: 4, concurrencyKey: null })).toBe('4')
  expect(atOnceWords({ concurrency: 1, concurrencyKey: ['customer', 'id'] })).toBe('1 for each customer.id')
  expect(lostWords({ onStale: 'retry', leaseMs: 30_000 })).toBe('tried again after 30 s')
  expect(lostWords({ onStale: 'fail', leaseMs: 30_000 })).toBe('failed after 30 s')
})
