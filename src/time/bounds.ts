import { mistakesError } from '../errors.js'
import { type CompiledTiming, listBetween, sharedTiming } from './compiled-timing.js'
import { readElapsed } from './duration.js'
import { FIRST_INSTANT, type Instant } from './instant.js'
import { beginningAt } from './rrule.js'
import type { Timing } from './timing.js'

/** The part of a timing's plan times that a schedule takes. */
export interface Bounds {
  /** Inclusive. `once` has no use for it: one whose time has passed at creation still fires. */
  startAt?: Instant | undefined
  /** Exclusive. */
  endAt?: Instant | undefined
  /** Plan times counted from `startAt`, whatever becomes of them. `after` has none to count in advance. */
  limit?: number | undefined
}

/**
 * The largest `limit`: where one falls is found by counting, which takes up to a second and a half for as many plan times as
 * these, the slowest rules at hand. Who wants more of them gives an `endAt`.
 */
export const MAX_LIMIT = 100_000

/**
 * Compiled timings are shared by all schedules with an equal timing; bounds are cheap and applied per call. An `rrule`
 * without DTSTART begins at `startAt`. For `after`, which has no grid, `next(x)` answers for a run that ended at `x`.
 */
export function compileTiming(timing: Timing, bounds?: Bounds): CompiledTiming {
  if (bounds === undefined) return sharedTiming(timing)
  checkLimit(bounds)
  const shared = sharedTiming(begun(timing, bounds))
  const end = bounds.endAt ?? Number.POSITIVE_INFINITY
  return new BoundedTiming(
    timing,
    shared,
    startOf(timing, bounds),
    bounds.limit === undefined ? end : Math.min(end, limitEnd(shared, bounds)),
  )
}

/** A class and not closures: a scheduler makes one for each schedule it plans. */
class BoundedTiming implements CompiledTiming {
  readonly timing: Timing
  readonly #shared: CompiledTiming
  readonly #start: Instant
  readonly #end: Instant

  constructor(timing: Timing, shared: CompiledTiming, start: Instant, end: Instant) {
    this.timing = timing
    this.#shared = shared
    this.#start = start
    this.#end = end
  }

  get source() {
    return this.#shared.source
  }

  next(after: Instant): Instant | null {
    const found = this.#shared.next(Math.max(after, this.#start - 1))
    return found !== null && found < this.#end ? found : null
  }

  previous(before: Instant): Instant | null {
    const found = this.#shared.previous(Math.min(before, this.#end))
    return found !== null && found >= this.#start ? found : null
  }

  between(from: Instant, to: Instant, limit: number): Instant[] {
    return listBetween(this, from, to, limit)
  }
}

/**
 * The instant, exclusive, at which `limit` ends the timing: just after the last plan time that it lets through.
 * Null without a limit, or when the timing or `endAt` ends before the limit is reached.
 */
export function resolveLimit(timing: Timing, bounds: Bounds): Instant | null {
  checkLimit(bounds)
  const end = limitEnd(sharedTiming(begun(timing, bounds)), bounds)
  return end === Number.POSITIVE_INFINITY || (bounds.endAt !== undefined && end > bounds.endAt) ? null : end
}

function begun(timing: Timing, { startAt }: Bounds): Timing {
  return timing.kind === 'rrule' && startAt !== undefined ? beginningAt(timing, startAt) : timing
}

function startOf(timing: Timing, { startAt }: Bounds): Instant {
  return timing.kind === 'once' ? FIRST_INSTANT : (startAt ?? FIRST_INSTANT)
}

/**
 * The same of a compiled timing that begins where it is to begin; infinite where there is no such instant, or where
 * `endAt` comes first. Limits that are stored already are counted whatever they are.
 */
export function limitEnd(shared: CompiledTiming, bounds: Bounds): Instant {
  const steps = limitEndInSteps(shared, bounds)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const COUNTED_IN_A_STEP = 50

/** The same, for those who rest now and then. */
export function* limitEndInSteps(shared: CompiledTiming, bounds: Bounds): Generator<void, Instant> {
  const { timing } = shared
  const { limit, endAt = Number.POSITIVE_INFINITY } = bounds
  if (limit === undefined || timing.kind === 'after') return Number.POSITIVE_INFINITY
  if (bounds.startAt === undefined && timing.kind !== 'once') {
    throw refused('startAt', 'is missing; limit counts from it')
  }
  let last = shared.next(startOf(timing, bounds) - 1)
  if (last === null) return Number.POSITIVE_INFINITY
  const step = elapsedStep(timing)
  if (step !== undefined) return last + (limit - 1) * step + 1
  for (let counted = 1; counted < limit; counted++) {
    if (counted % COUNTED_IN_A_STEP === 0) yield
    last = shared.next(last)
    if (last === null || last >= endAt) return Number.POSITIVE_INFINITY
  }
  return last + 1
}

function checkLimit({ limit }: Bounds): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT)) return
  throw refused('limit', `${limit} – expected a whole number from 1 to ${MAX_LIMIT.toLocaleString('en')}`)
}

/** How many plan times {@link limitEnd} goes through, at most. */
export function countsTo(timing: Timing, limit: number): number {
  return elapsedStep(timing) === undefined ? limit : 1
}

/** The distance in milliseconds of plan times that all have the same: it makes counting a multiplication. */
export function elapsedStep(timing: Timing): number | undefined {
  if (timing.kind !== 'every' || !/hour|minute|second/.test(timing.every)) return undefined
  return readElapsed(timing.every, 'timing.every', () => undefined)
}

function refused(field: string, message: string) {
  return mistakesError('timing_invalid', [{ field, message }])
}
