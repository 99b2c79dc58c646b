import { expect, it } from 'vitest'
import { levelOf, levelsUpTo } from './heat.ts'

it('doubles from level to level, up to the most', () => {
  expect(levelsUpTo(1_000)).toEqual([63, 125, 250, 500, 1_000])
  expect(levelsUpTo(3)).toEqual([1, 2, 3])
  expect(levelsUpTo(0)).toEqual([])
})

it('puts each figure into its level', () => {
  const levels = levelsUpTo(1_000)
  expect([0, 1, 63, 64, 500, 501, 1_000].map((runs) => levelOf(runs, levels))).toEqual([0, 1, 1, 2, 4, 5, 5])
})
