import { type Bounds, compileTiming } from './bounds.js'
import { MINUTE_MS, SECOND_MS } from './calendar.js'
import { describe } from './describe.js'
import { dstNote } from './dst-notes.js'
import { formatInstant, formatWall, type Instant } from './instant.js'
import type { Timing } from './timing.js'
import { DEFAULT_ZONE, type Zone, zoneNamed } from './zone.js'

/** What `previewOccurrences` takes. */
export interface PreviewOptions extends Bounds {
  /** Exclusive. */
  after: Instant
  /** How many at most. */
  count: number
}

export interface PreviewedOccurrence {
  /** UTC with milliseconds. */
  planTime: string
  /** The same in the timing's zone, with its offset then. */
  local: string
  /** What the zone did to it, or left out before it. */
  note?: string
}

export interface Preview {
  /** The timing in plain English. */
  description: string
  occurrences: PreviewedOccurrence[]
}

/**
 * The next plan times, with a word on each that the zone shifted, doubled, or left others out before. `after` hangs on
 * when runs end, so only its first is foreseeable. A `limit` without `startAt` counts from here.
 */
export function previewOccurrences(timing: Timing, { after, count, ...bounds }: PreviewOptions): Preview {
  const startAt = bounds.limit === undefined ? bounds.startAt : (bounds.startAt ?? after + 1)
  const compiled = compileTiming(timing, { ...bounds, startAt })
  const zone = zoneNamed(timing.kind === 'after' ? DEFAULT_ZONE : timing.zone)
  const occurrences: PreviewedOccurrence[] = []
  let since = after
  while (occurrences.length < count) {
    const planTime = compiled.next(since)
    if (planTime === null) break
    const note =
      timing.kind === 'after'
        ? 'if it is enabled now; each later one follows the end of the run before it'
        : dstNote(compiled.source, planTime, since)
    occurrences.push({
      planTime: formatInstant(planTime),
      local: formatLocal(planTime, zone),
      ...(note !== undefined && { note }),
    })
    if (timing.kind === 'after') break
    since = planTime
  }
  return { description: describe(timing), occurrences }
}

/** `2026-03-08T03:30:00-04:00`: what the wall of the zone shows, and its offset from UTC. */
function formatLocal(instant: Instant, zone: Zone): string {
  const { offset } = zone.segmentAt(instant)
  const size = Math.abs(offset)
  const parts = [size / (60 * MINUTE_MS), (size / MINUTE_MS) % 60, (size / SECOND_MS) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  if (size % MINUTE_MS === 0) parts.pop()
  return `${formatWall(instant + offset)}${offset < 0 ? '-' : '+'}${parts.join(':')}`
}
