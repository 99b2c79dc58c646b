import { expect, test } from 'vitest'
import { herd, otherRates, planningRates, QUICK, refusals } from '../../bench/time.js'
import { MAX_SEARCH_STEPS } from '../../src/time/search.js'

test('planning next is faster than every cron library beside it', { timeout: 60_000 }, async () => {
  const figures = await planningRates(QUICK)
  for (const ours of figures.filter(({ name }) => name.endsWith('escapement'))) {
    const expression = ours.name.split(' · ')[0]!
    const rivals = figures.filter(({ name }) => name.startsWith(`${expression} · `) && name !== ours.name)
    expect(rivals.length).toBeGreaterThanOrEqual(2)
    for (const rival of rivals) expect(ours.median, rival.name).toBeGreaterThan(rival.median)
  }
})

test('the other benchmarks run, and what never happens is refused within the bound', () => {
  expect(otherRates(QUICK).every(({ median }) => median > 0)).toBe(true)
  expect(herd(QUICK)).toHaveLength(3)
  for (const { name, steps } of refusals(QUICK)) expect(steps, name).toBeLessThanOrEqual(MAX_SEARCH_STEPS)
})
