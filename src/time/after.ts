import { type DurationInput, formatDuration, readDuration, readElapsed } from './duration.js'
import { LAST_INSTANT } from './instant.js'
import { quote, type Report } from './report.js'
import type { MappedPattern } from './wall-mapping.js'

/** A fixed span after the last run has ended; the first one after enabling. */
export interface AfterTiming {
  kind: 'after'
  /** Elapsed time: a day is 24 hours here. `durationToMs` gives its milliseconds. */
  interval: string
}

/** `after`: a span after the last run has ended. */
export interface AfterFields {
  /** How long after the end of the last run, and at first after the schedule was enabled. */
  interval: DurationInput
}

export function readAfter(fields: AfterFields, field: string, report: Report): AfterTiming | undefined {
  const at = `${field}.interval`
  const milliseconds = readElapsed(fields.interval, at, report)
  if (milliseconds === undefined) return undefined
  if (milliseconds <= 0) return report(at, `${quote(fields.interval)} – must be longer than 0`)
  return { kind: 'after', interval: formatDuration(readDuration(fields.interval, at, report)!) }
}

/**
 * No grid exists: the next occurrence hangs on when the last run ends. `next(x)` answers for a run that ended at
 * `x`, and `previous(x)` for which end `x` would have been the answer.
 */
export function mapAfter(timing: AfterTiming, report: Report): MappedPattern | undefined {
  const interval = readElapsed(timing.interval, 'timing.interval', report)
  if (interval === undefined) return undefined
  return {
    next: (after) => (after + interval <= LAST_INSTANT ? after + interval : null),
    previous: (before) => before - interval,
  }
}
