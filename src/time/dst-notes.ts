/** Says in words what a zone did to an occurrence: moved it, doubled it, or left others out before it. */
import { MINUTE_MS, type WallTime } from './calendar.js'
import { formatWall, type Instant } from './instant.js'
import type { WallSource } from './wall-mapping.js'
import type { Segment } from './zone-segments.js'

/** Gaps that one note looks back over; a rule that many of them swallow is explained well enough by a few. */
const GAPS_NAMED = 3
/** Tables of the zone cut its stretches about once a year: enough to look back over 40 years. */
const SEGMENTS_SEEN = 120

/** @param since - the occurrence before, or the instant that the list begins after. */
export function dstNote(
  source: WallSource | undefined,
  planTime: Instant,
  since: Instant,
): string | undefined {
  if (source === undefined) return undefined
  const notes = [...leftOut(source, planTime, since), shifted(source, planTime), repeated(source, planTime)]
  const said = notes.filter((note) => note !== undefined)
  return said.length === 0 ? undefined : said.join('; ')
}

function shifted({ pattern, zone, policy }: WallSource, planTime: Instant): string | undefined {
  const segment = zone.segmentAt(planTime)
  const { start, offset, before } = segment
  const planned = planTime + before
  if (policy.gap !== 'shift' || planTime >= start + offset - before) return undefined
  if (pattern.atOrAfter(planned) !== planned) return undefined
  const shown = planTime + offset
  const outcome =
    pattern.atOrAfter(shown) === shown
      ? `and falls together with ${whenOf(shown, planned)}`
      : `and is moved to ${whenOf(shown, planned)}`
  return `${timeOf(planned)} does not exist on ${dateOf(planned)} (${forward(segment)}) ${outcome}`
}

function repeated({ zone, policy }: WallSource, planTime: Instant): string | undefined {
  const segment = zone.segmentAt(planTime)
  const { start, end, offset, before, after } = segment
  const shown = planTime + offset
  const first = planTime >= end - (offset - after)
  const second = planTime < start + (before - offset)
  if (!first && !second) return undefined
  const clocks = first ? back(end, offset, after) : back(start, before, offset)
  const counting =
    policy.fold === 'both' ? `this is the ${first ? 'first' : 'second'}` : `only the ${policy.fold} counts`
  return `${timeOf(shown)} shows twice on ${dateOf(shown)} (${clocks}); ${counting}`
}

function leftOut({ pattern, zone, policy }: WallSource, planTime: Instant, since: Instant): string[] {
  const notes: string[] = []
  if (policy.gap !== 'skip') return notes
  let segment = zone.segmentAt(planTime)
  for (let seen = 0; seen < SEGMENTS_SEEN && segment.start > since && notes.length < GAPS_NAMED; seen++) {
    const from = segment.start + segment.before
    const to = segment.start + segment.offset
    const first = pattern.atOrAfter(from)
    if (first < to) {
      const last = pattern.atOrBefore(to - 1)
      const times = first === last ? timeOf(first) : `${timeOf(first)} to ${whenOf(last, first)}`
      const verb = first === last ? 'is' : 'are'
      notes.unshift(`${times} on ${dateOf(first)} ${verb} left out before this one (${forward(segment)})`)
    }
    segment = zone.segmentAt(segment.start - 1)
  }
  return notes
}

function forward({ start, before, offset }: Segment): string {
  return `the clock goes forward from ${timeOf(start + before)} to ${whenOf(start + offset, start + before)}`
}

function back(at: Instant, before: number, offset: number): string {
  return `the clock goes back from ${timeOf(at + before)} to ${whenOf(at + offset, at + before)}`
}

/** The time, with its date if that is not the one spoken of: where the date line was moved, a day is missing. */
function whenOf(wall: WallTime, spokenOf: WallTime): string {
  return dateOf(wall) === dateOf(spokenOf) ? timeOf(wall) : `${timeOf(wall)} on ${dateOf(wall)}`
}

function timeOf(wall: WallTime): string {
  return formatWall(wall).slice(11, wall % MINUTE_MS === 0 ? 16 : undefined)
}

function dateOf(wall: WallTime): string {
  return formatWall(wall).slice(0, 10)
}
