import type { Instant } from '../time/instant.js'
import type { CatchUp } from './policies.js'

/** Plan times of one schedule: what a compiled timing offers, ended where the schedule ends. */
export interface Grid {
  next(after: Instant): Instant | null
  previous(before: Instant): Instant | null
}

export type SkipReason =
  | 'missed'
  | 'paused'
  | 'overlap'
  | 'operator'
  | 'gate'
  | 'broken'
  | 'expired'
  | 'no_scope'

/** Both ends are plan times, and both are skipped with all between them. */
export interface SkippedRange {
  first: Instant
  last: Instant
  reason: SkipReason
}

export interface CatchUpPolicy {
  catchUp: CatchUp
  /** Milliseconds; infinite for no window. */
  windowMs: number
  limit: number
  graceMs: number
  delayMs: number
}

export interface Due {
  /** The cursor: the first plan time that is not decided. It is not after `now`. */
  first: Instant
  now: Instant
  /** Plan times that an operator asked to skip. */
  requests: ReadonlySet<Instant>
  /** How many plan times may run in one go, instead of the policy's limit; the rest is left. */
  budget: number | undefined
  /** How many plan times may run at most, whatever the policy or the budget say. */
  most?: number | undefined
}

export interface Decision {
  /** Plan times that run, oldest first. */
  run: Instant[]
  skip: SkippedRange[]
  /** All plan times up to this one are decided; later ones that are due wait for the next tick. */
  last: Instant
}

/** A schedule with more plan times on time than this (a long grace) gets them in several ticks. */
const MAX_ON_TIME = 1_000

/**
 * Decides what becomes of the plan times from `first` to `now`. Seen from now they lie in three stretches, oldest
 * first: *expired* (beyond the window), *late*, and *on time* (within the grace). What is on time runs; what has
 * expired does not; in between the policy decides. Skipped stretches are found by their ends and never enumerated: a
 * schedule for each second that was down for a year is planned in microseconds.
 */
export function catchUp(grid: Grid, policy: CatchUpPolicy, due: Due): Decision {
  const { first, now, most = Number.POSITIVE_INFINITY } = due
  // A request outlives edits of the timing: one that is no plan time any more asks for nothing.
  const requests =
    due.requests.size === 0
      ? due.requests
      : new Set([...due.requests].filter((at) => at === first || grid.next(at - 1) === at))
  // The cursor itself is due even where the timing, computed from newer zone data, no longer has it.
  const newest = Math.max(grid.previous(now + 1) ?? first, first)
  const onTimeFrom = now - policy.delayMs - policy.graceMs + 1
  const lateFrom = Math.min(now - policy.delayMs - policy.windowMs, onTimeFrom)
  // What nearly all are: one plan time, on time, and no wishes.
  if (newest === first && first >= onTimeFrom && requests.size === 0)
    return { run: [first], last: first, skip: [] }

  const run: Instant[] = []
  let last = newest
  let cursor: Instant | null = first
  const isOpen = (instant: Instant) => !requests.has(instant)
  const take = (from: Instant, to: Instant, limit: number) => {
    cursor = from <= first ? first : grid.next(from - 1)
    let taken = 0
    for (; cursor !== null && cursor < to && cursor <= newest; cursor = grid.next(cursor)) {
      if (!isOpen(cursor)) continue
      if (taken === limit) return false
      run.push(cursor)
      taken += 1
    }
    return true
  }

  const complete =
    (policy.catchUp !== 'all' || take(lateFrom, onTimeFrom, Math.min(due.budget ?? policy.limit, most))) &&
    take(onTimeFrom, Number.POSITIVE_INFINITY, Math.min(due.budget ?? MAX_ON_TIME, most - run.length))
  if (!complete) last = run.at(-1)!
  if (policy.catchUp === 'latest' && run.length === 0) {
    const latest = newestOpen(grid, newest, Math.max(first, lateFrom), requests)
    if (latest !== null) run.push(latest)
  }

  const holes = [...run, ...[...requests].filter((at) => at >= first && at <= last)].sort((a, b) => a - b)
  return { run, last, skip: skippedBetween(grid, { first, last, holes, requests, lateFrom }) }
}

/** The newest plan time from `from` to `newest` that nobody asked to skip. */
function newestOpen(
  grid: Grid,
  newest: Instant,
  from: Instant,
  requests: ReadonlySet<Instant>,
): Instant | null {
  let candidate: Instant | null = newest
  while (candidate !== null && candidate >= from && requests.has(candidate))
    candidate = grid.previous(candidate)
  return candidate !== null && candidate >= from ? candidate : null
}

/** The ranges between those that run; a request to skip is a range of its own. */
function skippedBetween(
  grid: Grid,
  bounds: {
    first: Instant
    last: Instant
    holes: readonly Instant[]
    requests: ReadonlySet<Instant>
    lateFrom: Instant
  },
): SkippedRange[] {
  const { first, last, holes, requests, lateFrom } = bounds
  const ranges: SkippedRange[] = []
  let from: Instant | null = first
  const close = (to: Instant | null) => {
    if (from === null || to === null || to < from) return
    const expiredThrough =
      from < lateFrom ? Math.max(from, grid.previous(Math.min(lateFrom, to + 1)) ?? from) : null
    if (expiredThrough !== null) ranges.push({ first: from, last: expiredThrough, reason: 'expired' })
    const missedFrom = expiredThrough === null ? from : grid.next(expiredThrough)
    if (missedFrom !== null && missedFrom <= to)
      ranges.push({ first: missedFrom, last: to, reason: 'missed' })
  }
  for (const hole of holes) {
    if (hole > first) close(grid.previous(hole))
    if (requests.has(hole)) ranges.push({ first: hole, last: hole, reason: 'operator' })
    from = grid.next(hole)
  }
  close(from !== null && from <= last ? last : null)
  return ranges
}
