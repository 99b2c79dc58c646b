import { expect, it } from 'vitest'
import { relative, span } from './relative.ts'

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_000, '59 min'],
  [3_600_000, '1 h'],
  [4_800_000, '1 h 20 min'],
  [36_000_000, '10 h'],
  [86_400_000, '1 d'],
  [2 * 86_400_000 + 3 * 3_600_000, '2 d 3 h'],
  [400 * 86_400_000, '400 d'],
])('%d ms is %s', (ms, text) => {
  expect(span(ms)).toBe(text)
})

it('says in which direction an instant is', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  expect(relative(new Date('2026-03-01T12:03:30Z'), now)).toBe('in 3 min')
  expect(relative(new Date('2026-03-01T10:00:00Z'), now)).toBe('2 h ago')
  expect(relative(new Date('2026-03-01T12:00:00.500Z'), now)).toBe('now')
})
