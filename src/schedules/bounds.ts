import { countsTo, limitEnd } from '../time/bounds.js'
import type { Instant } from '../time/instant.js'
import { compileTiming, type Timing } from '../time/timing.js'
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
    content.limit === null
      ? endAt
      : (counted(content.timing, { startAt, endAt, limit: content.limit }) ?? endAt)
  return { startAt, untilAt: untilAt ?? null }
}

/** How many plan times are counted to find the bounds. */
export function costOfBounds({ timing, limit }: Pick<ScheduleContent, 'timing' | 'limit'>): number {
  return limit === null ? 0 : countsTo(timing, limit)
}

/** Counting up to a million takes half a second, and all versions of a schedule ask for the same. */
const ends = new Map<string, Instant | undefined>()
const ENDS_KEPT = 1_000

function counted(
  timing: Timing,
  bounds: { startAt: Instant; endAt: Instant | undefined; limit: number },
): Instant | undefined {
  const key = JSON.stringify([timing, bounds.startAt, bounds.endAt ?? null, bounds.limit])
  if (ends.has(key)) return ends.get(key)
  const end = limitEnd(compileTiming(timing), bounds)
  const found = end < (bounds.endAt ?? Number.POSITIVE_INFINITY) ? end : undefined
  if (ends.size >= ENDS_KEPT) ends.clear()
  ends.set(key, found)
  return found
}
