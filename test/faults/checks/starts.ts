import type { Role } from '../cast.js'
import { at, type Report } from './finding.js'
import { isLaned } from './lanes.js'
import type { Ledger } from './ledger.js'
import { LIMITED_JOB } from './limits.js'
import type { Storms } from './storms.js'
import { firstStarts, type Witnesses } from './witnesses.js'

export interface StartCounts {
  /** How many handlers were to begin in peace. */
  inPeace: number
  longestMs: number
}

/** A handler begins soon after its run is there: at once in peace, and soon after the last of the faults that held it up. */
export function checkStarts(
  cast: readonly Role[],
  witnesses: Witnesses,
  { runs, names }: Ledger,
  { storms, horizon }: { storms: Storms; horizon: number },
  report: Report,
): StartCounts {
  const counts = { inPeace: 0, longestMs: 0 }
  const starts = firstStarts(witnesses)
  const laned = new Set(cast.flatMap(({ name, policies }) => (isLaned(policies) ? [name] : [])))
  for (const { id, scheduleId, createdAt, job } of runs) {
    const name = names.get(scheduleId ?? '') ?? ''
    const start = starts.get(id)
    // Those that wait for each other begin when they may; one that never began is the matter of its end.
    if (start === undefined || createdAt > horizon || laned.has(name) || job === LIMITED_JOB) continue
    if (storms.isPeaceful(createdAt)) {
      counts.inPeace += 1
      counts.longestMs = Math.max(counts.longestMs, start - createdAt)
    }
    if (start > storms.dueBy(createdAt))
      report('late', id, `${name || job} was there at ${at(createdAt)}, and began at ${at(start)}`)
  }
  if (counts.inPeace === 0)
    report('late', 'all handlers', 'none was to begin in peace: nobody can say whether they do in time')
  return counts
}
