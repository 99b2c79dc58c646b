import {
  type CivilDate,
  civilDate,
  clampedDayNumber,
  dayNumber,
  daysInMonth,
  isLeapYear,
  monthIndex,
  weekdayOf,
} from './calendar.js'
import type { RuleDay, RuleParts } from './rrule-parts.js'

/**
 * Which days a rule takes. RFC 5545 speaks of parts that expand and parts that limit; for days both come to the same
 * once what the rule leaves open is filled in from its start: a day is taken if its period is one of each
 * INTERVAL and every part agrees.
 */
export class RuleDays {
  readonly #parts: RuleParts
  readonly #byMonth: readonly number[]
  readonly #byMonthDay: readonly number[]
  readonly #byDay: readonly RuleDay[]
  readonly #nthOfMonth: boolean
  readonly #startDay: number
  readonly #startPeriod: number

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
    this.#startPeriod = this.#period(startDay)
  }

  /** The first day from `day` on that is not ruled out by its period or month: often `day` itself. */
  candidate(day: number): number {
    const behind = this.#periodsBehind(day)
    if (behind > 0) return this.#periodStart(this.#period(day) + this.#parts.interval - behind)
    if (this.#byMonth.length === 0) return day
    const date = civilDate(day)
    return this.#byMonth.includes(date.month) ? day : clampedDayNumber(monthIndex(date) + 1, 1)
  }

  matches(day: number): boolean {
    const date = civilDate(day)
    return (
      (this.#byMonth.length === 0 || this.#byMonth.includes(date.month)) &&
      (this.#byMonthDay.length === 0 ||
        counted(this.#byMonthDay, date.day, daysInMonth(date.year, date.month))) &&
      (this.#parts.byYearDay.length === 0 ||
        counted(this.#parts.byYearDay, dayOfYear(day, date), daysInYear(date.year))) &&
      (this.#parts.byWeekNumber.length === 0 || this.#matchesWeek(day)) &&
      (this.#byDay.length === 0 || this.#matchesWeekday(day, date))
    )
  }

  /** The period that `day` is in, its end exclusive, and whether INTERVAL takes it or passes over it. */
  periodAround(day: number): { from: number; to: number; taken: boolean } {
    const period = this.#period(day)
    return {
      from: this.#periodStart(period),
      to: this.#periodStart(period + 1),
      taken: this.#periodsBehind(day) === 0,
    }
  }

  #matchesWeekday(day: number, date: CivilDate): boolean {
    const weekday = weekdayOf(day)
    const position = this.#nthOfMonth ? date.day : dayOfYear(day, date)
    const length = this.#nthOfMonth ? daysInMonth(date.year, date.month) : daysInYear(date.year)
    return this.#byDay.some(
      (rule) =>
        rule.weekday === weekday &&
        (rule.nth === 0 ||
          rule.nth === Math.ceil(position / 7) ||
          rule.nth === -Math.ceil((length - position + 1) / 7)),
    )
  }

  #matchesWeek(day: number): boolean {
    const year = this.#weekYear(day)
    const first = this.#firstWeek(year)
    const weeks = (this.#firstWeek(year + 1) - first) / 7
    return counted(this.#parts.byWeekNumber, Math.floor((day - first) / 7) + 1, weeks)
  }

  /** A week belongs to the year that has at least four of its days, so its fourth day decides. */
  #weekYear(day: number): number {
    const weekStart = day - ((weekdayOf(day) - this.#parts.weekStart + 7) % 7)
    return civilDate(weekStart + 3).year
  }

  /** The day on which week 1 of a year begins. */
  #firstWeek(year: number): number {
    const fourth = dayNumber(year, 1, 4)
    return fourth - ((weekdayOf(fourth) - this.#parts.weekStart + 7) % 7)
  }

  #periodsBehind(day: number): number {
    const { frequency, interval } = this.#parts
    if (interval === 1 || frequency === 'HOURLY' || frequency === 'MINUTELY' || frequency === 'SECONDLY')
      return 0
    return (this.#period(day) - this.#startPeriod) % interval
  }

  #period(day: number): number {
    switch (this.#parts.frequency) {
      case 'YEARLY':
        return this.#parts.byWeekNumber.length > 0 ? this.#weekYear(day) : civilDate(day).year
      case 'MONTHLY':
        return monthIndex(civilDate(day))
      case 'WEEKLY':
        return Math.floor((day - this.#weekOrigin()) / 7)
      default:
        return day
    }
  }

  #periodStart(period: number): number {
    switch (this.#parts.frequency) {
      case 'YEARLY':
        return this.#parts.byWeekNumber.length > 0 ? this.#firstWeek(period) : dayNumber(period, 1, 1)
      case 'MONTHLY':
        return clampedDayNumber(period, 1)
      case 'WEEKLY':
        return this.#weekOrigin() + period * 7
      default:
        return period
    }
  }

  #weekOrigin(): number {
    return this.#startDay - ((weekdayOf(this.#startDay) - this.#parts.weekStart + 7) % 7)
  }
}

/** Whether a position counted from 1 is listed, either so or, negative, from the end. */
function counted(list: readonly number[], position: number, length: number): boolean {
  return list.includes(position) || list.includes(position - length - 1)
}

function dayOfYear(day: number, { year }: CivilDate): number {
  return day - dayNumber(year, 1, 1) + 1
}

function daysInYear(year: number): number {
  return isLeapYear(year) ? 366 : 365
}
