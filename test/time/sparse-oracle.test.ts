import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EscapementError } from '../../src/errors.js'
import { compileTiming, cron } from '../../src/time/timing.js'
import { CASES, policy, SEED, zonedInstant } from './cases.js'
import { cronOccurrences, defaultPolicy } from './oracle.js'

const YEAR = 365.25 * 86_400_000

const rareDay = fc.oneof(
  fc.constantFrom(
    '0 0 29 2 *',
    '30 2 29 2 ?',
    '0 0 29 2 */2',
    '0 12 31 12 *',
    '0 0 30 2,4 *',
    '30 1 31W 10 *',
  ),
  fc
    .tuple(
      fc.constantFrom('0 0', '30 2', '59 23', '30 1'),
      fc.constantFrom('29', '30', '31', 'L', 'LW', '1W', '?'),
      fc.constantFrom('2', '2,3', 'MAR', '4,10', '11'),
      fc.constantFrom('*', '5#5', '0L', '7#1', 'SUN#2', '*/3'),
    )
    .map((fields) => fields.join(' ')),
)

test('rare days are found, forward and back, across years', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(rareDay, zonedInstant, policy, (expression, { zone, instant }, chosen) => {
      const to = instant + 9 * YEAR
      const { gap, fold } = { ...defaultPolicy(expression), ...chosen }
      const expected = cronOccurrences(expression, zone, gap, fold, instant, to)
      let found: number[] = []
      let last: number | null = null
      try {
        const compiled = compileTiming(cron(expression, { zone, ...chosen }))
        found = compiled.between(instant, to, Number.POSITIVE_INFINITY)
        last = compiled.previous(to)
      } catch (error) {
        if (!(error instanceof EscapementError)) throw error
      }
      expect(found).toEqual(expected)
      if (expected.length > 0) expect(last).toBe(expected.at(-1))
    }),
    { numRuns: Math.ceil(CASES / 40), ...SEED },
  )
})
