import type { Schedule } from '../api/client.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Moment } from '../time/moment.tsx'

const TONES: Readonly<Record<Schedule['state'], Tone>> = {
  active: 'good',
  paused: 'warn',
  broken: 'bad',
  finished: 'quiet',
}

export function ScheduleState({ schedule: { state } }: { schedule: Schedule }) {
  return <Badge tone={TONES[state]}>{state}</Badge>
}

/** Why it is not active, by whom, and since when. */
export function StateNote({ schedule: { state, stateNote } }: { schedule: Schedule }) {
  if (stateNote === null || state === 'finished') return null
  const { reason, by, since } = stateNote
  return (
    <div className={`text-xs [overflow-wrap:anywhere] ${state === 'broken' ? 'text-bad' : 'text-muted'}`}>
      {reason ?? 'without a reason'}
      {by !== null && `, by ${by}`}, <Moment at={since} />
    </div>
  )
}
