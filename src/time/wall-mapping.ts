/**
 * The one place where wall time becomes instants.
 *
 * A pattern knows which wall times match and nothing of zones. A zone is a row of segments with one offset each.
 * Inside a segment the mapping is a subtraction, so a search walks segment by segment and asks the pattern for a
 * match within the wall times that the segment shows. Two things happen at the seams:
 *
 * - **Gap**: the offset grows, and the wall times between never show. `shift` reads them with the offset before the
 *   gap, so they come as much after the seam as they lay behind it on the wall (02:30 becomes 03:30); `skip` drops them.
 * - **Fold**: the offset shrinks, and some wall times show twice. `first` hides them in the later segment, `second`
 *   in the earlier one, `both` in neither.
 *
 * A shifted wall time may land on one that matches by itself: both are the same instant, which is given once.
 */
import { DAY_MS, type WallTime } from './calendar.js'
import { FIRST_INSTANT, type Instant, LAST_INSTANT } from './instant.js'
import { startSearch, step } from './search.js'
import type { Zone } from './zone.js'
import type { Segment } from './zone-segments.js'

export type GapPolicy = 'shift' | 'skip'
export type FoldPolicy = 'first' | 'second' | 'both'

export interface WallPolicy {
  readonly gap: GapPolicy
  readonly fold: FoldPolicy
}

export const SHIFT_AND_FIRST: WallPolicy = { gap: 'shift', fold: 'first' }

/** Which wall times match. `Infinity` and `-Infinity` stand for none. */
export interface WallPattern {
  atOrAfter(wall: WallTime): WallTime
  atOrBefore(wall: WallTime): WallTime
}

/** Where instants come from, for those who explain them. */
export interface WallSource {
  readonly pattern: WallPattern
  readonly zone: Zone
  readonly policy: WallPolicy
}

export interface MappedPattern {
  /** Absent for what is computed in elapsed time, which no zone moves. */
  readonly source?: WallSource | undefined
  next(after: Instant): Instant | null
  previous(before: Instant): Instant | null
}

/** More than any two offsets of one zone differ (a day, where the date line was moved). */
const WIDEST_SHIFT_MS = 2 * DAY_MS

/**
 * How many segments in a row may hold no occurrence before the search gives up. A date and weekday come together
 * again within 40 years, and each such year costs at most three segments: what a zone's gaps have
 * swallowed for so long they will swallow for ever.
 */
const MAX_EMPTY_SEGMENTS = 120

export function mapPattern(pattern: WallPattern, zone: Zone, policy: WallPolicy): MappedPattern {
  return {
    source: { pattern, zone, policy },
    next: (after) => nextInstant(pattern, zone, policy, after),
    previous: (before) => previousInstant(pattern, zone, policy, before),
  }
}

function nextInstant(pattern: WallPattern, zone: Zone, policy: WallPolicy, after: Instant): Instant | null {
  startSearch()
  let from = Math.max(after + 1, FIRST_INSTANT)
  for (let visited = 0; visited < MAX_EMPTY_SEGMENTS && from <= LAST_INSTANT && step(); visited++) {
    const segment = zone.segmentAt(from)
    const { start, end, offset } = segment
    const match = pattern.atOrAfter(Math.max(from, firstShown(segment, policy)) + offset)
    let found = match - offset < lastShown(segment, policy) ? match - offset : Number.POSITIVE_INFINITY
    if (policy.gap === 'shift' && from < start + offset - segment.before) {
      const inGap = pattern.atOrAfter(Math.max(from, start) + segment.before)
      if (inGap < start + offset) found = Math.min(found, inGap - segment.before)
    }
    if (found <= LAST_INSTANT) return found
    const repeats = segment.after < offset
    if (match === Number.POSITIVE_INFINITY && !repeats) return null
    // No wall time up to the match matches, so neither does any instant well before it; only a fold shows wall
    // times again that this search has not asked about.
    from = repeats ? end : Math.max(end, match - offset - WIDEST_SHIFT_MS)
  }
  return null
}

function previousInstant(
  pattern: WallPattern,
  zone: Zone,
  policy: WallPolicy,
  before: Instant,
): Instant | null {
  startSearch()
  let until = Math.min(before - 1, LAST_INSTANT)
  for (let visited = 0; visited < MAX_EMPTY_SEGMENTS && until >= FIRST_INSTANT && step(); visited++) {
    const segment = zone.segmentAt(until)
    const { start, offset } = segment
    const match = pattern.atOrBefore(Math.min(until, lastShown(segment, policy) - 1) + offset)
    let found = match - offset >= firstShown(segment, policy) ? match - offset : Number.NEGATIVE_INFINITY
    if (policy.gap === 'shift' && offset > segment.before) {
      const inGap = pattern.atOrBefore(Math.min(until + segment.before, start + offset - 1))
      if (inGap >= start + segment.before) found = Math.max(found, inGap - segment.before)
    }
    if (found >= FIRST_INSTANT) return found
    const repeats = segment.before > offset
    if (match === Number.NEGATIVE_INFINITY && !repeats) return null
    until = repeats ? start - 1 : Math.min(start - 1, match - offset + WIDEST_SHIFT_MS)
  }
  return null
}

/** The first instant of the segment whose wall time counts. */
function firstShown({ start, offset, before }: Segment, { fold }: WallPolicy): Instant {
  return fold === 'first' && before > offset ? start + (before - offset) : start
}

/** The end, exclusive, of the instants of the segment whose wall time counts. */
function lastShown({ end, offset, after }: Segment, { fold }: WallPolicy): Instant {
  return fold === 'second' && after < offset ? end - (offset - after) : end
}

/** What the wall shows at an instant. */
export function wallAt(zone: Zone, instant: Instant): WallTime {
  return instant + zone.segmentAt(instant).offset
}

/** The instant of one wall time; `shift` and `first` make it exactly one. */
export function instantOf(zone: Zone, wall: WallTime): Instant {
  // One of the segments around the wall time shows it, or it lies in the gap between two of them.
  let segment = zone.segmentAt(wall - WIDEST_SHIFT_MS)
  for (;;) {
    const instant = wall - segment.offset
    if (instant < segment.end) return instant
    if (wall < segment.end + segment.after) return instant
    segment = zone.segmentAt(segment.end)
  }
}
