/**
 * Timings by themselves: when things are due, in every zone, with no clock and no database.
 *
 * @example
 * ```ts
 * import { cron, describe, next } from 'escapement/time'
 *
 * const timing = cron('0 9 * * MON-FRI', { zone: 'America/New_York' })
 * describe(timing) // "At 09:00, Monday to Friday, New York time"
 * next(timing, new Date()) // a Date, or null when none is left
 * ```
 */
import { type InstantInput, readInstant } from './instant.js'
import { readOrThrow } from './report.js'
import { compileTiming, type Timing } from './timing.js'

export { describe } from './describe.js'
export {
  type Duration,
  type DurationFields,
  type DurationInput,
  durationToMs,
  formatDuration,
  parseDuration,
} from './duration.js'
export type { Instant, InstantInput } from './instant.js'
export { type Preview, type PreviewedOccurrence, type PreviewOptions, previewOccurrences } from './preview.js'
export {
  type AfterTiming,
  after,
  type Bounds,
  type CompiledTiming,
  type CronTiming,
  compileTiming,
  cron,
  type EveryTiming,
  every,
  type OnceTiming,
  once,
  parseTiming,
  type RRuleTiming,
  resolveLimit,
  rrule,
  type Timing,
} from './timing.js'
export type { FoldPolicy, GapPolicy } from './wall-mapping.js'
export { zoneDataVersion } from './zone.js'

/** The first plan time strictly after an instant; null when none is left. */
export function next(timing: Timing, after: InstantInput): Date | null {
  return dateOrNull(compileTiming(timing).next(instant(after, 'after')))
}

/** The last plan time strictly before an instant; null when there is none. */
export function previous(timing: Timing, before: InstantInput): Date | null {
  return dateOrNull(compileTiming(timing).previous(instant(before, 'before')))
}

/** Plan times from `from` (inclusive) to `to` (exclusive), oldest first, at most `limit`. */
export function between(timing: Timing, from: InstantInput, to: InstantInput, limit: number): Date[] {
  return compileTiming(timing)
    .between(instant(from, 'from'), instant(to, 'to'), limit)
    .map((found) => new Date(found))
}

function instant(input: InstantInput, field: string): number {
  return readOrThrow('option_invalid', (report) => readInstant(input, field, report))
}

function dateOrNull(found: number | null): Date | null {
  return found === null ? null : new Date(found)
}
