import type { RunState } from '../runs/run.js'
import { beforeFirst } from '../schedules/bounds.js'
import type { SkipReason } from '../schedules/catch-up.js'
import { planSkipped } from '../schedules/plan.js'
import { listRecent, type RecentRow } from '../store/queries/recent.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Instant } from '../time/instant.js'
import type { VerbParts } from './verb.js'

/** What became of a plan time, or of several in a row that were skipped for one reason. */
export interface RecentOccurrence {
  /** The first of those that were skipped together; else the same as `planTime`. */
  firstPlanTime: Date
  /** The last one. */
  planTime: Date
  scope: string
  /** `run`: see `runId` and `runState`; `skipped`: see `reason`. */
  disposition: 'run' | 'skipped'
  runId: string | null
  runState: RunState | null
  reason: SkipReason | null
}

/** The last `count` for each of these schedules, oldest first. What a pause has left out so far is derived from the state. */
export async function readRecent(
  { store, group }: Pick<VerbParts, 'store' | 'group'>,
  rows: readonly ScheduleRow[],
  count: number,
): Promise<Map<string, RecentOccurrence[]>> {
  const recent = new Map(rows.map(({ id }) => [id, [] as RecentOccurrence[]]))
  if (rows.length === 0) return recent
  const found = await listRecent(store, { ids: rows.map(({ id }) => id), group, count })
  for (const row of rows) recent.get(row.id)!.push(...pausedSoFar(row, found.now).slice(0, count))
  for (const row of found.rows) {
    const each = recent.get(row.schedule_id)!
    if (each.length < count && !wasBackfilled(row, each)) each.push(toOccurrence(row))
  }
  for (const each of recent.values()) each.reverse()
  return recent
}

/** A plan time that was skipped and run later is the run, which comes before it. Of a range that is not looked at. */
function wasBackfilled(row: RecentRow, newer: readonly RecentOccurrence[]): boolean {
  const planTime = row.last_plan_time.getTime()
  if (row.run_id !== null || row.first_plan_time.getTime() !== planTime) return false
  return newer.some(
    (each) => each.runId !== null && each.scope === row.scope && each.planTime.getTime() === planTime,
  )
}

function toOccurrence({ scope, ...row }: RecentRow): RecentOccurrence {
  return {
    firstPlanTime: row.first_plan_time,
    planTime: row.last_plan_time,
    scope,
    disposition: row.run_id === null ? 'skipped' : 'run',
    runId: row.run_id,
    runState: row.state,
    reason: row.reason,
  }
}

/** In each scope one range at most: it is recorded when the pause ends. */
function pausedSoFar(row: ScheduleRow, now: Instant): RecentOccurrence[] {
  if (row.state !== 'paused' && row.state !== 'broken') return []
  const after = Math.max(row.decided_through.getTime(), beforeFirst(row.timing, row.start_at.getTime()))
  const through = Math.min(now, row.state_until?.getTime() ?? now)
  return skippedIn(row, { after, through, reason: row.state }).map(({ first, last, scope, reason }) => ({
    firstPlanTime: new Date(first),
    planTime: new Date(last),
    scope,
    disposition: 'skipped',
    runId: null,
    runState: null,
    reason,
  }))
}

function skippedIn(row: ScheduleRow, range: Parameters<typeof planSkipped>[1]) {
  try {
    return planSkipped(toPlannable(row), range).skips
  } catch {
    // Of a newer program: its own servers know.
    return []
  }
}
