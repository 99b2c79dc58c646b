import { civilDate, DAY_MS, dayNumber, daysInMonth, SECOND_MS, type WallTime, weekdayOf } from './calendar.js'
import type { CronExpression, DayMatcher } from './cron-expression.js'
import { LAST_INSTANT } from './instant.js'
import { step } from './search.js'
import { NONE, TimesOfDay } from './times-of-day.js'
import type { WallPattern } from './wall-mapping.js'

const LAST_YEAR = 10_000
const FIRST_YEAR = 1_899

/**
 * Matches wall time against a cron expression. Day by mask, time of day by tables; the month at hand is kept, so
 * that a search within it does no calendar arithmetic.
 */
export class CronPattern implements WallPattern {
  readonly #times: TimesOfDay
  readonly #months: readonly boolean[]
  readonly #days: DayMatcher
  #year = 0
  #month = 0
  /** Day number of the month's first day, its length in days, and its matching days. */
  #start = 0
  #length = 0
  #mask = 0

  constructor(expression: CronExpression) {
    this.#times = new TimesOfDay(expression.hours, expression.minutes, expression.seconds)
    this.#months = Array.from({ length: 13 }, (_, month) => expression.months.has(month))
    this.#days = expression.days
  }

  atOrAfter(wall: WallTime): WallTime {
    const second = Math.ceil(wall / SECOND_MS)
    const day = Math.floor(second / 86_400)
    this.#enter(day)
    const index = day - this.#start
    if ((this.#mask >>> index) & 1) {
      const time = this.#times.atOrAfter(second - day * 86_400)
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
    return (this.#start + found) * DAY_MS + this.#times.first * SECOND_MS
  }

  atOrBefore(wall: WallTime): WallTime {
    const second = Math.floor(Math.min(wall, LAST_INSTANT + DAY_MS) / SECOND_MS)
    const day = Math.floor(second / 86_400)
    this.#enter(day)
    const index = day - this.#start
    if ((this.#mask >>> index) & 1) {
      const time = this.#times.atOrBefore(second - day * 86_400)
      if (time !== NONE) return (day * 86_400 + time) * SECOND_MS
    }
    let earlier = this.#mask & ((1 << index) - 1)
    while (earlier === 0) {
      if (this.#year <= FIRST_YEAR || !step()) return Number.NEGATIVE_INFINITY
      this.#enterPreviousMonth()
      earlier = this.#mask
    }
    const found = 31 - Math.clz32(earlier)
    return (this.#start + found) * DAY_MS + this.#times.last * SECOND_MS
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
