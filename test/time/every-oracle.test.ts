import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { expect, test } from 'vitest'
import { compileTiming, every } from '../../src/time/timing.js'
import { CASES, SEED, zonedInstant } from './cases.js'

const calendarStep = fc.record({
  unit: fc.constantFrom('days', 'weeks', 'months', 'years'),
  size: fc.integer({ min: 1, max: 40 }),
})

test('every in calendar units is the anchor plus n steps, as Temporal adds them', {
  timeout: 600_000,
}, () => {
  fc.assert(
    fc.property(
      zonedInstant,
      calendarStep,
      fc.constantFrom('00:00', '00:30', '01:30', '02:00', '02:30', '23:45', '12:00:01.5'),
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: 0, max: 300 }),
      ({ zone, instant }, { unit, size }, time, day, back) => {
        // The anchor lies whole steps before a day near a change of offset, so that the grid meets the change.
        const near = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate()
        const date =
          unit === 'months' || unit === 'years' ? near.with({ day }, { overflow: 'constrain' }) : near
        const anchorDate = date.subtract({ [unit]: Math.min(size * back, unit === 'years' ? 60 : 700) })
        const anchor = anchorDate.toPlainDateTime(Temporal.PlainTime.from(time))
        if (anchor.year < 1901) return
        const nth = (n: number) =>
          anchor.add({ [unit]: n * size }).toZonedDateTime(zone, { disambiguation: 'compatible' })
            .epochMilliseconds
        const compiled = compileTiming(every({ [unit]: size }, { anchor: anchor.toString(), zone }))
        const steps = anchorDate.until(near, { largestUnit: unit })
        const n = Math.max(0, Math.floor(steps[unit] / size))
        const grid = [...new Set([n - 1, n, n + 1, n + 2].filter((k) => k >= 0).map(nth))]
        expect(compiled.between(grid[0]!, grid.at(-1)! + 1, 100)).toEqual(grid)
        expect(compiled.next(grid[0]! - 1)).toBe(grid[0])
        expect(compiled.previous(grid.at(-1)! + 1)).toBe(grid.at(-1))
        expect(compiled.previous(grid.at(-1)!)).toBe(grid.at(-2))
        expect(compiled.next(0)).toBe(nth(0) > 0 ? nth(0) : compiled.next(0))
        if (n <= 1) expect(compiled.previous(nth(0))).toBeNull()
      },
    ),
    { numRuns: Math.ceil(CASES / 10), ...SEED },
  )
})

test('every in elapsed units is the anchor plus n times the same milliseconds', () => {
  fc.assert(
    fc.property(
      zonedInstant,
      fc.integer({ min: 1, max: 500_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      ({ zone, instant }, seconds, n) => {
        const compiled = compileTiming(every({ seconds }, { anchor: instant, zone }))
        const at = instant + n * seconds * 1000
        expect(compiled.next(at - 1)).toBe(at)
        expect(compiled.next(at)).toBe(at + seconds * 1000)
        expect(compiled.previous(at + 1)).toBe(at)
        expect(compiled.previous(at)).toBe(n === 0 ? null : at - seconds * 1000)
      },
    ),
    { numRuns: Math.ceil(CASES / 10), ...SEED },
  )
})
