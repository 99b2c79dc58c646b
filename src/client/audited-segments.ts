import { boundsOf } from '../schedules/bounds.js'
import type { Grid, SkipReason } from '../schedules/catch-up.js'
import { gridOf } from '../schedules/plan.js'
import type { ScheduleState } from '../schedules/schedule.js'
import type { AuditedChange, AuditedSchedule } from '../store/queries/auditing.js'
import { elapsedStep } from '../time/bounds.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'
import type { Rows } from './audited-answers.js'

/** Plan times between two looks at the clock. */
export const REST_EVERY = 1_000

/** A stretch of time in which one version and one state held. */
export interface Segment {
  after: Instant
  through: Instant
  state: ScheduleState
  scopes: readonly string[] | null
  startAt: Instant
  grid: Grid
  /** Of an `after` timing: the least distance between its plan times. */
  afterMs: number | null
  /** The distance of all its plan times in milliseconds, where they have one. */
  step: number | undefined
  /** What its plan times were computed with at first; null where they follow no zone. */
  zoneData: string | null
}

/** The version that computed a plan time, if it is not the one at hand; null where it is, or where no zone matters. */
export function otherZoneData(
  schedule: AuditedSchedule,
  segments: readonly Segment[],
  at: Instant,
  zoneData: string,
): string | null {
  const segment = segments.findLast(({ after }) => after < at) ?? segments[0]
  if (segment === undefined || segment.zoneData === null) return null
  const isOfNewest = schedule.zone_data_from !== null && at > schedule.zone_data_from.getTime()
  const computedWith = (isOfNewest ? schedule.zone_data : null) ?? segment.zoneData
  return computedWith === zoneData ? null : computedWith || 'data of an unknown version'
}

/** By the change log, oldest first. */
export async function segmentsOf(
  schedule: AuditedSchedule,
  changes: Rows<AuditedChange>,
  rest: () => Promise<void>,
  onMistake: (from: Instant, detail: string) => void,
): Promise<Segment[]> {
  const segments: Segment[] = []
  let begun: Segment | undefined
  for (;;) {
    await changes.fill()
    const change = changes.first
    if (change === undefined) return segments
    changes.drop()
    const after = change.boundary.getTime()
    if (begun !== undefined) begun.through = after
    begun = undefined
    try {
      begun = segmentFrom(schedule, change)
      segments.push(begun)
    } catch (error) {
      onMistake(after, `cannot be computed from here on: ${(error as Error).message}`)
    }
    await rest()
  }
}

/** Without an end, until the next change tells it. */
function segmentFrom(
  { created_at, decided_through }: AuditedSchedule,
  { after: content, state, boundary, zone_data }: AuditedChange,
): Segment {
  const { startAt, untilAt } = boundsOf(content, created_at.getTime())
  return {
    after: boundary.getTime(),
    through: decided_through.getTime(),
    state,
    scopes: content.scopes,
    // `once` is due even when its time had passed at creation.
    startAt: content.timing.kind === 'once' ? Number.NEGATIVE_INFINITY : startAt,
    grid: gridOf({ timing: compileTiming(content.timing), until: untilAt }),
    afterMs: content.timing.kind === 'after' ? durationToMs(content.timing.interval) : null,
    step: elapsedStep(content.timing),
    zoneData: zoneDataOf(content.timing, zone_data ?? ''),
  }
}

/** Whether a skip for this reason can be in this segment. */
export function isExpected({ state }: Segment, reason: SkipReason): boolean {
  return state !== 'active' || reason !== 'paused'
}

/** How many plan times lie between two of them. */
export async function countBetween(
  { grid, step }: Segment,
  first: Instant,
  last: Instant,
  rest: () => Promise<void>,
): Promise<number> {
  if (step !== undefined) return (last - first) / step - 1
  let count = 0
  for (let at = grid.next(first); at !== null && at < last; at = grid.next(at)) {
    count += 1
    if (count % REST_EVERY === 0) await rest()
  }
  return count
}
