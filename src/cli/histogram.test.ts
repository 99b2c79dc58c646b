import { expect, it } from 'vitest'
import { formatHistogram } from './histogram.js'

it('draws bars to an eighth of a character, nothing for nothing, and something for the least', () => {
  const bars = [
    { label: '09:00', count: 2_000 },
    { label: '10:00', count: 1_000 },
    { label: '11:00', count: 0 },
    { label: '12:00', count: 1 },
  ]
  expect(formatHistogram(bars, 30)).toBe(
    [
      `09:00  2,000  ${'█'.repeat(16)}`,
      `10:00  1,000  ${'█'.repeat(8)}`,
      '11:00      0',
      '12:00      1  ▏',
    ].join('\n'),
  )
})
