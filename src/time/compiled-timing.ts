import { mapAfter } from './after.js'
import { mapCron } from './cron.js'
import { mapEvery } from './every.js'
import type { Instant } from './instant.js'
import { mapOnce } from './once.js'
import { quote, type Report, readOrThrow } from './report.js'
import { mapRRule } from './rrule.js'
import type { Timing } from './timing.js'
import { TimingCache } from './timing-cache.js'
import type { MappedPattern, WallSource } from './wall-mapping.js'

/** A timing made ready to answer; immutable as seen from outside, so it can be shared. */
export interface CompiledTiming {
  readonly timing: Timing
  /** The first plan time strictly after; null when none is left. */
  next(after: Instant): Instant | null
  /** The last plan time strictly before; null when there is none. */
  previous(before: Instant): Instant | null
  /** Plan times from `from` (inclusive) to `to` (exclusive), oldest first, at most `limit`. */
  between(from: Instant, to: Instant, limit: number): Instant[]
  /** How plan times come from wall time; absent for those in elapsed time. */
  readonly source?: WallSource | undefined
}

/** Enough for every distinct timing of a busy tick; some kilobytes each. */
export const COMPILED_TIMINGS_KEPT = 4_000
const cache = new TimingCache(COMPILED_TIMINGS_KEPT)

/** One compiled timing for all that are equal. */
export function sharedTiming(timing: Timing): CompiledTiming {
  const known = cache.get(timing)
  if (known !== undefined) return known
  const compiled = compile(timing)
  cache.set(compiled)
  return compiled
}

function compile(timing: Timing): CompiledTiming {
  const mapped = readOrThrow('timing_invalid', (report) => mapTiming(timing, report))
  // The answers of `after` hold for one question each.
  const answers = timing.kind === 'after' ? mapped : remembering(mapped)
  return { ...answers, timing, between: (from, to, limit) => listBetween(answers, from, to, limit) }
}

function mapTiming(timing: Timing, report: Report): MappedPattern | undefined {
  switch (timing.kind) {
    case 'once':
      return mapOnce(timing, report)
    case 'every':
      return mapEvery(timing, report)
    case 'cron':
      return mapCron(timing, report)
    case 'after':
      return mapAfter(timing, report)
    case 'rrule':
      return mapRRule(timing, report)
    default:
      // A row that a newer version wrote.
      return report(
        'timing.kind',
        `${quote((timing as { kind: unknown }).kind)} – is not known to this version`,
      )
  }
}

/**
 * Remembers the latest answer together with all questions it holds for: `next` is the same for every instant from
 * the one asked about up to the answer. Schedules that share a timing are planned at nearly the same
 * instant, so all but the first of them cost two comparisons.
 */
function remembering(mapped: MappedPattern): MappedPattern {
  let from = 0
  let until = 0
  return {
    ...mapped,
    next(after) {
      if (after >= from && after < until) return until
      const found = mapped.next(after)
      if (found !== null) {
        from = after
        until = found
      }
      return found
    },
  }
}

/** Lists plan times by asking for one after the other. */
export function listBetween(mapped: MappedPattern, from: Instant, to: Instant, limit: number): Instant[] {
  const found: Instant[] = []
  let at = limit > 0 ? mapped.next(from - 1) : null
  while (at !== null && at < to) {
    found.push(at)
    at = found.length < limit ? mapped.next(at) : null
  }
  return found
}
