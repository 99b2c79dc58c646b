import { type Instant, LAST_INSTANT } from '../time/instant.js'
import { compileTiming, type Timing } from '../time/timing.js'
import type { ScheduleContent } from './schedule.js'

/** The instant before the first plan time: `once` is due even when its time has passed at creation. */
export function beforeFirst(timing: Timing, startAt: Instant): Instant {
  return timing.kind === 'once' ? Number.NEGATIVE_INFINITY : startAt - 1
}

/** Where the plan times begin, and where `endAt` or `limit` ends them. */
export function boundsOf(
  content: ScheduleContent,
  createdAt: Instant,
): { startAt: Instant; untilAt: Instant | null } {
  const startAt = content.startAt === null ? createdAt : Date.parse(content.startAt)
  const endAt = content.endAt === null ? null : Date.parse(content.endAt)
  if (content.limit === null) return { startAt, untilAt: endAt }
  const counted = compileTiming(content.timing).between(startAt, endAt ?? LAST_INSTANT, content.limit)
  return { startAt, untilAt: counted.length < content.limit ? endAt : counted.at(-1)! + 1 }
}
