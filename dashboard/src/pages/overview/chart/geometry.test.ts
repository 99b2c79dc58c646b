import { expect, it } from 'vitest'
import { countTicks, HEIGHT, heightOf, lineOf, roundUp, stackOf, stepsUpTo } from './geometry.ts'

it.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 4],
  [10, 10],
  [11, 20],
  [1_234, 2_000],
  [81_000, 100_000],
])('an axis for %d reaches to %d', (most, top) => {
  expect(roundUp(most)).toBe(top)
})

it('labels the middle of an axis of counts where it is a whole number', () => {
  expect(countTicks(1).map(({ label }) => label)).toEqual(['0', '1'])
  expect(countTicks(40)).toEqual([
    { place: 0, label: '0' },
    { place: 0.5, label: '20' },
    { place: 1, label: '40' },
  ])
})

it('stacks bars on each other, and shows one failure among thousands', () => {
  expect(stackOf([50, 0, 25], 100)).toEqual([
    { y: 50, height: 50 },
    { y: 50, height: 0 },
    { y: 25, height: 25 },
  ])
  expect(stackOf([9_999, 0, 1], 10_000)[2]!.height).toBeGreaterThan(1)
  for (const { y } of stackOf([9_999, 1, 1], 10_000)) expect(y).toBeGreaterThanOrEqual(0)
})

it('has steps of durations up to the one that is not below, and at least two', () => {
  expect(stepsUpTo(0)).toEqual([1, 10])
  expect(stepsUpTo(10)).toEqual([1, 10])
  expect(stepsUpTo(11)).toEqual([1, 10, 100])
  expect(stepsUpTo(30_000).at(-1)).toBe(60_000)
  expect(stepsUpTo(Number.MAX_SAFE_INTEGER).at(-1)).toBe(1_000 * 3_600_000)
})

it('places durations between the steps by their magnitude', () => {
  const steps = stepsUpTo(30_000)
  expect([heightOf(0, steps), heightOf(1, steps), heightOf(60_000, steps), heightOf(90_000, steps)]).toEqual([
    0, 0, 1, 1,
  ])
  expect(heightOf(100, steps)).toBeCloseTo(2 / 5)
  expect(heightOf(Math.sqrt(1_000), steps)).toBeCloseTo(1.5 / 5)
})

it('breaks a line where a point is missing, and makes a dot of one that stands alone', () => {
  expect(lineOf([0, 0.5, null, 1, null])).toBe(`M0.5 ${HEIGHT}L1.5 50M3.5 0h0`)
  expect(lineOf([null, null])).toBe('')
})
