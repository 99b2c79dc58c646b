import type { Schedule } from '../../../api/client.ts'

export function NonePassed() {
  return <p className="text-muted">No plan time has passed yet.</p>
}

/** Why the timeline ends where it does. */
export function NoneLeft({ schedule, isNone }: { schedule: Schedule; isNone: boolean }) {
  return <p className="text-muted">{endOf(schedule, isNone)}</p>
}

function endOf({ timing, state, nextAt }: Schedule, isNone: boolean): string {
  if (timing.kind !== 'after' || state === 'finished')
    return isNone ? 'No plan time is left.' : 'That is the last one.'
  if (state !== 'active') return 'The next one follows when it is resumed.'
  if (nextAt === null) return 'The next one follows the end of the open run.'
  return 'Each later one follows the end of the run before it.'
}
