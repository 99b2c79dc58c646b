import { expect, it } from 'vitest'
import { retryDelayMs } from './retry-delay.js'

it('follows the list, repeats its last, and ends with the attempts', () => {
  const retry = { attempts: 5, backoffMs: [10, 20] }
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelayMs(retry, attempt))).toEqual([10, 20, 20, 20, null])
})

it('means no retry when the list is empty', () => {
  expect(retryDelayMs({ attempts: 5, backoffMs: [] }, 1)).toBeNull()
})
