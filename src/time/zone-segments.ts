import { DAY_MS } from './calendar.js'
import type { Instant } from './instant.js'

/**
 * A stretch of time in which the zone's offset does not change. Stretches are cut where our tables end, too, so
 * the offsets before and after may be equal to this one.
 */
export interface Segment {
  readonly start: Instant
  /** Exclusive. */
  readonly end: Instant
  /** Wall time minus instant, in milliseconds: positive east of Greenwich. */
  readonly offset: number
  /** The offset just before `start`. */
  readonly before: number
  /** The offset from `end` on. */
  readonly after: number
}

/** About 397 days; a power of two, so that finding the table of an instant is one division. */
const TABLE_MS = 2 ** 35

/**
 * How far apart offsets are sampled. The shortest stretch between two changes in the zone data from 1970 on is a
 * week (Gaza, around Ramadan), so that none hides between two samples.
 */
const SAMPLE_MS = 3 * DAY_MS

/**
 * The offsets of one zone, asked of `Intl` for about a year at a time and kept: `Intl` takes microseconds for
 * each question, a table a few nanoseconds.
 */
export class ZoneSegments {
  readonly #offsetAt: (instant: Instant) => number
  readonly #tables = new Map<number, readonly Segment[]>()
  #latest: Segment

  constructor(offsetAt: (instant: Instant) => number) {
    this.#offsetAt = offsetAt
    this.#latest = { start: 0, end: 0, offset: 0, before: 0, after: 0 }
  }

  at(instant: Instant): Segment {
    const latest = this.#latest
    if (instant >= latest.start && instant < latest.end) return latest
    const table = this.#table(Math.floor(instant / TABLE_MS))
    let index = table.length - 1
    while (table[index]!.start > instant) index -= 1
    this.#latest = table[index]!
    return this.#latest
  }

  #table(number: number): readonly Segment[] {
    let table = this.#tables.get(number)
    if (table === undefined) {
      table = this.#readTable(number * TABLE_MS)
      this.#tables.set(number, table)
    }
    return table
  }

  #readTable(start: Instant): Segment[] {
    const end = start + TABLE_MS
    const starts = [start]
    const offsets = [this.#offsetAt(start)]
    for (let from = start; from < end; from += SAMPLE_MS) {
      const to = Math.min(from + SAMPLE_MS, end - 1)
      const offset = this.#offsetAt(to)
      if (offset === offsets.at(-1)) continue
      starts.push(this.#changeBetween(from, to, offsets.at(-1)!))
      offsets.push(offset)
    }
    const before = this.#offsetAt(start - 1)
    const after = this.#offsetAt(end)
    return starts.map((segmentStart, index) => ({
      start: segmentStart,
      end: starts[index + 1] ?? end,
      offset: offsets[index]!,
      before: index === 0 ? before : offsets[index - 1]!,
      after: offsets[index + 1] ?? after,
    }))
  }

  /** The first instant after `from` whose offset is another one; `to` has another one. */
  #changeBetween(from: Instant, to: Instant, offset: number): Instant {
    let same = from
    let changed = to
    while (changed - same > 1) {
      const middle = Math.floor((same + changed) / 2)
      if (this.#offsetAt(middle) === offset) same = middle
      else changed = middle
    }
    return changed
  }
}
