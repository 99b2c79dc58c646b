import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EscapementError } from '../../src/errors.js'
import { MAX_SEARCH_STEPS, searchSteps } from '../../src/time/search.js'
import { type CronTiming, compileTiming, cron } from '../../src/time/timing.js'
import { CASES, cronCase, policy, SEED, zonedInstant } from './cases.js'
import { cronOccurrences, defaultPolicy } from './oracle.js'

/** Undefined for a text that no calendar fulfils, which is refused. */
function parsed(expression: string, options: object): CronTiming | undefined {
  try {
    return cron(expression, options)
  } catch (error) {
    if (error instanceof EscapementError && error.message.includes('never happens')) return undefined
    throw error
  }
}

test(`cron equals a brute-force walk over wall time in ${CASES} cases`, { timeout: 3_600_000 }, () => {
  fc.assert(
    fc.property(cronCase, zonedInstant, policy, ({ expression, length }, { zone, instant }, chosen) => {
      const timing = parsed(expression, { zone, ...chosen })
      const { gap, fold } = { ...defaultPolicy(expression), ...chosen }
      const to = instant + length
      const expected = cronOccurrences(expression, zone, gap, fold, instant, to)
      if (timing === undefined) {
        expect(expected).toEqual([])
        return
      }
      expect([timing.gap, timing.fold]).toEqual([gap, fold])
      const compiled = compileTiming(timing)
      expect(compiled.between(instant, to, Number.POSITIVE_INFINITY)).toEqual(expected)

      const forward: number[] = []
      let steps = 0
      for (let at = compiled.next(instant - 1); at !== null && at < to; at = compiled.next(at)) {
        if (at <= (forward.at(-1) ?? instant - 1))
          throw new Error(`next went from ${forward.at(-1)} to ${at}`)
        forward.push(at)
        steps = Math.max(steps, searchSteps())
      }
      expect(forward).toEqual(expected)
      expect(steps).toBeLessThan(MAX_SEARCH_STEPS)

      const backward: number[] = []
      for (let at = compiled.previous(to); at !== null && at >= instant; at = compiled.previous(at))
        backward.unshift(at)
      expect(backward).toEqual(expected)
    }),
    { numRuns: CASES, ...SEED },
  )
})
