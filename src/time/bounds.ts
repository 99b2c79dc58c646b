import { EscapementError } from '../errors.js'
import { answering, type CompiledTiming, compileTiming } from './compiled-timing.js'
import { readElapsed } from './duration.js'
import { FIRST_INSTANT, type Instant } from './instant.js'
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

export function withBounds(shared: CompiledTiming, bounds: Bounds): CompiledTiming {
  const { timing } = shared
  const start = timing.kind === 'once' ? FIRST_INSTANT : (bounds.startAt ?? FIRST_INSTANT)
  const end = Math.min(bounds.endAt ?? Number.POSITIVE_INFINITY, limitEnd(shared, bounds, start))
  if (start === FIRST_INSTANT && end === Number.POSITIVE_INFINITY) return shared
  return answering(timing, {
    next(after) {
      const found = shared.next(Math.max(after, start - 1))
      return found !== null && found < end ? found : null
    },
    previous(before) {
      const found = shared.previous(Math.min(before, end))
      return found !== null && found >= start ? found : null
    },
  })
}

/**
 * The instant, exclusive, at which `limit` ends the timing: just after the last plan time that it lets through.
 * Null without a limit, or when fewer plan times exist than it allows.
 */
export function resolveLimit(timing: Timing, bounds: Bounds): Instant | null {
  const shared = compileTiming(timing)
  const start = timing.kind === 'once' ? FIRST_INSTANT : (bounds.startAt ?? FIRST_INSTANT)
  const end = limitEnd(shared, bounds, start)
  return end === Number.POSITIVE_INFINITY || (bounds.endAt !== undefined && end > bounds.endAt) ? null : end
}

/** The largest `limit`: the end of one that counts in a calendar is found by counting. */
export const MAX_LIMIT = 1_000_000

function limitEnd(shared: CompiledTiming, { limit, startAt }: Bounds, start: Instant): Instant {
  const { timing } = shared
  if (limit === undefined || timing.kind === 'after') return Number.POSITIVE_INFINITY
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw refused('limit', `${limit} – expected a whole number from 1 to ${MAX_LIMIT.toLocaleString('en')}`)
  }
  if (startAt === undefined && timing.kind !== 'once') {
    throw refused('startAt', 'is missing; limit counts from it')
  }
  const first = shared.next(start - 1)
  if (first === null) return Number.POSITIVE_INFINITY
  const step = timing.kind === 'every' ? elapsedStep(timing.every) : undefined
  if (step !== undefined) return first + (limit - 1) * step + 1
  let last = first
  for (let counted = 1; counted < limit; counted++) {
    const following = shared.next(last)
    if (following === null) return Number.POSITIVE_INFINITY
    last = following
  }
  return last + 1
}

function elapsedStep(every: string): number | undefined {
  return /(hour|minute|second)/.test(every) ? readElapsed(every, 'timing.every', () => undefined) : undefined
}

function refused(field: string, message: string): EscapementError {
  return new EscapementError('timing_invalid', {
    message: `${field}: ${message}`,
    details: { mistakes: [{ field, message }] },
  })
}
