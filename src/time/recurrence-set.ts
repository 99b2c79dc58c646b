import { SECOND_MS, type WallTime } from './calendar.js'
import { step } from './search.js'
import type { WallPattern } from './wall-mapping.js'

/** The times of a rule, plus added ones, less excluded ones. */
export class RecurrenceSet implements WallPattern {
  readonly #rule: WallPattern
  readonly #added: readonly WallTime[]
  readonly #excluded: ReadonlySet<WallTime>

  constructor(rule: WallPattern, added: readonly WallTime[], excluded: readonly WallTime[]) {
    this.#rule = rule
    this.#added = added.toSorted((a, b) => a - b)
    this.#excluded = new Set(excluded)
  }

  atOrAfter(wall: WallTime): WallTime {
    let from = wall
    do {
      const added = this.#added.find((time) => time >= from) ?? Number.POSITIVE_INFINITY
      const found = Math.min(this.#rule.atOrAfter(from), added)
      if (!this.#excluded.has(found)) return found
      from = found + SECOND_MS
    } while (step())
    return Number.POSITIVE_INFINITY
  }

  atOrBefore(wall: WallTime): WallTime {
    let until = wall
    do {
      const added = this.#added.findLast((time) => time <= until) ?? Number.NEGATIVE_INFINITY
      const found = Math.max(this.#rule.atOrBefore(until), added)
      if (!this.#excluded.has(found)) return found
      until = found - SECOND_MS
    } while (step())
    return Number.NEGATIVE_INFINITY
  }
}
