/**
 * When the rules of a zone change, the plan times to come move, and cursors that were computed before are wrong. Each
 * schedule keeps the version of the zone data that computed its cursor. Whoever has newer data and locks such a row, a
 * verb, a tick or the upkeep, first computes its cursor anew: a cursor of one version and a grid of another would lose an
 * occurrence or double it. One with older data leaves them.
 *
 * An occurrence that waits keeps waiting, at its new plan time: the one of the newer data that is nearest to the cursor.
 * If that has passed, it is due now, and a tick treats it as any that is late. Other plan times that the newer data have
 * in the past and that nobody has decided, since nobody could know of them, are recorded as missed. The change
 * log has an entry `zone_data` where the cursor, or the end that a limit leads to, has moved.
 */
import { boundsOf, costOfBounds } from '../schedules/bounds.js'
import type { Grid } from '../schedules/catch-up.js'
import { gridOf, planSkipped } from '../schedules/plan.js'
import { type PlannedSchedule, recordPlans } from '../store/queries/recording.js'
import { markZoneData } from '../store/queries/zone-data.js'
import { contentOf, type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Instant } from '../time/instant.js'
import { isNewer, zoneDataOf } from '../time/zone-data.js'
import { writeSchedules } from './change.js'
import type { ChangeContext } from './change-context.js'
import { cursorAfter, writtenOf } from './changed-row.js'

export interface ZoneDataReport {
  /** Names of those whose plan times moved. */
  moved: string[]
  /** Ids of those whose cursors are right by ours as well. */
  kept: string[]
  /** Ids of those that this runtime cannot compute, and why; they stay as they are. */
  unmovable: { id: string; error: string }[]
  /** False where it would have taken too long to compute all of them at once. */
  isComplete: boolean
}

/** Plan times that are counted in one transaction: its locks wait for it. */
const COUNTED_AT_ONCE = 100_000

/** Computes the cursors of older zone data anew, of rows whose cursors are locked. Without any it asks the database nothing. */
export async function applyZoneDataTo(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
): Promise<ZoneDataReport> {
  const older = rows.filter((row) => isOlder(row, context.zoneData))
  const report: ZoneDataReport = { moved: [], kept: [], unmovable: [], isComplete: true }
  if (older.length === 0) return report
  const kept: ScheduleRow[] = []
  const moves: Move[] = []
  let counted = 0
  for (const row of older) {
    if (counted > COUNTED_AT_ONCE) report.isComplete = false
    if (!report.isComplete) break
    counted += costOfBounds(row)
    try {
      const move = moveOf(row, context)
      if (move === null) kept.push(row)
      else moves.push(move)
    } catch (error) {
      report.unmovable.push({ id: row.id, error: (error as Error).message })
    }
  }
  await keepCursors(context, kept)
  await moveCursors({ ...context, action: 'zone_data', actor: null }, moves)
  report.kept = kept.map(({ id }) => id)
  report.moved = moves.map(({ row }) => row.name)
  return report
}

/** One without a cursor is damaged: reconciling gives it one. */
export function isOlder(
  { state, zone_data, next_at }: Pick<ScheduleRow, 'state' | 'zone_data' | 'next_at'>,
  zoneData: string,
): boolean {
  return state === 'active' && next_at !== null && zone_data !== null && isNewer(zoneData, zone_data)
}

async function keepCursors(
  { session, zoneData }: ChangeContext,
  rows: readonly ScheduleRow[],
): Promise<void> {
  const marks = rows.map(({ id, timing }) => ({ id, zoneData: zoneDataOf(timing, zoneData) }))
  if (marks.length > 0) await markZoneData(session, marks)
}

interface Move {
  row: ScheduleRow
  bounds: ReturnType<typeof boundsOf>
  /** What is decided with the move. */
  planned: PlannedSchedule
}

async function moveCursors(context: ChangeContext, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return
  const plans = moves.map(({ planned }) => planned)
  await recordPlans(context.session, plans, context.channel)
  const written = moves.map(({ row, bounds, planned }) =>
    writtenOf(context, row, { isEdit: false }, { bounds, decidedThrough: planned.plan.decidedThrough }),
  )
  await writeSchedules(
    context,
    moves.map(({ row }) => row),
    written,
  )
}

/** Null where nothing moves. */
function moveOf(row: ScheduleRow, { now, scopes }: ChangeContext): Move | null {
  const content = contentOf(row)
  const bounds = boundsOf(content, row.created_at.getTime())
  const decided = row.decided_through.getTime()
  const cursor = row.next_at!.getTime()
  const isEndKept = bounds.untilAt === (row.until_at?.getTime() ?? null)
  if (isEndKept && cursorAfter(content, bounds, decided) === cursor) return null

  const plannable = { ...toPlannable(row, scopes.get(row.job) ?? []), until: bounds.untilAt }
  const waiting = nearest(gridOf(plannable), cursor)
  const isLate = waiting !== null && waiting > decided && waiting <= now
  const through = Math.max(decided, isLate ? waiting - 1 : now)
  const after = Math.max(decided, bounds.startAt - 1)
  const missed = planSkipped(plannable, { after, through, reason: 'missed' })
  // The cursor stays here and moves with the schedule, in the statement after this one.
  const planned = { schedule: row, plan: { ...missed, nextAt: cursor }, wakeAt: cursor }
  return { row, bounds, planned }
}

function nearest(grid: Grid, at: Instant): Instant | null {
  const [before, after] = [grid.previous(at), grid.next(at - 1)]
  if (before === null || after === null) return before ?? after
  return at - before < after - at ? before : after
}
