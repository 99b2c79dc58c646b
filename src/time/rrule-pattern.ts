import { SECOND_MS, type WallTime } from './calendar.js'
import { LAST_INSTANT } from './instant.js'
import { RuleDays } from './rrule-days.js'
import type { RuleParts } from './rrule-parts.js'
import { SubDailyTimes } from './rrule-sub-daily.js'
import { gaveUp, step } from './search.js'
import { atOrAfterIn, atOrBeforeIn, combinations, positions } from './sorted-times.js'
import type { WallPattern } from './wall-mapping.js'

const DAY = 86_400
/** In seconds, with room for the zones that are ahead of UTC. */
const LAST_SECOND = Math.floor(LAST_INSTANT / SECOND_MS) + DAY

/**
 * Periods in a row that BYSETPOS may find too few times in. A fifth Monday in February comes back within 40 years, or
 * 480 months.
 */
const MAX_EMPTY_PERIODS = 500

/** A search in both directions over whole seconds since 1970-01-01T00:00 on the wall. */
export interface SecondSearch {
  atOrAfter(second: number): number
  atOrBefore(second: number): number
}

/** A rule in floating wall time, within its start, UNTIL and COUNT. */
export class RulePattern implements WallPattern {
  readonly #search: SecondSearch
  readonly #start: number
  /** Last second that may match, inclusive. */
  #end: number

  /** @param until - inclusive; `Infinity` for a rule without an end of its own. */
  constructor(parts: RuleParts, start: WallTime, until: WallTime) {
    this.#start = Math.ceil(start / SECOND_MS)
    this.#end = Math.min(Math.floor(until / SECOND_MS), LAST_SECOND)
    this.#search = searchFor(parts, this.#start)
    if (parts.count !== undefined) this.#end = this.#countedEnd(parts.count)
  }

  atOrAfter(wall: WallTime): WallTime {
    return this.#secondAtOrAfter(Math.ceil(wall / SECOND_MS)) * SECOND_MS
  }

  atOrBefore(wall: WallTime): WallTime {
    const second = Math.min(Math.floor(wall / SECOND_MS), this.#end)
    if (second < this.#start) return Number.NEGATIVE_INFINITY
    const found = this.#search.atOrBefore(second)
    return found >= this.#start ? found * SECOND_MS : Number.NEGATIVE_INFINITY
  }

  #secondAtOrAfter(second: number): number {
    const from = Math.max(second, this.#start)
    if (from > this.#end) return Number.POSITIVE_INFINITY
    const found = this.#search.atOrAfter(from)
    return found <= this.#end ? found : Number.POSITIVE_INFINITY
  }

  /** COUNT, resolved to the last second it lets through; -Infinity when it cannot be counted within the bound. */
  #countedEnd(count: number): number {
    let last = this.#start - 1
    for (let found = 0; found < count; found++) {
      const next = this.#secondAtOrAfter(last + 1)
      if (gaveUp()) return Number.NEGATIVE_INFINITY
      if (next === Number.POSITIVE_INFINITY) return last
      last = next
    }
    return last
  }
}

function searchFor(parts: RuleParts, start: number): SecondSearch {
  const startDay = Math.floor(start / DAY)
  const startTime = start - startDay * DAY
  const days = new RuleDays(parts, startDay)
  switch (parts.frequency) {
    case 'HOURLY':
    case 'MINUTELY':
    case 'SECONDLY':
      return new SubDailyTimes(parts, parts.frequency, days, start)
    default: {
      const times = combinations(
        parts.byHour.length > 0 ? parts.byHour : [Math.floor(startTime / 3600)],
        parts.byMinute.length > 0 ? parts.byMinute : [Math.floor(startTime / 60) % 60],
        parts.bySecond.length > 0 ? parts.bySecond : [startTime % 60],
      )
      return parts.bySetPosition.length > 0
        ? chosenTimes(days, times, parts.bySetPosition)
        : allTimes(days, times)
    }
  }
}

/** Every one of the times on every one of the days. */
function allTimes(days: RuleDays, times: readonly number[]): SecondSearch {
  return {
    atOrAfter(second) {
      const day = Math.floor(second / DAY)
      const found = days.atOrAfter(day)
      const time = found === day ? atOrAfterIn(times, second - day * DAY) : times[0]!
      return time === undefined ? days.atOrAfter(day + 1) * DAY + times[0]! : found * DAY + time
    },
    atOrBefore(second) {
      const day = Math.floor(second / DAY)
      const found = days.atOrBefore(day)
      const time = found === day ? atOrBeforeIn(times, second - day * DAY) : times.at(-1)!
      return time === undefined ? days.atOrBefore(day - 1) * DAY + times.at(-1)! : found * DAY + time
    },
  }
}

/** BYSETPOS: some of all that a whole period yields, also counting what lies before the start. */
function chosenTimes(days: RuleDays, times: readonly number[], wanted: readonly number[]): SecondSearch {
  const chosenIn = ({ from, to }: { from: number; to: number }) => {
    const inside: number[] = []
    for (let day = days.atOrAfter(from); day < to; day = days.atOrAfter(day + 1)) inside.push(day)
    return positions(wanted, inside.length * times.length).map(
      (index) => inside[Math.floor(index / times.length)]! * DAY + times[index % times.length]!,
    )
  }
  return {
    atOrAfter(second) {
      let day = days.period(Math.floor(second / DAY)).from
      for (let empty = 0; empty <= MAX_EMPTY_PERIODS && step(); empty++) {
        day = days.atOrAfter(day)
        if (day === Number.POSITIVE_INFINITY) break
        const period = days.period(day)
        const found = atOrAfterIn(chosenIn(period), second)
        if (found !== undefined) return found
        day = period.to
      }
      return Number.POSITIVE_INFINITY
    },
    atOrBefore(second) {
      let day = days.period(Math.floor(second / DAY)).to - 1
      for (let empty = 0; empty <= MAX_EMPTY_PERIODS && step(); empty++) {
        day = days.atOrBefore(day)
        if (day === Number.NEGATIVE_INFINITY) break
        const period = days.period(day)
        const found = atOrBeforeIn(chosenIn(period), second)
        if (found !== undefined) return found
        day = period.from - 1
      }
      return Number.NEGATIVE_INFINITY
    },
  }
}
