import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, formatDuration, readDuration, readElapsed } from '../time/duration.js'
import { quote, type Report } from '../time/report.js'
import type { Breaker } from './breaker.js'

export type CatchUp = 'latest' | 'none' | 'all'
export type Overlap = 'allow' | 'skip' | 'queue' | 'replace'

/** How a schedule treats its plan times. */
export interface PolicyFields {
  /**
   * What to do with plan times that passed undecided, after an outage: `latest` runs the newest and records the
   * others as missed, `none` runs none of them, `all` runs each one, oldest first.
   * @default 'latest'
   */
  catchUp?: CatchUp
  /**
   * Plan times later than this are not caught up: they are recorded as expired. Without it: 1 day for `all`, and any
   * age for the others and for the timing `once`.
   */
  catchUpWindow?: DurationInput
  /**
   * How many plan times `all` runs in one tick; the rest follow in the next ones. At least 1.
   * @default 100
   */
  catchUpLimit?: number
  /**
   * Plan times less late than this are on time, and all run whatever the catch-up. Lateness counts from plan time +
   * delay.
   * @default '1 minute'
   */
  grace?: DurationInput
  /**
   * What to do while an earlier run of the same schedule and scope is open: `allow` runs both, `skip` records the new
   * occurrence as skipped, `queue` lets one wait, `replace` cancels the open run. An `after` timing never overlaps: it
   * takes `skip` only.
   * @default 'allow'
   */
  overlap?: Overlap
  /**
   * A run may be claimed at plan time + delay: for data that arrive late.
   * @default '0 seconds'
   */
  delay?: DurationInput
  /**
   * Spreads runs over this span after their time, by a hash that is the same on every host, and ends before the next
   * plan time.
   * @default '0 seconds'
   */
  jitter?: DurationInput
  /**
   * Takes the schedule out (state `broken`) when so many scheduled runs in a row have failed, or succeeded with
   * `totals.errors` above 0. With `cooldown` it is tried again after that long, and the next failure takes it out
   * again; without, somebody resumes or edits it. Without a breaker, it goes on whatever fails.
   */
  breaker?: { failures: number; cooldown?: DurationInput }
  /**
   * Whether a schedule with no plan time left is deleted. Its runs stay.
   * @default false
   */
  deleteWhenDone?: boolean
}

/** All of them, filled with their defaults; durations in canonical words. */
export interface Policies {
  catchUp: CatchUp
  catchUpWindow: string | null
  catchUpLimit: number
  grace: string
  overlap: Overlap
  delay: string
  jitter: string
  breaker: Breaker | null
  deleteWhenDone: boolean
}

export const POLICY_DEFAULTS = {
  catchUp: 'latest',
  catchUpLimit: 100,
  grace: '1 minute',
  overlap: 'allow',
  delay: '0 seconds',
  jitter: '0 seconds',
  deleteWhenDone: false,
} satisfies PolicyFields

const DEFAULT_WINDOW_OF_ALL = '1 day'
const MAX_CATCH_UP_LIMIT = 10_000

export const POLICY_FIELDS: readonly (keyof PolicyFields)[] = [
  'catchUp',
  'catchUpWindow',
  'catchUpLimit',
  'grace',
  'overlap',
  'delay',
  'jitter',
  'breaker',
  'deleteWhenDone',
]

/** The window that a schedule has where it names none. */
export function defaultWindow(catchUp: CatchUp, kind: string | undefined): string | null {
  return catchUp === 'all' && kind !== 'once' ? DEFAULT_WINDOW_OF_ALL : null
}

export function readPolicies(fields: PolicyFields, kind: string | undefined, report: Report): Policies {
  const given = { ...POLICY_DEFAULTS, ...definedOnly(fields) }
  const catchUp = oneOf(given.catchUp, ['latest', 'none', 'all'], 'catchUp', report)
  const window = given.catchUpWindow ?? defaultWindow(catchUp, kind)
  const { catchUpLimit, deleteWhenDone } = given
  if (!Number.isInteger(catchUpLimit) || catchUpLimit < 1 || catchUpLimit > MAX_CATCH_UP_LIMIT) {
    report('catchUpLimit', `${quote(catchUpLimit)} – must be a whole number from 1 to ${MAX_CATCH_UP_LIMIT}`)
  }
  if (typeof deleteWhenDone !== 'boolean') {
    report('deleteWhenDone', `${quote(deleteWhenDone)} – must be true or false`)
  }
  return {
    catchUp,
    catchUpWindow: window === null ? null : span(window, 'catchUpWindow', report),
    catchUpLimit,
    grace: span(given.grace, 'grace', report),
    overlap: oneOf(given.overlap, ['allow', 'skip', 'queue', 'replace'], 'overlap', report),
    delay: span(given.delay, 'delay', report),
    jitter: span(given.jitter, 'jitter', report),
    breaker:
      given.breaker === undefined || given.breaker === null ? null : readBreaker(given.breaker, report),
    deleteWhenDone,
  }
}

function readBreaker(breaker: unknown, report: Report): Breaker | null {
  if (typeof breaker !== 'object' || breaker === null) {
    report('breaker', `${quote(breaker)} – must be { failures, cooldown? }`)
    return null
  }
  for (const field of Object.keys(breaker)) {
    if (!BREAKER_FIELDS.includes(field)) {
      report(`breaker.${field}`, `unknown field${didYouMean(field, BREAKER_FIELDS)}`)
    }
  }
  const { failures, cooldown } = breaker as { failures: unknown; cooldown?: unknown }
  if (
    !Number.isInteger(failures) ||
    (failures as number) < 1 ||
    (failures as number) > MAX_BREAKER_FAILURES
  ) {
    report(
      'breaker.failures',
      `${quote(failures)} – must be a whole number from 1 to ${MAX_BREAKER_FAILURES}`,
    )
  }
  return {
    failures: failures as number,
    cooldown: cooldown === undefined || cooldown === null ? null : span(cooldown, 'breaker.cooldown', report),
  }
}

const BREAKER_FIELDS = ['failures', 'cooldown']
const MAX_BREAKER_FAILURES = 10_000

function definedOnly<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}

function oneOf<Value extends string>(
  value: unknown,
  allowed: readonly Value[],
  field: string,
  report: Report,
): Value {
  if (!allowed.includes(value as Value)) {
    report(field, `${quote(value)} – must be one of ${allowed.map((word) => `"${word}"`).join(', ')}`)
  }
  return value as Value
}

/** Canonical words of an elapsed span. */
function span(input: unknown, field: string, report: Report): string {
  if (readElapsed(input, field, report) === undefined) return ''
  return formatDuration(readDuration(input, field, report)!)
}
