import type { Schedule } from '../../api/client.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Moment } from '../../time/moment.tsx'

const TONES: Readonly<Record<Schedule['state'], Tone>> = {
  active: 'good',
  paused: 'warn',
  broken: 'bad',
  finished: 'quiet',
}

/** The state, and why it is not active. */
export function ScheduleState({ schedule: { state, stateNote } }: { schedule: Schedule }) {
  return (
    <div className="grid max-w-56 justify-items-start gap-0.5">
      <Badge tone={TONES[state]}>{state}</Badge>
      {stateNote !== null && state !== 'finished' && (
        <div className={`text-xs [overflow-wrap:anywhere] ${state === 'broken' ? 'text-bad' : 'text-muted'}`}>
          {stateNote.reason}
          {stateNote.by !== null && <span className="text-muted"> by {stateNote.by}</span>}{' '}
          <Moment at={stateNote.since} className="text-muted" />
        </div>
      )}
    </div>
  )
}
