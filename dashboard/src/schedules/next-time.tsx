import type { Schedule } from '../api/client.ts'
import { Moment } from '../time/moment.tsx'
import { zoneOf } from './timing-words.ts'

/** The next plan time: how far away, and when that is here. */
export function NextTime({ schedule: { state, nextAt, timing, stateNote } }: { schedule: Schedule }) {
  const zone = zoneOf(timing)
  if (state === 'paused' && stateNote?.until) {
    return (
      <span className="text-muted">
        resumes <Moment at={stateNote.until} zone={zone} />
      </span>
    )
  }
  if (state !== 'active') return <span className="text-muted max-md:hidden">–</span>
  if (nextAt === null) return <span className="text-muted">after the open run</span>
  return (
    <span className="whitespace-nowrap md:grid">
      <Moment at={nextAt} zone={zone} />
      <span className="text-muted max-md:before:content-['_·_'] md:text-xs">
        <Moment at={nextAt} zone={zone} show="local" />
      </span>
    </span>
  )
}
