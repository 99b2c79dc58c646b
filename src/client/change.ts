/**
 * What every verb does. It locks the cursors of its schedules, reads the time, **settles** what is due by then (see
 * `settling.ts`), and then writes what it changes with a new cursor after that boundary (see `changed-row.ts`). So an edit never
 * undoes or repeats a decision, and the change log can tell which version each plan time met.
 */
import { actOf } from '../events/schedule-events.js'
import type { ScheduleContent } from '../schedules/schedule.js'
import { listLastEnds } from '../store/queries/after.js'
import { insertChanges } from '../store/queries/changes.js'
import { finishSchedules } from '../store/queries/finishing.js'
import { enterLanes, leaveLanes, listOpenSchedules } from '../store/queries/lanes.js'
import { findSchedules, updateSchedules, type Written } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import type { ChangeContext } from './change-context.js'
import { type ChangedTo, writtenOf } from './changed-row.js'
import { BacklogLeft, settle } from './settling.js'

/** What a verb wants a schedule to be; null where it wants no change. */
export type Change = (row: ScheduleRow) => ChangedTo | null

/** Settles and changes rows whose cursors are locked. Returns the ids of those that changed. */
export async function changeSchedules(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
  change: Change,
): Promise<string[]> {
  const changes = rows.flatMap((row) => {
    const to = change(row)
    return to === null ? [] : [{ row, to }]
  })
  if (changes.length === 0) return []
  const isSettled = await settle(
    context,
    changes.map(({ row }) => row),
  )
  if (!isSettled) throw new BacklogLeft()
  await changeLanes(context, changes)
  const open = await openRunsOf(context, changes)
  const written = changes.map(({ row, to }) =>
    writtenOf(context, row, { ...to, hasOpenRun: open.has(row.id) }),
  )
  await writeSchedules(
    context,
    changes.map(({ row }) => row),
    written,
  )
  return written.map(({ id }) => id)
}

/** Writes rows whose cursors are locked, and deletes those that are finished and ask for it. */
export async function writeSchedules(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
  written: readonly Written[],
): Promise<void> {
  await updateSchedules(context.session, written, context.now)
  const deleted = await deleteDone(context, written)
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  for (const one of written) {
    const isFinished = one.state === 'finished' && states.get(one.id) !== 'finished'
    context.acts.push(actOf(context.action, one, { isFinished, isDeleted: deleted.has(one.id) }))
  }
}

/** That they are finished is in the change that was just written; that they are deleted is another. */
export async function deleteDone(
  { session, ended }: ChangeContext,
  written: readonly Written[],
): Promise<Set<string>> {
  const done = written.filter(({ state, content }) => state === 'finished' && content.policies.deleteWhenDone)
  if (done.length === 0) return new Set()
  const last = await findSchedules(
    session,
    done.map(({ id }) => id),
  )
  for (const row of last) ended.set(row.name, row)
  const deleted = await finishSchedules(
    session,
    done.map(({ id }) => ({ id, deleteWhenDone: true })),
  )
  return new Set(deleted.map(({ id }) => id))
}

/** In a statement after the lock: what ended before we had it must not be missed. */
async function openRunsOf(
  { session }: ChangeContext,
  changes: readonly { row: ScheduleRow; to: ChangedTo }[],
): Promise<Set<string>> {
  const after = changes.filter(({ row, to }) => (to.content ?? row).timing.kind === 'after')
  if (after.length === 0) return new Set()
  return listOpenSchedules(
    session,
    after.map(({ row }) => row.id),
  )
}

/** Open runs follow the overlap policy as it is now. */
async function changeLanes(
  { session }: ChangeContext,
  changes: readonly { row: ScheduleRow; to: ChangedTo }[],
): Promise<void> {
  const allows = ({ policies }: { policies: ScheduleContent['policies'] }) => policies.overlap === 'allow'
  const turned = changes.filter(({ row, to }) => to.content && allows(to.content) !== allows(row))
  const ids = (allowing: boolean) =>
    turned.filter(({ to }) => allows(to.content!) === allowing).map(({ row }) => row.id)
  if (ids(false).length > 0) await enterLanes(session, ids(false))
  if (ids(true).length > 0) await leaveLanes(session, ids(true))
}

/**
 * Ends pauses and cooldowns whose time has come: plan times up to that time were paused, those after it are the scheduler's, however
 * late somebody comes to look. Returns whether there were any.
 */
export async function endPauses(context: ChangeContext, rows: readonly ScheduleRow[]): Promise<boolean> {
  const endOf = (row: ScheduleRow) =>
    row.state === 'paused' || row.state === 'broken' ? (row.state_until?.getTime() ?? null) : null
  const ended = rows.filter((row) => (endOf(row) ?? Number.POSITIVE_INFINITY) <= context.now)
  const after = ended.filter(({ timing }) => timing.kind === 'after').map(({ id }) => id)
  const ends = await listLastEnds(context.session, after)
  for (const until of new Set(ended.map(endOf))) {
    const together = ended.filter((row) => endOf(row) === until)
    const at = { ...context, now: until!, action: 'resume', actor: null }
    await changeSchedules(at, together, ({ id }) => ({
      state: { is: 'active' },
      isEdit: false,
      lastEndAt: ends.get(id),
    }))
  }
  return ended.length > 0
}

/** An entry in the change log for what changes no content. */
export function logAction(context: ChangeContext, row: ScheduleRow, action: string): Promise<void> {
  const { session, actor, now } = context
  const { id, name, version, state, decided_through } = row
  const boundary = decided_through.getTime()
  return insertChanges(
    session,
    [{ id, name, version, action, actor, before: null, after: null, state, boundary }],
    now,
  )
}
