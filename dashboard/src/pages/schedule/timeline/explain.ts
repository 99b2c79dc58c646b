import type { Schedule } from '../../../api/client.ts'
import type { Kind, Occurrence } from './kinds.ts'

type Policies = Pick<Schedule, 'catchUp' | 'catchUpWindow' | 'overlap'>

const ENDED: Readonly<Partial<Record<Kind, string>>> = {
  succeeded: 'It ran, and succeeded.',
  failed: 'It ran, and failed: its attempts are used up.',
  running: 'It is running.',
  pending: 'Its run waits to be begun.',
  retrying: 'An attempt failed; its run waits for the next one.',
  cancelled: 'Its run was cancelled.',
  upcoming: 'It is to run.',
  due: 'Due: its time has come, and no scheduler has decided it yet.',
}

/** What became of it, or is to become of it, and why, in a sentence. Policies are those of now. */
export function explain({ reason }: Occurrence, kind: Kind, policies: Policies): string {
  if (kind === 'toBeSkipped') return toBeSkipped(reason!)
  // A run that was turned away at its start has no reason of its own.
  return ENDED[kind] ?? skipped(reason ?? 'gate', policies)
}

function toBeSkipped(reason: NonNullable<Occurrence['reason']>): string {
  if (reason === 'operator') return 'To be skipped: an operator wishes it so.'
  return `To be skipped: the schedule is ${reason}, and runs nothing until it is resumed.`
}

function skipped(
  reason: NonNullable<Occurrence['reason']>,
  { catchUp, catchUpWindow, overlap }: Policies,
): string {
  switch (reason) {
    case 'missed':
      return `Missed: no scheduler was running in time, and ${caughtUp(catchUp)}.`
    case 'expired':
      return catchUpWindow === null
        ? 'Missed: a scheduler came to it too late to catch up with it.'
        : `Missed: a scheduler came to it more than ${catchUpWindow} after its time, which is the window of catch-up.`
    case 'paused':
      return 'Skipped: the schedule was paused.'
    case 'broken':
      return 'Skipped: the schedule was broken; its breaker had taken it out after failures.'
    case 'overlap':
      return `Skipped: an earlier run was still open, and overlap is “${overlap}”.`
    case 'operator':
      return 'Skipped: an operator wished it so.'
    case 'gate':
      return 'Skipped: the gate of its job was closed.'
    case 'no_scope':
      return 'Skipped: its job gave no scope to run it for.'
  }
}

function caughtUp(catchUp: Policies['catchUp']): string {
  if (catchUp === 'none') return 'catch-up is “none”: what has passed is left'
  if (catchUp === 'latest') return 'catch-up is “latest”: of those that have passed only the newest runs'
  return 'it was not caught up with'
}
