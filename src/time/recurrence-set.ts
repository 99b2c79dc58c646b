import { HOUR_MS, SECOND_MS, type WallTime } from './calendar.js'
import { step } from './search.js'
import type { WallPattern } from './wall-mapping.js'

/** The times of a rule, plus added ones, less excluded ones. */
export class RecurrenceSet implements WallPattern {
  readonly #rule: Pick<WallPattern, 'atOrAfter'>
  readonly #added: readonly WallTime[]
  readonly #excluded: ReadonlySet<WallTime>
  readonly #first: WallTime

  constructor(
    rule: Pick<WallPattern, 'atOrAfter'>,
    added: readonly WallTime[],
    excluded: readonly WallTime[],
    start: WallTime,
  ) {
    this.#rule = rule
    this.#added = added.toSorted((a, b) => a - b)
    this.#excluded = new Set(excluded)
    this.#first = Math.min(start, this.#added[0] ?? start)
  }

  atOrAfter(wall: WallTime): WallTime {
    let from = wall
    for (;;) {
      const added = this.#added.find((time) => time >= from) ?? Number.POSITIVE_INFINITY
      const found = Math.min(this.#rule.atOrAfter(from), added)
      if (!this.#excluded.has(found)) return found
      if (!step()) return Number.POSITIVE_INFINITY
      from = found + SECOND_MS
    }
  }

  /** Rules run forward only, so this goes back in growing strides and then halves the stretch that holds the answer. */
  atOrBefore(wall: WallTime): WallTime {
    let known = Number.POSITIVE_INFINITY
    for (let stride = HOUR_MS; known > wall; stride *= 4) {
      const from = Math.max(wall - stride, this.#first)
      known = this.atOrAfter(from)
      if (known > wall && from === this.#first) return Number.NEGATIVE_INFINITY
    }
    // Nothing from `none` up to `wall` matches.
    let none = wall + SECOND_MS
    while (none - known > SECOND_MS) {
      const middle = known + Math.ceil((none - known) / (2 * SECOND_MS)) * SECOND_MS
      const found = this.atOrAfter(middle)
      if (found <= wall) known = found
      else none = middle
    }
    return known
  }
}
