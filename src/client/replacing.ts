import { type CancelledRun, replaceOpen } from '../store/queries/cancelling.js'
import { notify } from '../store/queries/notifying.js'
import type { PlannedSchedule } from '../store/queries/recording.js'
import type { Session } from '../store/store.js'

/**
 * Cancels the open runs that new ones take the place of, before those are recorded; the cursors are locked. A handler that
 * is at work on one, in whatever process, is told at the commit instead of at its next renewal.
 */
export async function replaceRuns(
  session: Session,
  channel: string,
  planned: readonly PlannedSchedule[],
): Promise<CancelledRun[]> {
  const replaced = await replaceOpen(session, planned)
  if (replaced.some(({ was_running }) => was_running)) await notify(session, channel, 'cancelled')
  return replaced
}
