/**
 * What a change makes of a schedule's row: its content, its state, its version, and above all the cursor, which is the first
 * plan time after what is decided. Pure: the cursor is locked, and what is due is settled.
 */
import { isDeepStrictEqual } from 'node:util'
import { beforeFirst, boundsOf, type PlanTimeBounds, type PlanTimeFields } from '../schedules/bounds.js'
import { firstAfter, nextPlanTime } from '../schedules/plan.js'
import type { ScheduleContent, ScheduleState } from '../schedules/schedule.js'
import type { Written } from '../store/queries/schedules.js'
import { contentOf, type ScheduleRow } from '../store/rows.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'
import type { ChangeContext } from './change-context.js'

/** What a verb wants a schedule to be. */
export interface ChangedTo {
  name?: string
  content?: ScheduleContent
  state?: { is: ScheduleState; reason?: string | null; by?: string | null; until?: Instant | null }
  /** Whether a run of it is open: of an `after` timing the next plan time hangs on its end. */
  hasOpenRun?: boolean
  /** When its last run ended, where that may be later than the time of the change: an `after` timing counts from there. */
  lastEndAt?: Instant | undefined
  /** Only what a person does makes a new version: nobody's `expectedVersion` is spoiled by a pause that ends. */
  isEdit?: false
}

/** The cursor where everything up to `decided` is decided. */
export function cursorAfter(content: ScheduleContent, bounds: PlanTimeBounds, decided: Instant) {
  const schedule = { timing: compileTiming(content.timing), until: bounds.untilAt }
  return nextPlanTime(schedule, Math.max(decided, beforeFirst(content.timing, bounds.startAt)))
}

/** The row as a change leaves it, where everything up to `decidedThrough` is decided. */
export function writtenOf(
  { now, action, actor, zoneData }: ChangeContext,
  row: ScheduleRow,
  to: ChangedTo,
  known: { bounds?: PlanTimeBounds; decidedThrough?: Instant } = {},
): Written {
  const before = contentOf(row)
  const content = to.content ?? before
  const bounds = known.bounds ?? boundsAfter(row, content, zoneData)
  const { decidedThrough = Math.max(now, row.decided_through.getTime()) } = known
  const state = to.state ?? {
    is: row.state,
    reason: row.state_reason,
    by: row.state_by,
    until: ms(row.state_until),
  }
  const isAfter = content.timing.kind === 'after'
  const nextAt =
    state.is !== 'active'
      ? null
      : isAfter
        ? cursorOfAfter(row, to, { content, bounds, decidedThrough, now })
        : cursorAfter(content, bounds, decidedThrough)
  const waitsForRun = isAfter && to.hasOpenRun
  const is = state.is === 'active' && nextAt === null && !waitsForRun ? 'finished' : state.is
  return {
    id: row.id,
    name: to.name ?? row.name,
    version: to.isEdit === false ? row.version : row.version + 1,
    content,
    source: row.source,
    state: is,
    stateReason: state.reason ?? null,
    stateBy: state.by ?? null,
    stateSince: is === row.state ? row.state_since.getTime() : now,
    stateUntil: state.until ?? null,
    untilAt: bounds.untilAt,
    startAt: bounds.startAt,
    nextAt,
    wakeAt: nextAt ?? state.until ?? null,
    decidedThrough,
    zoneData: zoneDataOf(content.timing, zoneData),
    afterMs: content.timing.kind === 'after' ? durationToMs(content.timing.interval) : null,
    counted: isAfter && isSameGrid(before, content) ? null : 0,
    failures: failuresAfter(row, to),
    change: { action, actor, before, after: content },
  }
}

/**
 * Of an `after` timing: what waits goes on waiting; what is enabled, or gets another interval, counts from now. While a
 * run is open there is none.
 */
function cursorOfAfter(
  row: ScheduleRow,
  { hasOpenRun, lastEndAt = Number.NEGATIVE_INFINITY }: ChangedTo,
  to: {
    content: ScheduleContent
    bounds: ReturnType<typeof boundsOf>
    decidedThrough: Instant
    now: Instant
  },
): Instant | null {
  const { content, bounds, decidedThrough, now } = to
  const isSame = isSameGrid(contentOf(row), content)
  const isSettled = row.next_at !== null && row.next_at.getTime() <= now
  const counted = isSame ? row.counted + Number(isSettled) : 0
  if (hasOpenRun || (content.limit !== null && counted >= content.limit)) return null
  if (isSame && row.state === 'active' && row.next_at !== null && !isSettled) return row.next_at.getTime()
  const schedule = { timing: compileTiming(content.timing), until: bounds.untilAt }
  return firstAfter(schedule, {
    from: Math.max(now, lastEndAt),
    startAt: Math.max(bounds.startAt, decidedThrough + 1),
  })
}

function isSameGrid(a: ScheduleContent, b: ScheduleContent): boolean {
  return isDeepStrictEqual([a.timing, a.startAt], [b.timing, b.startAt])
}

/** What a person does begins anew. A cooldown that ends leaves one failure to go: the next run is its probe. */
function failuresAfter(row: ScheduleRow, { isEdit }: ChangedTo): number | null {
  if (isEdit !== false) return 0
  return row.state === 'broken' ? Math.max(0, (row.policies.breaker?.failures ?? 1) - 1) : null
}

/** A limit is counted out only where that can have another result than the last time. */
function boundsAfter(row: ScheduleRow, content: ScheduleContent, zoneData: string): PlanTimeBounds {
  const isSame =
    row.zone_data === zoneDataOf(row.timing, zoneData) &&
    isDeepStrictEqual(planTimeFields(contentOf(row)), planTimeFields(content))
  if (!isSame) return boundsOf(content, row.created_at.getTime())
  return { startAt: row.start_at.getTime(), untilAt: ms(row.until_at) }
}

export function planTimeFields({ timing, startAt, endAt, limit }: ScheduleContent): PlanTimeFields {
  return { timing, startAt, endAt, limit }
}

function ms(date: Date | null): Instant | null {
  return date === null ? null : date.getTime()
}
