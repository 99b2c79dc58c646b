/**
 * Gives schedules back the cursor that follows from what is decided: the first plan time after `decided_through`. It
 * changes nothing where that is so already, so it can be run at any time and repeated.
 *
 * Schedules are read without locks and computed in memory; only those that look wrong are locked, looked at again and
 * mended. A person's `reconcile` goes through all of them. A scheduler's upkeep goes through a slice at a time.
 *
 * A cursor that other zone data have computed is right by those: it is left as it is, unless it could not be right by
 * any. It is `zone-data-change.ts` that computes cursors of older data anew.
 */
import { gridOf } from '../schedules/plan.js'
import { restartAfter } from '../store/queries/after.js'
import { finishSchedules } from '../store/queries/finishing.js'
import { fillStrandedLanes } from '../store/queries/lanes.js'
import {
  type CheckedSchedule,
  lockForReconciling,
  type Repair,
  readOverdue,
  readSlice,
  repairCursors,
} from '../store/queries/reconciling.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'

export const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000'

const CHUNK = 1_000

/** A schedule with backlog, or one that was set aside, wakes after its cursor, but soon. */
const LATEST_WAKE_MS = 10 * 60_000

/** Mends what is damaged, of all schedules. Returns the names of those that it mended. */
export async function reconcile(store: Store, zoneData: string): Promise<string[]> {
  await fillStrandedLanes(store)
  const mended: string[] = []
  for (let after = BEFORE_ALL_IDS; ; ) {
    const slice = await reconcileSlice(store, zoneData, { after, limit: CHUNK })
    mended.push(...slice.mended)
    if (slice.next === null) return mended
    after = slice.next
  }
}

/** The same for `limit` schedules by id; `next` is where to go on, null at the end. */
export async function reconcileSlice(
  store: Store,
  zoneData: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ mended: string[]; next: string | null; ids: string[] }> {
  const rows = await readSlice(store, { after, limit })
  const mended = await mend(store, zoneData, rows)
  return { mended, next: rows.length < limit ? null : rows.at(-1)!.id, ids: rows.map(({ id }) => id) }
}

/** The same for those that are due and that no tick takes. */
export async function reconcileOverdue(store: Store, zoneData: string): Promise<string[]> {
  return mend(store, zoneData, await readOverdue(store, CHUNK))
}

async function mend(store: Store, zoneData: string, rows: readonly CheckedSchedule[]): Promise<string[]> {
  const suspects = rows.filter((row) => repairOrNone(row, zoneData).length > 0).map(({ id }) => id)
  if (suspects.length === 0) return []
  return store.transaction(async (session) => {
    const locked = await lockForReconciling(session, suspects)
    const repairs = locked.flatMap((row) => repairOrNone(row, zoneData))
    // An `after` schedule without a cursor may hang on an open run: that is as it should be.
    const hanging = repairs.filter(({ hangs }) => hangs)
    const wrong = repairs.filter(({ hangs }) => !hangs)
    if (wrong.length > 0) await repairCursors(session, wrong)
    const done = wrong.filter(({ isDone }) => isDone)
    if (done.length > 0) await finishSchedules(session, done)
    const restarted = await restartAfter(
      session,
      hanging.map(({ id }) => id),
    )
    return [...wrong, ...hanging.filter(({ id }) => restarted.has(id))].map(({ name }) => name)
  })
}

/** One whose timing cannot be computed is the doctor's, and keeps no other from being mended. */
function repairOrNone(row: CheckedSchedule, zoneData: string): Repair[] {
  try {
    return repairOf(row, zoneData)
  } catch {
    return []
  }
}

function repairOf(row: CheckedSchedule, zoneData: string): Repair[] {
  const own = zoneDataOf(row.timing, zoneData)
  const repair = {
    id: row.id,
    name: row.name,
    zoneData: own,
    hangs: false,
    isDone: false,
    deleteWhenDone: false,
  }
  if (row.state === 'active' && row.timing.kind === 'after') {
    // What waits is right whenever it is; what does not may hang on a run, and a statement of its own tells.
    if (row.next_at !== null && wakesFor(row, row.next_at.getTime())) return []
    const hangs = row.next_at === null && row.cursor_version === row.version
    return [{ ...repair, nextAt: null, wakeAt: null, hangs }]
  }
  if (row.state !== 'active') {
    // One that is not active has no cursor, or ticks would find it due and take nothing.
    const wakeAt = row.state === 'finished' ? null : (row.state_until?.getTime() ?? null)
    const isRight = row.next_at === null && row.cursor_version === row.version
    return isRight ? [] : [{ ...repair, nextAt: null, wakeAt, zoneData: row.zone_data }]
  }
  const isOfOtherData = own !== null && row.zone_data !== own
  if (isOfOtherData && row.next_at !== null && wakesFor(row, row.next_at.getTime())) return []
  const nextAt = expectedCursor(row)
  if (nextAt === null)
    return [{ ...repair, nextAt, wakeAt: null, isDone: true, deleteWhenDone: row.delete_when_done }]
  if (nextAt === (row.next_at?.getTime() ?? null) && wakesFor(row, nextAt)) return []
  return [{ ...repair, nextAt, wakeAt: nextAt }]
}

function expectedCursor({ timing, until_at, start_at, decided_through }: CheckedSchedule): Instant | null {
  const grid = gridOf({ timing: compileTiming(timing), until: until_at?.getTime() ?? null })
  const beforeStart = timing.kind === 'once' ? Number.NEGATIVE_INFINITY : start_at.getTime() - 1
  return grid.next(Math.max(decided_through?.getTime() ?? Number.NEGATIVE_INFINITY, beforeStart))
}

/** Whether the cursor row belongs to this schedule as it is, and wakes a scheduler for this plan time. */
function wakesFor(row: CheckedSchedule, nextAt: Instant): boolean {
  const { cursor_version, version, wake_at, decided_through, now } = row
  if (cursor_version !== version || wake_at === null || decided_through === null) return false
  const latest = Math.max(nextAt, now.getTime()) + LATEST_WAKE_MS
  return nextAt > decided_through.getTime() && wake_at.getTime() <= latest
}
