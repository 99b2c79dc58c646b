import { runIdOf } from '../runs/run-id.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import type { CompiledTiming } from '../time/timing.js'
import { type CatchUpPolicy, catchUp, type Grid, type SkippedRange, type SkipReason } from './catch-up.js'
import { jitterMs } from './jitter.js'
import type { Policies } from './policies.js'

/** What the planner needs to know of a schedule. */
export interface Plannable {
  id: string
  timing: CompiledTiming
  policies: Policies
  scopes: readonly string[]
  /** The cursor: the first plan time that is not yet decided; null when there is none. */
  nextAt: Instant | null
  /** Exclusive end of the plan times, from `endAt` or `limit`; null for none. */
  until: Instant | null
  /** Of an `after` timing: how many plan times its limit leaves; null for any number. */
  left?: number | null
}

export interface PlannedRun {
  id: string
  scope: string
  planTime: Instant
  eligibleAt: Instant
}

type PlannedSkip = SkippedRange & { scope: string }

/** What becomes of the plan times up to `decidedThrough`. */
export interface Plan {
  runs: PlannedRun[]
  skips: PlannedSkip[]
  /** The new cursor; null when no plan time is left, or while the next one hangs on a run. */
  nextAt: Instant | null
  /** Whether no plan time can follow. */
  isDone: boolean
  decidedThrough: Instant
}

/** Of an `after` timing there is the plan time that waits, if one does, and no other. */
export function gridOf({
  timing,
  until,
  nextAt = null,
}: Pick<Plannable, 'timing' | 'until'> & Partial<Plannable>): Grid {
  if (timing.timing.kind === 'after') {
    return {
      next: (after) => (nextAt !== null && nextAt > after ? nextAt : null),
      previous: (before) => (nextAt !== null && nextAt < before ? nextAt : null),
    }
  }
  if (until === null) return timing
  return {
    next(after) {
      const found = timing.next(after)
      return found !== null && found < until ? found : null
    },
    previous: (before) => timing.previous(Math.min(before, until)),
  }
}

/**
 * Decides the plan times from the cursor up to `now`, as a tick does. A verb, which must decide all that is due under
 * the content that it replaces, takes more at once than a tick: `budget` plan times. `mostRuns` bounds the runs, so that
 * a transaction stays short; of the first plan time all scopes run.
 */
export function planOccurrences(
  schedule: Plannable,
  now: Instant,
  requests: ReadonlySet<Instant> = NO_REQUESTS,
  { budget, mostRuns = Number.POSITIVE_INFINITY }: { budget?: number; mostRuns?: number } = {},
): Plan {
  const { nextAt } = schedule
  const grid = gridOf(schedule)
  const isAfter = schedule.timing.timing.kind === 'after'
  if (nextAt === null || nextAt > now) {
    return { runs: [], skips: [], nextAt, isDone: nextAt === null && !isAfter, decidedThrough: now }
  }
  const policy = catchUpPolicyOf(schedule.policies)
  const most = Math.max(1, Math.floor(mostRuns / Math.max(1, schedule.scopes.length)))
  const { run, skip, last } = catchUp(grid, policy, { first: nextAt, now, requests, budget, most })
  if (isAfter) return planAfter(schedule, { run, skip, now })
  const following = grid.next(last)
  const isDone = following === null
  // Backlog is left: what lies between here and now is not decided yet.
  const decidedThrough = following !== null && following <= now ? last : now
  if (schedule.scopes.length === 0) {
    return { runs: [], skips: noScope(nextAt, last), nextAt: following, isDone, decidedThrough }
  }
  const replaced = schedule.policies.overlap === 'replace' ? run.slice(0, -1) : []
  return {
    runs: run.slice(replaced.length).flatMap((planTime) => runsAt(schedule, grid, planTime, policy.delayMs)),
    skips: forScopes(schedule.scopes, [...skip, ...replaced.map(replacedAt)]),
    nextAt: following,
    isDone,
    decidedThrough,
  }
}

/** Of several plan times that are due together, the newest replaces the others before they have begun. */
function replacedAt(planTime: Instant): SkippedRange {
  return { first: planTime, last: planTime, reason: 'overlap' }
}

/** One plan time is due. If it runs, the next one hangs on its end; if not, it is the interval from now. */
function planAfter(
  schedule: Plannable,
  { run, skip, now }: { run: readonly Instant[]; skip: readonly SkippedRange[]; now: Instant },
): Plan {
  const left = schedule.left ?? null
  const following = schedule.timing.next(now)
  const isOver = following === null || (schedule.until !== null && following >= schedule.until)
  const isDone = (left !== null && left <= 1) || (run.length === 0 && isOver)
  return {
    runs: run.flatMap((planTime) =>
      runsAt(schedule, gridOf(schedule), planTime, spanMs(schedule.policies.delay)),
    ),
    skips: forScopes(schedule.scopes, skip),
    nextAt: isDone || run.length > 0 ? null : following,
    isDone,
    decidedThrough: now,
  }
}

/** The runs that one transaction makes: beyond some ten thousand its locks are held for seconds. */
export const RUNS_AT_ONCE = 20_000

const NO_REQUESTS: ReadonlySet<Instant> = new Set()

/** Decides all plan times in (after, through] as skipped for one reason: what a pause or a breaker leaves. */
export function planSkipped(
  schedule: Plannable,
  { after, through, reason }: { after: Instant; through: Instant; reason: SkipReason },
): Plan {
  const grid = gridOf(schedule)
  const first = grid.next(after)
  const scopes = schedule.scopes.length === 0 ? [NO_SCOPE] : schedule.scopes
  const ranges =
    first === null || first > through ? [] : [{ first, last: grid.previous(through + 1)!, reason }]
  const nextAt = grid.next(through)
  return {
    runs: [],
    skips: forScopes(scopes, ranges),
    nextAt,
    isDone: nextAt === null,
    decidedThrough: through,
  }
}

function runsAt(schedule: Plannable, grid: Grid, planTime: Instant, delayMs: number): PlannedRun[] {
  const jitter = spanMs(schedule.policies.jitter)
  // Held back for less than the distance to the next plan time, so that runs stay in the order of their plan times.
  const span =
    jitter === 0 ? 0 : Math.min(jitter, (grid.next(planTime) ?? Number.POSITIVE_INFINITY) - planTime)
  return schedule.scopes.map((scope) => {
    const id = runIdOf(schedule.id, scope, planTime)
    return { id, scope, planTime, eligibleAt: planTime + delayMs + jitterMs(id, span) }
  })
}

function forScopes(scopes: readonly string[], ranges: readonly SkippedRange[]): PlannedSkip[] {
  return scopes.flatMap((scope) => ranges.map((range) => ({ ...range, scope })))
}

/** The scope under which plan times are recorded for which a provider had none to give. */
const NO_SCOPE = ''

function noScope(first: Instant, last: Instant): PlannedSkip[] {
  return [{ scope: NO_SCOPE, first, last, reason: 'no_scope' }]
}

function catchUpPolicyOf(policies: Policies): CatchUpPolicy {
  return {
    catchUp: policies.catchUp,
    windowMs: policies.catchUpWindow === null ? Number.POSITIVE_INFINITY : spanMs(policies.catchUpWindow),
    limit: policies.catchUpLimit,
    graceMs: spanMs(policies.grace),
    delayMs: spanMs(policies.delay),
  }
}

/** Up to here, exclusively, a plan time counts as on time. */
export function onTimeUntil({ delay, grace }: Policies, planTime: Instant): Instant {
  return planTime + spanMs(delay) + spanMs(grace)
}

/** Whether runs may begin later than at their plan time. */
export function isHeldBack({ delay, jitter }: Policies): boolean {
  return spanMs(delay) > 0 || spanMs(jitter) > 0
}

/** Few distinct texts, many schedules. */
const spans = new Map<string, number>()

function spanMs(text: string): number {
  let ms = spans.get(text)
  if (ms === undefined) {
    ms = durationToMs(text)
    if (spans.size >= 1000) spans.clear()
    spans.set(text, ms)
  }
  return ms
}

/**
 * The cursor, or where it could be right under no zone data the one that follows from what is decided: a damaged one must
 * not decide again what is decided, nor leave out the rest.
 */
export function possibleCursor(schedule: Plannable, decided: Instant): Instant | null {
  const { nextAt } = schedule
  return nextAt !== null && nextAt > decided ? nextAt : nextPlanTime(schedule, decided)
}

/** The first plan time strictly after `after`, before the end. */
export function nextPlanTime(schedule: Pick<Plannable, 'timing' | 'until'>, after: Instant): Instant | null {
  return gridOf(schedule).next(after)
}

/**
 * The cursor of a schedule that is created at `now`. Nothing before its creation is caught up, with one exception:
 * a `once` whose instant has passed is meant to happen, and is due at once.
 */
export function firstPlanTime(
  schedule: Pick<Plannable, 'timing' | 'until'>,
  { startAt, now }: { startAt: Instant | null; now: Instant },
): Instant | null {
  const { kind } = schedule.timing.timing
  if (kind === 'after') return firstAfter(schedule, { from: now, startAt })
  const isOnce = kind === 'once'
  return nextPlanTime(schedule, isOnce ? Number.NEGATIVE_INFINITY : Math.max(startAt ?? now, now) - 1)
}

/** The plan time of an `after` timing that counts from `from`: an end, or an enabling. */
export function firstAfter(
  { timing, until }: Pick<Plannable, 'timing' | 'until'>,
  { from, startAt }: { from: Instant; startAt: Instant | null },
): Instant | null {
  const next = timing.next(from)
  const at = next === null ? null : Math.max(next, startAt ?? next)
  return at !== null && (until === null || at < until) ? at : null
}
