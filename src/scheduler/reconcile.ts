import { gridOf } from '../schedules/plan.js'
import { fillStrandedLanes } from '../store/queries/lanes.js'
import {
  listForReconciling,
  lockForReconciling,
  type Repair,
  repairCursors,
} from '../store/queries/reconciling.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { TIMING_KINDS } from '../time/timing.js'

const CHUNK = 1_000

/**
 * Gives active schedules back the cursor that follows from what is decided: the first plan time after
 * `decided_through`. It changes nothing where that is so already, so it can be run at any time and repeated. Returns the
 * names of those that it mended.
 *
 * `suspectsOnly` looks only at those that the database can tell are wrong without computing their timings.
 */
export async function reconcile(
  store: Store,
  { suspectsOnly = false }: { suspectsOnly?: boolean } = {},
): Promise<string[]> {
  const mended: string[] = []
  await fillStrandedLanes(store)
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const ids = await listForReconciling(store, { after, limit: CHUNK, suspectsOnly, kinds: TIMING_KINDS })
    if (ids.length === 0) return mended
    after = ids.at(-1)!
    await store.transaction(async (session) => {
      const rows = await lockForReconciling(session, ids)
      const repairs = rows.flatMap((row) => repairOrNone(row))
      if (repairs.length > 0) await repairCursors(session, repairs)
      mended.push(...repairs.map(({ name }) => name))
    })
  }
}

type Suspect = Parameters<typeof repairOf>[0]

/** One whose timing cannot be computed is the doctor's, and keeps no other from being mended. */
function repairOrNone(row: Suspect): Repair[] {
  try {
    return repairOf(row)
  } catch {
    return []
  }
}

function repairOf(row: ScheduleRow & { wake_at: Date | null; cursor_version: number }): Repair[] {
  if (row.state !== 'active') return []
  const nextAt = expectedCursor(row)
  const wakes = row.wake_at !== null && (nextAt === null || row.wake_at.getTime() <= latestWake(row, nextAt))
  if (sameInstant(row.next_at, nextAt) && wakes && row.cursor_version === row.version) return []
  if (nextAt === null && row.next_at === null) return []
  return [{ id: row.id, name: row.name, version: row.version, nextAt }]
}

function expectedCursor(row: Suspect): Instant | null {
  const after =
    row.timing.kind === 'once'
      ? row.decided_through.getTime()
      : Math.max(row.decided_through.getTime(), row.start_at.getTime() - 1)
  return gridOf(toPlannable(row)).next(after)
}

/** A schedule with backlog, or one that was set aside, wakes after its cursor, but not by much. */
function latestWake(row: Suspect, nextAt: Instant): Instant {
  return Math.max(nextAt, row.decided_through.getTime()) + (row.plan_error === null ? 2 : 10) * 60_000
}

function sameInstant(date: Date | null, instant: Instant | null): boolean {
  return (date?.getTime() ?? null) === instant
}
