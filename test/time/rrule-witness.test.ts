import fc from 'fast-check'
import { RRuleTemporal } from 'rrule-temporal'
import { expect, test } from 'vitest'
import { EscapementError } from '../../src/errors.js'
import { compileTiming, rrule } from '../../src/time/timing.js'
import { CASES, SEED, zonedInstant } from './cases.js'
import { instantsOf, offsetAt } from './oracle.js'

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

const numbers = (low: number, high: number, maxLength = 3) =>
  fc
    .uniqueArray(fc.integer({ min: low, max: high }), { minLength: 1, maxLength })
    .map((list) => list.join(','))
const signed = (high: number) =>
  fc
    .uniqueArray(
      fc.integer({ min: -high, max: high }).filter((value) => value !== 0),
      { minLength: 1, maxLength: 3 },
    )
    .map((list) => list.join(','))
const weekdays = fc.subarray(WEEKDAYS, { minLength: 1, maxLength: 4 }).map((list) => list.join(','))
/** All with a number: of `MO,-1MO` in a year the library takes only the second. */
const nthWeekdays = (most: number) =>
  fc
    .array(
      fc.tuple(
        fc.integer({ min: -most, max: most }).filter((nth) => nth !== 0),
        fc.constantFrom(...WEEKDAYS),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((list) => list.map(([nth, day]) => `${nth}${day}`).join(','))

const byTime = fc.record({ BYHOUR: numbers(0, 23), BYMINUTE: numbers(0, 59) }, { requiredKeys: [] })
const common = { INTERVAL: fc.integer({ min: 1, max: 4 }).map(String), WKST: fc.constantFrom('MO', 'SU') }

const parts = fc.oneof(
  fc.record(
    { FREQ: fc.constant('DAILY'), ...common, BYMONTH: numbers(1, 12), BYDAY: weekdays },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record(
    { FREQ: fc.constant('WEEKLY'), ...common, BYMONTH: numbers(1, 12), BYDAY: weekdays },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record(
    { FREQ: fc.constant('MONTHLY'), ...common, BYDAY: nthWeekdays(4), BYMONTH: numbers(1, 12) },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record({ FREQ: fc.constant('MONTHLY'), ...common, BYMONTHDAY: signed(28) }, { requiredKeys: ['FREQ'] }),
  fc.record(
    { FREQ: fc.constant('MONTHLY'), ...common, BYDAY: weekdays, BYSETPOS: signed(4) },
    { requiredKeys: ['FREQ', 'BYDAY', 'BYSETPOS'] },
  ),
  fc.record(
    { FREQ: fc.constant('YEARLY'), ...common, BYMONTH: numbers(1, 12), BYMONTHDAY: signed(28) },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record({ FREQ: fc.constant('YEARLY'), ...common, BYDAY: nthWeekdays(50) }, { requiredKeys: ['FREQ'] }),
  fc.record(
    // Not the first and last weeks: the library leaves out their days in the other year before the first full one.
    { FREQ: fc.constant('YEARLY'), WKST: common.WKST, BYWEEKNO: numbers(2, 51), BYDAY: weekdays },
    { requiredKeys: ['FREQ', 'BYWEEKNO'] },
  ),
  fc.record(
    {
      FREQ: fc.constant('HOURLY'),
      ...common,
      BYMONTH: numbers(1, 12),
      BYDAY: weekdays,
      BYMONTHDAY: signed(28),
    },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record({ FREQ: fc.constant('MINUTELY'), ...common, BYDAY: weekdays }, { requiredKeys: ['FREQ'] }),
  fc.record(
    { FREQ: fc.constant('SECONDLY'), ...common, BYSECOND: numbers(0, 59) },
    { requiredKeys: ['FREQ'] },
  ),
  fc.record(
    { FREQ: fc.constant('YEARLY'), ...common, BYYEARDAY: signed(366) },
    { requiredKeys: ['FREQ', 'BYYEARDAY'] },
  ),
)

/** An end for rules that never match, on which the library would otherwise give up with an error. */
const YEARS = 12 * 365.25 * 86_400_000
const MOST = 30

function icsDate(wall: number): string {
  return new Date(wall).toISOString().replace(/[-:]|\.\d{3}Z/g, '')
}

test('rules yield what rrule-temporal yields in UTC, mapped to the zone', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(parts, byTime, zonedInstant, (rule, time, { zone, instant }) => {
      const start = Math.floor((instant + offsetAt(zone, instant)) / 1000) * 1000
      const text = Object.entries({ ...rule, ...time, UNTIL: icsDate(start + YEARS) })
        .map(([name, value]) => `${name}=${value}`)
        .join(';')
      const walls: number[] = []
      try {
        new RRuleTemporal({ rruleString: `DTSTART:${icsDate(start)}Z\nRRULE:${text}Z` }).all(
          (date, index) => {
            walls.push(date.epochMilliseconds)
            return index < MOST * 2
          },
        )
      } catch {
        // It gives up after 10,000 periods without a match, and then has no answer to compare with.
        fc.pre(false)
      }
      const instants = walls.flatMap((wall) => instantsOf(zone, wall, 'shift', 'first'))
      const expected = [...new Set(instants)].sort((a, b) => a - b).slice(0, MOST)
      let found: number[] = []
      let back: number[] = []
      try {
        const compiled = compileTiming(rrule(`DTSTART:${icsDate(start)}\nRRULE:${text}`, { zone }))
        found = compiled.between(0, Number.POSITIVE_INFINITY, MOST)
        back = expected.map((at) => compiled.previous(at + 1)!)
      } catch (error) {
        if (!(error instanceof EscapementError)) throw error
      }
      expect(found).toEqual(expected)
      expect(back).toEqual(expected)
    }),
    { numRuns: Math.ceil(CASES / 20), ...SEED },
  )
})
