import { countsTo, limitEnd, limitEndInSteps } from '../time/bounds.js'
import type { Instant } from '../time/instant.js'
import { compileTiming, type Timing } from '../time/timing.js'
import type { Grid } from './catch-up.js'
import type { ScheduleContent } from './schedule.js'

/** The instant before the first plan time: `once` is due even when its time has passed at creation. */
export function beforeFirst(timing: Timing, startAt: Instant): Instant {
  return timing.kind === 'once' ? Number.NEGATIVE_INFINITY : startAt - 1
}

/** What the plan times follow from. */
export type PlanTimeFields = Pick<ScheduleContent, 'timing' | 'startAt' | 'endAt' | 'limit'>

export interface PlanTimeBounds {
  startAt: Instant
  untilAt: Instant | null
}

/** Where the plan times begin, and where `endAt` or `limit` ends them. */
export function boundsOf(content: PlanTimeFields, createdAt: Instant): PlanTimeBounds {
  const startAt = content.startAt === null ? createdAt : Date.parse(content.startAt)
  const endAt = content.endAt === null ? undefined : Date.parse(content.endAt)
  const untilAt =
    // An `after` timing has no grid on which to count ahead.
    content.limit === null || content.timing.kind === 'after'
      ? endAt
      : (counted(content.timing, { startAt, endAt, limit: content.limit }) ?? endAt)
  return { startAt, untilAt: untilAt ?? null }
}

/** How many plan times are counted to find the bounds. */
export function costOfBounds({ timing, limit }: Pick<ScheduleContent, 'timing' | 'limit'>): number {
  return limit === null || timing.kind === 'after' ? 0 : countsTo(timing, limit)
}

/**
 * Counts ahead of a transaction, with rests, so that `boundsOf` finds the end there without counting; also for a creation
 * that comes a little later than `createdAt`.
 */
export async function countAhead(
  content: PlanTimeFields,
  createdAt: Instant,
  rest: () => Promise<void>,
): Promise<void> {
  const { timing, limit } = content
  if (limit === null || countsTo(timing, limit) < WORTH_KEEPING) return
  const startAt = content.startAt === null ? createdAt : Date.parse(content.startAt)
  const endAt = content.endAt === null ? undefined : Date.parse(content.endAt)
  const bounds = { startAt, endAt, limit }
  if (known(timing, bounds) !== undefined) return
  const steps = limitEndInSteps(compileTiming(timing), bounds)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return void keep(timing, bounds, step.value)
    await rest()
  }
}

type Counted = { startAt: Instant; endAt: Instant | undefined; limit: number }

/** Ends that were counted out: all versions of a schedule ask for the same. Infinite where there is none. */
const ends = new Map<string, Instant>()
/** By the same without where the count began: where the latest one did. */
const latest = new Map<string, Instant>()
/** Three for each schedule of a chunk, at least. */
const ENDS_KEPT = 3_000
/** Fewer are counted again; and from one start to another no more than these. */
const WORTH_KEEPING = 500

function counted(timing: Timing, bounds: Counted): Instant | undefined {
  const { endAt = Number.POSITIVE_INFINITY } = bounds
  const end = known(timing, bounds) ?? keep(timing, bounds, limitEnd(compileTiming(timing), bounds))
  return end < endAt ? end : undefined
}

function known(timing: Timing, bounds: Counted): Instant | undefined {
  const exact = ends.get(keyOf(timing, bounds, bounds.startAt))
  if (exact !== undefined) return exact
  const from = latest.get(keyOf(timing, bounds))
  const end = from === undefined ? undefined : ends.get(keyOf(timing, bounds, from))
  if (from === undefined || end === undefined || from > bounds.startAt) return undefined
  return keepIf(timing, bounds, shifted(compileTiming(timing), { from, end, to: bounds.startAt }))
}

/** The end of as many plan times that are counted from a little later on; undefined where it is more than a little. */
function shifted(
  grid: Grid,
  { from, end, to }: { from: Instant; end: Instant; to: Instant },
): Instant | undefined {
  let last: Instant | null = end - 1
  let steps = 0
  for (let at = grid.next(from - 1); at !== null && at < to; at = grid.next(at)) {
    steps += 1
    if (steps > WORTH_KEEPING) return undefined
    last = last === null || last === Number.POSITIVE_INFINITY ? last : grid.next(last)
  }
  return last === null ? Number.POSITIVE_INFINITY : last + 1
}

function keepIf(timing: Timing, bounds: Counted, end: Instant | undefined): Instant | undefined {
  return end === undefined ? undefined : keep(timing, bounds, end)
}

function keep(timing: Timing, bounds: Counted, end: Instant): Instant {
  if (ends.size >= ENDS_KEPT) {
    ends.clear()
    latest.clear()
  }
  ends.set(keyOf(timing, bounds, bounds.startAt), end)
  latest.set(keyOf(timing, bounds), bounds.startAt)
  return end
}

function keyOf(
  timing: Timing,
  { endAt = null, limit }: { endAt?: Instant | undefined | null; limit: number },
  startAt?: Instant,
) {
  return JSON.stringify([timing, endAt, limit, startAt])
}
