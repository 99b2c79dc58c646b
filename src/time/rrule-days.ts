import { civilDate, DAY_MS, dayNumber, daysInMonth, monthIndex, weekdayOf } from './calendar.js'
import { FIRST_INSTANT, LAST_INSTANT } from './instant.js'
import type { RuleDay, RuleParts } from './rrule-parts.js'
import { MAX_EMPTY_MONTHS, step } from './search.js'

/** With room for the zones on either side of UTC. */
const FIRST_DAY = Math.floor(FIRST_INSTANT / DAY_MS) - 2
const LAST_DAY = Math.floor(LAST_INSTANT / DAY_MS) + 2

/**
 * Which days a rule takes. RFC 5545 speaks of parts that expand and parts that limit; for days both come to the same
 * once what the rule leaves open is filled in from its start: a day is taken if INTERVAL takes its period and every
 * part agrees. The answer is kept for a month at a time, one bit for each day.
 */
export class RuleDays {
  readonly #parts: RuleParts
  readonly #byMonth: readonly number[]
  readonly #byMonthDay: readonly number[]
  readonly #byDay: readonly RuleDay[]
  readonly #nthOfMonth: boolean
  readonly #startDay: number
  readonly #startYear: number
  readonly #startMonth: number
  #month = 0
  #first = 0
  #length = 0
  #mask = 0

  constructor(parts: RuleParts, startDay: number) {
    const start = civilDate(startDay)
    const { frequency, byWeekNumber, byYearDay } = parts
    const open = byYearDay.length + parts.byMonthDay.length + parts.byDay.length === 0
    const monthDayOpen = open && byWeekNumber.length === 0
    const yearly = frequency === 'YEARLY'
    this.#parts = parts
    this.#byMonth = yearly && monthDayOpen && parts.byMonth.length === 0 ? [start.month] : parts.byMonth
    this.#byMonthDay = (yearly || frequency === 'MONTHLY') && monthDayOpen ? [start.day] : parts.byMonthDay
    this.#byDay =
      open && (frequency === 'WEEKLY' || byWeekNumber.length > 0)
        ? [{ weekday: weekdayOf(startDay), nth: 0 }]
        : parts.byDay
    this.#nthOfMonth = frequency === 'MONTHLY' || parts.byMonth.length > 0
    this.#startDay = startDay
    this.#startYear = byWeekNumber.length > 0 ? this.#weekYear(startDay) : start.year
    this.#startMonth = monthIndex(start)
  }

  /** The first day taken from `day` on; `Infinity` when there is none. */
  atOrAfter(day: number): number {
    if (day > LAST_DAY) return Number.POSITIVE_INFINITY
    let month = this.#enter(day)
    const lastMonth = month + MAX_EMPTY_MONTHS
    let later = this.#mask & (-1 << (day - this.#first))
    while (later === 0) {
      if (this.#first > LAST_DAY || month > lastMonth || !step()) return Number.POSITIVE_INFINITY
      month += 1
      this.#enterMonth(month)
      later = this.#mask
    }
    return this.#first + 31 - Math.clz32(later & -later)
  }

  /** The last day taken up to `day`; `-Infinity` when there is none. */
  atOrBefore(day: number): number {
    const last = Math.min(day, LAST_DAY)
    let month = this.#enter(last)
    const firstMonth = month - MAX_EMPTY_MONTHS
    let earlier = this.#mask & (-1 >>> (31 - (last - this.#first)))
    while (earlier === 0) {
      if (this.#first < FIRST_DAY || month < firstMonth || !step()) return Number.NEGATIVE_INFINITY
      month -= 1
      this.#enterMonth(month)
      earlier = this.#mask
    }
    return this.#first + 31 - Math.clz32(earlier)
  }

  /** The days of the period around `day`, the end exclusive: what BYSETPOS chooses from. */
  period(day: number): { from: number; to: number } {
    const { year, month } = civilDate(day)
    switch (this.#parts.frequency) {
      case 'YEARLY': {
        if (this.#parts.byWeekNumber.length === 0)
          return { from: dayNumber(year, 1, 1), to: dayNumber(year + 1, 1, 1) }
        const weekYear = this.#weekYear(day)
        return { from: this.#firstWeek(weekYear), to: this.#firstWeek(weekYear + 1) }
      }
      case 'MONTHLY': {
        const from = dayNumber(year, month, 1)
        return { from, to: from + daysInMonth(year, month) }
      }
      case 'WEEKLY': {
        const from = this.#weekStart(day)
        return { from, to: from + 7 }
      }
      default:
        return { from: day, to: day + 1 }
    }
  }

  #enter(day: number): number {
    if (day < this.#first || day >= this.#first + this.#length) this.#enterMonth(monthIndex(civilDate(day)))
    return this.#month
  }

  #enterMonth(index: number): void {
    const year = Math.floor(index / 12)
    const month = index - year * 12 + 1
    this.#month = index
    this.#first = dayNumber(year, month, 1)
    this.#length = daysInMonth(year, month)
    this.#mask = this.#takesMonth(index, year, month) ? this.#daysOf(year, this.#length) : 0
  }

  #takesMonth(index: number, year: number, month: number): boolean {
    const { frequency, interval, byWeekNumber } = this.#parts
    if (this.#byMonth.length > 0 && !this.#byMonth.includes(month)) return false
    if (frequency === 'MONTHLY') return (index - this.#startMonth) % interval === 0
    return frequency !== 'YEARLY' || byWeekNumber.length > 0 || (year - this.#startYear) % interval === 0
  }

  #daysOf(year: number, length: number): number {
    const { frequency, interval, byYearDay, byWeekNumber } = this.#parts
    let mask = -1 >>> (32 - length)
    if (this.#byMonthDay.length > 0) mask &= this.#bits(this.#byMonthDay, this.#first, length, length)
    if (byYearDay.length > 0 && mask !== 0)
      mask &= this.#bits(byYearDay, dayNumber(year, 1, 1), daysInYear(year), length)
    if (this.#byDay.length > 0 && mask !== 0) mask &= this.#weekdayBits(year, length)
    if (byWeekNumber.length > 0 && mask !== 0)
      mask = this.#keepWeeks(mask, length, (day) => this.#takesWeekNumber(day))
    if (frequency === 'WEEKLY' && interval > 1) {
      const origin = this.#weekStart(this.#startDay)
      mask = this.#keepWeeks(mask, length, (day) => ((this.#weekStart(day) - origin) / 7) % interval === 0)
    }
    if (frequency === 'DAILY' && interval > 1) {
      for (let bit = 0; bit < length; bit++) {
        if ((this.#first + bit - this.#startDay) % interval !== 0) mask &= ~(1 << bit)
      }
    }
    return mask
  }

  /** Positions within a span, from 1 or, negative, from its end, as bits of the month at hand. */
  #bits(positions: readonly number[], spanStart: number, spanLength: number, length: number): number {
    let bits = 0
    for (const position of positions) {
      const offset = position > 0 ? position - 1 : spanLength + position
      const bit = spanStart + offset - this.#first
      if (offset >= 0 && offset < spanLength && bit >= 0 && bit < length) bits |= 1 << bit
    }
    return bits
  }

  #weekdayBits(year: number, length: number): number {
    const spanStart = this.#nthOfMonth ? this.#first : dayNumber(year, 1, 1)
    const spanLength = this.#nthOfMonth ? length : daysInYear(year)
    let bits = 0
    for (const { weekday, nth } of this.#byDay) {
      if (nth === 0) {
        for (let bit = daysUntil(weekday, this.#first); bit < length; bit += 7) bits |= 1 << bit
        continue
      }
      const first = daysUntil(weekday, spanStart)
      const last = first + Math.floor((spanLength - 1 - first) / 7) * 7
      const offset = nth > 0 ? first + (nth - 1) * 7 : last + (nth + 1) * 7
      const bit = spanStart + offset - this.#first
      if (offset >= 0 && offset < spanLength && bit >= 0 && bit < length) bits |= 1 << bit
    }
    return bits
  }

  #keepWeeks(mask: number, length: number, takes: (day: number) => boolean): number {
    let kept = mask
    let bit = 0
    while (bit < length) {
      const end = Math.min(length, this.#weekStart(this.#first + bit) + 7 - this.#first)
      const taken = takes(this.#first + bit)
      for (; bit < end; bit++) if (!taken) kept &= ~(1 << bit)
    }
    return kept
  }

  #takesWeekNumber(day: number): boolean {
    const year = this.#weekYear(day)
    if ((year - this.#startYear) % this.#parts.interval !== 0) return false
    const first = this.#firstWeek(year)
    const weeks = (this.#firstWeek(year + 1) - first) / 7
    const week = Math.floor((day - first) / 7) + 1
    return this.#parts.byWeekNumber.some((number) => number === week || number === week - weeks - 1)
  }

  #weekStart(day: number): number {
    return day - ((weekdayOf(day) - this.#parts.weekStart + 7) % 7)
  }

  /** A week belongs to the year that has at least four of its days, so its fourth day decides. */
  #weekYear(day: number): number {
    return civilDate(this.#weekStart(day) + 3).year
  }

  /** The day on which week 1 of a year begins. */
  #firstWeek(year: number): number {
    return this.#weekStart(dayNumber(year, 1, 4))
  }
}

/** Days from `day` until the next such weekday, 0 if it is one. */
function daysUntil(weekday: number, day: number): number {
  return (weekday - weekdayOf(day) + 7) % 7
}

function daysInYear(year: number): number {
  return 337 + daysInMonth(year, 2)
}
