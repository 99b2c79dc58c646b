import { describe, expect, it } from 'vitest'
import { retryAfterMs } from './retry-after.js'

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0)
const DAY = 86_400_000

describe('Retry-After', () => {
  it.each([
    ['120', undefined, 120_000],
    [' 7 ', undefined, 7_000],
    ['0', undefined, 1_000],
    ['99999999999999999999', undefined, DAY],
    ['Sun, 01 Mar 2026 12:05:00 GMT', undefined, 300_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', undefined, 1_000],
    ['Mon, 01 Mar 2027 12:00:00 GMT', undefined, DAY],
    // Its clock is an hour ahead, and it means five minutes.
    ['Sun, 01 Mar 2026 13:05:00 GMT', 'Sun, 01 Mar 2026 13:00:00 GMT', 300_000],
    ['Sun, 01 Mar 2026 12:05:00 GMT', 'yesterday', 300_000],
    [undefined, undefined, null],
    ['', undefined, null],
    ['soon', undefined, null],
    ['-5', undefined, null],
    ['1.5', undefined, null],
  ])('of %j, with the date %j, is %j', (value, date, ms) => {
    expect(retryAfterMs({ 'retry-after': value, date }, NOW)).toBe(ms)
  })
})
