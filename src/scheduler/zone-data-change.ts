/**
 * When the rules of a zone change, the plan times to come move, and cursors that were computed before are wrong. Each
 * schedule keeps the version of the zone data that computed its cursor. A scheduler with newer data computes the
 * cursors of older ones anew, once; one with older data leaves them. An index finds them, and is empty most of the time.
 *
 * An occurrence that waits keeps waiting, at its new plan time: the one of the newer data that is nearest to the cursor.
 * If that has passed, it is due now, and a tick treats it as any that is late. Other plan times that the newer data have
 * in the past and that nobody has decided, since nobody could know of them, are recorded as missed. The change
 * log has an entry `zone_data` where the cursor, or the end that a limit leads to, has moved.
 *
 * While schedulers with both versions run, a tick of the older one moves a cursor by its own data; reconciling of the
 * newer one then finds and mends it.
 */
import { type ChangeContext, cursorAfter, writeSchedules, writtenOf } from '../client/change.js'
import { type VerbParts, withLocked } from '../client/verb.js'
import type { Logger } from '../logger.js'
import { boundsOf } from '../schedules/bounds.js'
import type { Grid } from '../schedules/catch-up.js'
import { gridOf, planSkipped } from '../schedules/plan.js'
import { type PlannedSchedule, recordPlans } from '../store/queries/planning.js'
import { listOlderZoneData, markZoneData } from '../store/queries/zone-data.js'
import { contentOf, type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Instant } from '../time/instant.js'
import { TIMING_KINDS } from '../time/timing.js'
import { isNewer, zoneDataOf } from '../time/zone-data.js'
import { BEFORE_ALL_IDS } from './reconcile.js'

const CHUNK = 1_000

/**
 * Goes through all schedules of older zone data, a chunk at each step, and yields the names of those whose plan times
 * moved. A chunk that fails is left for the next time.
 */
export async function* applyZoneData(parts: VerbParts, logger: Logger): AsyncGenerator<string[], void> {
  const { store, zoneData } = parts
  let after = { zone_data: '', id: BEFORE_ALL_IDS }
  for (;;) {
    const found = await listOlderZoneData(store, { zoneData, after, kinds: TIMING_KINDS, limit: CHUNK })
    if (found.length === 0) return
    after = found.at(-1)!
    const names = found.map(({ name }) => name)
    yield await applyTo(parts, names).catch((error) => {
      logger.error({ err: error, schedules: names.length }, 'newer zone data could not be applied')
      return []
    })
  }
}

async function applyTo(parts: VerbParts, names: readonly string[]): Promise<string[]> {
  const options = { action: 'zone_data', actor: undefined }
  return withLocked(parts, names, options, async (context, rows) => {
    const moves = rows.filter((row) => isOlder(row, context)).flatMap((row) => moveOrNone(row, context))
    await keepCursors(
      context,
      moves.filter(({ planned }) => planned === null).map(({ row }) => row),
    )
    const moved = moves.flatMap(({ row, planned }) => (planned === null ? [] : [{ row, planned }]))
    await moveCursors(context, moved)
    return moved.map(({ row }) => row.name)
  })
}

async function keepCursors(
  { session, zoneData }: ChangeContext,
  rows: readonly ScheduleRow[],
): Promise<void> {
  const marks = rows.map(({ id, timing }) => ({ id, zoneData: zoneDataOf(timing, zoneData) }))
  if (marks.length > 0) await markZoneData(session, marks)
}

async function moveCursors(
  context: ChangeContext,
  moves: readonly { row: ScheduleRow; planned: PlannedSchedule }[],
): Promise<void> {
  if (moves.length === 0) return
  const plans = moves.map(({ planned }) => planned)
  await recordPlans(context.session, plans, context.channel)
  const written = moves.map(({ row, planned }) =>
    writtenOf(context, row, { isEdit: false }, planned.plan.decidedThrough),
  )
  const rows = moves.map(({ row }) => row)
  await writeSchedules(context, rows, written)
}

/** One without a cursor is damaged: reconciling gives it one. */
function isOlder({ state, zone_data, next_at }: ScheduleRow, { zoneData }: ChangeContext): boolean {
  return state === 'active' && next_at !== null && zone_data !== null && isNewer(zoneData, zone_data)
}

interface Move {
  row: ScheduleRow
  /** What is decided with the move; null where nothing has moved. */
  planned: PlannedSchedule | null
}

/** One whose timing this runtime cannot compute stays as it is. */
function moveOrNone(row: ScheduleRow, context: ChangeContext): Move[] {
  try {
    return [{ row, planned: moveOf(row, context) }]
  } catch {
    return []
  }
}

function moveOf(row: ScheduleRow, { now, scopes }: ChangeContext): PlannedSchedule | null {
  const content = contentOf(row)
  const bounds = boundsOf(content, row.created_at.getTime())
  const decided = row.decided_through.getTime()
  const cursor = row.next_at!.getTime()
  if (
    cursorAfter(content, bounds, decided) === cursor &&
    bounds.untilAt === (row.until_at?.getTime() ?? null)
  )
    return null

  const plannable = { ...toPlannable(row, scopes.get(row.job) ?? []), until: bounds.untilAt }
  const waiting = nearest(gridOf(plannable), cursor)
  const isLate = waiting !== null && waiting > decided && waiting <= now
  const through = Math.max(decided, isLate ? waiting - 1 : now)
  const after = Math.max(decided, bounds.startAt - 1)
  const missed = planSkipped(plannable, { after, through, reason: 'missed' })
  // The cursor stays here and moves with the schedule, in the statement after this one.
  return { schedule: row, plan: { ...missed, nextAt: cursor }, wakeAt: cursor }
}

function nearest(grid: Grid, at: Instant): Instant | null {
  const [before, after] = [grid.previous(at), grid.next(at - 1)]
  if (before === null || after === null) return before ?? after
  return at - before < after - at ? before : after
}
