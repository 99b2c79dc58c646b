import { actOf } from '../events/schedule-events.js'
import { insertChanges } from '../store/queries/changes.js'
import { deleteSchedules } from '../store/queries/schedules.js'
import { contentOf, type ScheduleRow } from '../store/rows.js'
import type { ChangeContext } from './change-context.js'
import { BacklogLeft, settle } from './settling.js'

/** Deletes rows whose cursors are locked, after what is due of them; the change log says what they were. */
export async function deleteLocked(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
  runs: 'keep' | 'delete',
): Promise<void> {
  if (!(await settle(context, rows))) throw new BacklogLeft()
  const { session, actor, now } = context
  const changes = rows.map((row) => ({
    id: row.id,
    name: row.name,
    version: row.version,
    action: 'delete',
    actor,
    before: contentOf(row),
    after: null,
    state: row.state,
    boundary: Math.max(now, row.decided_through.getTime()),
  }))
  await insertChanges(session, changes, now)
  await deleteSchedules(
    session,
    rows.map(({ id }) => id),
    { runs },
  )
  context.acts.push(...rows.map((row) => actOf('delete', row)))
}
