import fc from 'fast-check'
import { changesOf } from './oracle.js'
import { ZONES } from './zones.js'

/** Cases per property; `TIME_CASES=1000000 npx vitest run test/time` makes a long run. */
export const CASES = Number(process.env.TIME_CASES ?? 10_000)
/** `TIME_SEED=…` repeats a run; fast-check prints the seed and the case of a failure. */
export const SEED = process.env.TIME_SEED === undefined ? {} : { seed: Number(process.env.TIME_SEED) }

const HOUR = 3_600_000
const DAY = 24 * HOUR

const changes = new Map<string, number[]>()

function knownChanges(zone: string): number[] {
  let known = changes.get(zone)
  if (!known) {
    known = changesOf(zone)
    changes.set(zone, known)
  }
  return known
}

/** A zone and an instant from 1970 to 2100, three times out of four near a change of its offset. */
export const zonedInstant = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    nearChange: fc.integer({ min: 0, max: 3 }),
    position: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    distance: fc.integer({ min: -30 * HOUR, max: 6 * HOUR }),
    exact: fc.boolean(),
  })
  .map(({ zone, nearChange, position, distance, exact }) => {
    const edges = knownChanges(zone)
    const edge = edges[Math.floor(position * edges.length)]
    const rounded = exact ? distance : Math.round(distance / (15 * 60_000)) * 15 * 60_000
    const instant =
      nearChange === 0 || edge === undefined ? Math.floor(position * Date.UTC(2100, 0, 1)) : edge + rounded
    return { zone, instant: Math.max(0, instant) }
  })

const item = (low: number, high: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: low, max: high }).map(String) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.integer({ min: low, max: high }),
          fc.integer({ min: low, max: high }),
          fc.integer({ min: 1, max: 7 }),
        )
        .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: 1, max: 7 }))
        .map(([a, step]) => `${a}/${step}`),
    },
  )

const list = <T extends string>(arbitrary: fc.Arbitrary<T>, maxLength = 3) =>
  fc.array(arbitrary, { minLength: 1, maxLength }).map((items) => items.join(','))

const star = fc.constant('*')
const starStep = (most: number) => fc.integer({ min: 1, max: most }).map((step) => `*/${step}`)
const minute = fc.oneof(star, starStep(60), list(item(0, 59)), list(fc.constantFrom('0', '15', '30', '45')))
const sparseMinute = fc.oneof(list(fc.integer({ min: 0, max: 59 }).map(String)), fc.constant('*/20'))
const hour = fc.oneof(star, starStep(24), list(item(0, 23)), list(fc.constantFrom('0', '1', '2', '3', '23')))
const fixedHour = list(fc.constantFrom('0', '1', '2', '3', '9', '23'))
const month = fc.oneof(
  { weight: 5, arbitrary: star },
  { weight: 1, arbitrary: starStep(12) },
  { weight: 2, arbitrary: list(item(1, 12)) },
  { weight: 1, arbitrary: list(fc.constantFrom('MAR', 'apr', 'Oct', 'nov', 'FEB-APR')) },
)
const dayOfMonth = fc.oneof(
  { weight: 4, arbitrary: star },
  { weight: 1, arbitrary: fc.constant('?') },
  { weight: 1, arbitrary: starStep(31) },
  { weight: 3, arbitrary: list(item(1, 31)) },
  {
    weight: 2,
    arbitrary: list(
      fc.oneof(
        fc.constantFrom('L', 'LW', 'lw', '1W', '15W', '31W'),
        fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`),
        item(1, 31),
      ),
    ),
  },
)
const dayOfWeek = fc.oneof(
  { weight: 4, arbitrary: star },
  { weight: 1, arbitrary: fc.constant('?') },
  { weight: 1, arbitrary: starStep(7) },
  { weight: 3, arbitrary: list(item(0, 7)) },
  { weight: 1, arbitrary: list(fc.constantFrom('MON-FRI', 'sun', 'Sat', 'FRI-SUN', 'TUE,THU', 'SUN-TUE')) },
  {
    weight: 2,
    arbitrary: list(
      fc.oneof(
        fc
          .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 5 }))
          .map(([day, nth]) => `${day}#${nth}`),
        fc.integer({ min: 0, max: 7 }).map((day) => `${day}L`),
        fc.constantFrom('SUN#2', 'SUN#1', 'friL', '0L'),
      ),
    ),
  },
)

/** Cron texts with a stretch of time that is long enough to hold some occurrences and short enough to walk. */
export const cronCase = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      expression: fc.tuple(minute, hour, dayOfMonth, month, dayOfWeek).map((fields) => fields.join(' ')),
      length: fc.constantFrom(12 * HOUR, 30 * HOUR),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      expression: fc
        .tuple(
          list(fc.constantFrom('0', '30', '59', '*/30')),
          sparseMinute,
          hour,
          dayOfMonth,
          month,
          dayOfWeek,
        )
        .map((fields) => fields.join(' ')),
      length: fc.constant(20 * HOUR),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      expression: fc
        .tuple(fc.constantFrom('0', '30', '15'), fixedHour, dayOfMonth, month, dayOfWeek)
        .map((fields) => fields.join(' ')),
      length: fc.constantFrom(9 * DAY, 33 * DAY),
    }),
  },
)

export const policy = fc.record(
  { gap: fc.constantFrom('shift', 'skip'), fold: fc.constantFrom('first', 'second', 'both') },
  { requiredKeys: [] },
)
