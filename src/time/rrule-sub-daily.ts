import type { RuleDays } from './rrule-days.js'
import type { RuleParts } from './rrule-parts.js'
import type { SecondSearch } from './rrule-pattern.js'
import { step } from './search.js'
import { atOrAfterIn, atOrBeforeIn, combinations, positions } from './sorted-times.js'

const DAY = 86_400
const PERIODS = { HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 }

/**
 * Rules of hours, minutes or seconds: their periods are counted on from the start, and a period that a part excludes is
 * left in one jump to the end of the day, hour or minute that excludes it.
 */
export class SubDailyTimes implements SecondSearch {
  readonly #parts: RuleParts
  readonly #days: RuleDays
  /** Length of a period, in seconds. */
  readonly #period: number
  readonly #startPeriod: number
  /** Seconds within a period that the rule takes. */
  readonly #inside: readonly number[]

  constructor(parts: RuleParts, frequency: keyof typeof PERIODS, days: RuleDays, start: number) {
    const { byMinute, bySecond, bySetPosition } = parts
    const startTime = start - Math.floor(start / DAY) * DAY
    this.#parts = parts
    this.#days = days
    this.#period = PERIODS[frequency]
    this.#startPeriod = Math.floor(start / this.#period)
    const startMinute = frequency === 'HOURLY' ? Math.floor(startTime / 60) % 60 : 0
    const startSecond = frequency === 'SECONDLY' ? 0 : startTime % 60
    const all = combinations(
      [0],
      frequency === 'HOURLY' && byMinute.length > 0 ? byMinute : [startMinute],
      frequency !== 'SECONDLY' && bySecond.length > 0 ? bySecond : [startSecond],
    )
    this.#inside =
      bySetPosition.length > 0 ? positions(bySetPosition, all.length).map((index) => all[index]!) : all
  }

  atOrAfter(from: number): number {
    let second = from
    while (this.#inside.length > 0) {
      const day = this.#days.atOrAfter(Math.floor(second / DAY))
      if (day === Number.POSITIVE_INFINITY) break
      second = Math.max(second, day * DAY)
      const excluding = this.#excluding(second)
      const period = Math.floor(second / this.#period)
      const behind = this.#behind(period)
      if (excluding === 0 && behind === 0) {
        const found = atOrAfterIn(this.#inside, second - period * this.#period)
        if (found !== undefined) return period * this.#period + found
        second = (period + this.#parts.interval) * this.#period
        continue
      }
      if (!step()) break
      if (excluding > 0) second = (Math.floor(second / excluding) + 1) * excluding
      else second = (period + this.#parts.interval - behind) * this.#period
    }
    return Number.POSITIVE_INFINITY
  }

  atOrBefore(from: number): number {
    let second = from
    while (this.#inside.length > 0) {
      const day = this.#days.atOrBefore(Math.floor(second / DAY))
      if (day === Number.NEGATIVE_INFINITY) break
      second = Math.min(second, (day + 1) * DAY - 1)
      const excluding = this.#excluding(second)
      const period = Math.floor(second / this.#period)
      const behind = this.#behind(period)
      if (excluding === 0 && behind === 0) {
        const found = atOrBeforeIn(this.#inside, second - period * this.#period)
        if (found !== undefined) return period * this.#period + found
        second = period * this.#period - 1
        continue
      }
      if (!step()) break
      if (excluding > 0) second = Math.floor(second / excluding) * excluding - 1
      else second = (period - behind + 1) * this.#period - 1
    }
    return Number.NEGATIVE_INFINITY
  }

  /** Length of the hour, minute or second around it that a part excludes, in seconds; 0 if none does. */
  #excluding(second: number): number {
    const { byHour, byMinute, bySecond } = this.#parts
    const time = second - Math.floor(second / DAY) * DAY
    if (excludes(byHour, Math.floor(time / 3600))) return 3600
    if (this.#period <= 60 && excludes(byMinute, Math.floor(time / 60) % 60)) return 60
    return this.#period === 1 && excludes(bySecond, time % 60) ? 1 : 0
  }

  /** How many periods it lies after the last one that INTERVAL takes. */
  #behind(period: number): number {
    const { interval } = this.#parts
    return (((period - this.#startPeriod) % interval) + interval) % interval
  }
}

function excludes(list: readonly number[], value: number): boolean {
  return list.length > 0 && !list.includes(value)
}
