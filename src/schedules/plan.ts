import type { Instant } from '../time/instant.js'
import type { CompiledTiming } from '../time/timing.js'

/** What the planner needs to know of a schedule. */
export interface Plannable {
  timing: CompiledTiming
  /** The cursor: the first plan time that is not yet decided. */
  nextAt: Instant
  /** Exclusive; null for no end. */
  endAt: Instant | null
}

interface SkippedRange {
  /** Both ends are plan times, and both are skipped. */
  first: Instant
  last: Instant
  reason: 'missed'
}

/** What becomes of the plan times up to `decidedThrough`. */
export interface Plan {
  run: Instant[]
  skip: SkippedRange[]
  /** The new cursor; null when the timing has no more plan times. */
  nextAt: Instant | null
  decidedThrough: Instant
}

/** Plan times less late than this are on time and all run, whatever the catch-up. */
const GRACE_MS = 60_000

/**
 * Decides every plan time from the cursor up to `now`: those on time run, and of older ones only the newest, if
 * nothing newer runs (catch-up `latest`); the others are missed. The missed are a range, found by its ends and never
 * enumerated: a schedule for each second that was down for a year is planned in microseconds.
 */
export function planOccurrences({ timing, nextAt, endAt }: Plannable, now: Instant): Plan {
  if (nextAt > now) return { run: [], skip: [], nextAt, decidedThrough: now }
  const before = (instant: Instant): Instant | null => {
    const found = timing.previous(instant)
    return found === null || found < nextAt ? null : found
  }
  const end = endAt === null ? now + 1 : Math.min(now + 1, endAt)
  // The cursor itself is due even where the timing, computed from newer zone data, no longer has it.
  const newest = before(end) ?? nextAt
  const onTimeFrom = Math.max(nextAt, now - GRACE_MS + 1)
  const run = newest >= onTimeFrom ? timing.between(onTimeFrom, newest + 1, Number.POSITIVE_INFINITY) : []
  if (run.length === 0) run.push(newest)
  const lastMissed = before(run[0]!)
  return {
    run,
    skip: lastMissed === null ? [] : [{ first: nextAt, last: lastMissed, reason: 'missed' }],
    nextAt: nextPlanTime(timing, now, endAt),
    decidedThrough: now,
  }
}

/** The first plan time strictly after `after` and before `endAt`. */
export function nextPlanTime(timing: CompiledTiming, after: Instant, endAt: Instant | null): Instant | null {
  const next = timing.next(after)
  return next !== null && (endAt === null || next < endAt) ? next : null
}

/**
 * The cursor of a schedule that is created at `now`. Nothing before its creation is caught up, with one exception:
 * a `once` whose instant has passed is meant to happen, and is due at once.
 */
export function firstPlanTime(
  timing: CompiledTiming,
  { startAt, endAt, now }: { startAt: Instant | null; endAt: Instant | null; now: Instant },
): Instant | null {
  const from = timing.timing.kind === 'once' ? Number.NEGATIVE_INFINITY : Math.max(startAt ?? now, now) - 1
  return nextPlanTime(timing, from, endAt)
}
