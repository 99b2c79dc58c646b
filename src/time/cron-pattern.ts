import { civilDate, DAY_MS, dayNumber, daysInMonth, SECOND_MS, type WallTime, weekdayOf } from './calendar.js'
import type { CronExpression, DayMatcher } from './cron-expression.js'
import { LAST_INSTANT } from './instant.js'
import { step } from './search.js'
import type { WallPattern } from './wall-mapping.js'

const NONE = -1
const LAST_YEAR = 10_000
const FIRST_YEAR = 1_899

/** For each value the nearest one that matches, in either direction; `NONE` past the last. */
interface Nearest {
  readonly up: Int8Array
  readonly down: Int8Array
  readonly first: number
  readonly last: number
}

function nearest(values: ReadonlySet<number>, size: number): Nearest {
  const up = new Int8Array(size + 1).fill(NONE)
  const down = new Int8Array(size + 1).fill(NONE)
  for (let value = size - 1; value >= 0; value--) up[value] = values.has(value) ? value : up[value + 1]!
  // Shifted by one, so that "below 0" has an entry: down[v + 1] answers for v.
  for (let value = 0; value < size; value++) down[value + 1] = values.has(value) ? value : down[value]!
  return { up, down, first: up[0]!, last: down[size]! }
}

/**
 * Matches wall time against a cron expression. Day by mask, time of day by tables; the month at hand is kept, so
 * that a search within it does no calendar arithmetic.
 */
export class CronPattern implements WallPattern {
  readonly #seconds: Nearest
  readonly #minutes: Nearest
  readonly #hours: Nearest
  readonly #months: readonly boolean[]
  readonly #days: DayMatcher
  readonly #firstTime: number
  readonly #lastTime: number
  #year = 0
  #month = 0
  /** Day number of the month's first day, its length in days, and its matching days. */
  #start = 0
  #length = 0
  #mask = 0

  constructor(expression: CronExpression) {
    this.#seconds = nearest(expression.seconds, 60)
    this.#minutes = nearest(expression.minutes, 60)
    this.#hours = nearest(expression.hours, 24)
    this.#months = Array.from({ length: 13 }, (_, month) => expression.months.has(month))
    this.#days = expression.days
    this.#firstTime = this.#hours.first * 3600 + this.#minutes.first * 60 + this.#seconds.first
    this.#lastTime = this.#hours.last * 3600 + this.#minutes.last * 60 + this.#seconds.last
  }

  atOrAfter(wall: WallTime): WallTime {
    const second = Math.ceil(wall / SECOND_MS)
    const day = Math.floor(second / 86_400)
    this.#enter(day)
    const index = day - this.#start
    if ((this.#mask >>> index) & 1) {
      const time = this.#timeAtOrAfter(second - day * 86_400)
      if (time !== NONE) return (day * 86_400 + time) * SECOND_MS
    }
    // A shift by 32 is a shift by 0 in JavaScript, hence the two steps.
    let later = (this.#mask >>> index) >>> 1
    let base = index + 1
    while (later === 0) {
      if (this.#year >= LAST_YEAR || !step()) return Number.POSITIVE_INFINITY
      this.#enterNextMonth()
      later = this.#mask
      base = 0
    }
    const found = base + 31 - Math.clz32(later & -later)
    return (this.#start + found) * DAY_MS + this.#firstTime * SECOND_MS
  }

  atOrBefore(wall: WallTime): WallTime {
    const second = Math.floor(Math.min(wall, LAST_INSTANT + DAY_MS) / SECOND_MS)
    const day = Math.floor(second / 86_400)
    this.#enter(day)
    const index = day - this.#start
    if ((this.#mask >>> index) & 1) {
      const time = this.#timeAtOrBefore(second - day * 86_400)
      if (time !== NONE) return (day * 86_400 + time) * SECOND_MS
    }
    let earlier = this.#mask & ((1 << index) - 1)
    while (earlier === 0) {
      if (this.#year <= FIRST_YEAR || !step()) return Number.NEGATIVE_INFINITY
      this.#enterPreviousMonth()
      earlier = this.#mask
    }
    const found = 31 - Math.clz32(earlier)
    return (this.#start + found) * DAY_MS + this.#lastTime * SECOND_MS
  }

  #timeAtOrAfter(secondOfDay: number): number {
    const minuteOfDay = Math.floor(secondOfDay / 60)
    let hour = Math.floor(minuteOfDay / 60)
    if (this.#hours.up[hour] === hour) {
      let minute = minuteOfDay - hour * 60
      if (this.#minutes.up[minute] === minute) {
        const second = this.#seconds.up[secondOfDay - minuteOfDay * 60]!
        if (second !== NONE) return minuteOfDay * 60 + second
        minute += 1
      }
      minute = this.#minutes.up[minute]!
      if (minute !== NONE) return hour * 3600 + minute * 60 + this.#seconds.first
      hour += 1
    }
    hour = this.#hours.up[hour]!
    if (hour === NONE) return NONE
    return hour * 3600 + this.#minutes.first * 60 + this.#seconds.first
  }

  #timeAtOrBefore(secondOfDay: number): number {
    const minuteOfDay = Math.floor(secondOfDay / 60)
    let hour = Math.floor(minuteOfDay / 60)
    if (this.#hours.up[hour] === hour) {
      let minute = minuteOfDay - hour * 60
      if (this.#minutes.up[minute] === minute) {
        const second = this.#seconds.down[secondOfDay - minuteOfDay * 60 + 1]!
        if (second !== NONE) return minuteOfDay * 60 + second
        minute -= 1
      }
      minute = this.#minutes.down[minute + 1]!
      if (minute !== NONE) return hour * 3600 + minute * 60 + this.#seconds.last
      hour -= 1
    }
    hour = this.#hours.down[hour + 1]!
    if (hour === NONE) return NONE
    return hour * 3600 + this.#minutes.last * 60 + this.#seconds.last
  }

  #enter(day: number): void {
    if (day >= this.#start && day < this.#start + this.#length) return
    const date = civilDate(day)
    this.#enterMonth(date.year, date.month, day - date.day + 1)
  }

  #enterNextMonth(): void {
    const december = this.#month === 12
    const start = this.#start + this.#length
    this.#enterMonth(december ? this.#year + 1 : this.#year, december ? 1 : this.#month + 1, start)
  }

  #enterPreviousMonth(): void {
    const january = this.#month === 1
    const year = january ? this.#year - 1 : this.#year
    const month = january ? 12 : this.#month - 1
    this.#enterMonth(year, month, dayNumber(year, month, 1))
  }

  #enterMonth(year: number, month: number, start: number): void {
    this.#year = year
    this.#month = month
    this.#start = start
    this.#length = daysInMonth(year, month)
    this.#mask = this.#months[month] ? this.#days.mask(weekdayOf(start), this.#length) : 0
  }
}
