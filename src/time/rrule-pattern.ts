import { SECOND_MS, type WallTime } from './calendar.js'
import { LAST_INSTANT } from './instant.js'
import { RuleDays } from './rrule-days.js'
import type { RuleParts } from './rrule-parts.js'
import { step } from './search.js'

const DAY = 86_400
const NEVER = Number.POSITIVE_INFINITY
/** In seconds, with room for the zones that are ahead of UTC. */
const LAST_SECOND = Math.floor(LAST_INSTANT / SECOND_MS) + DAY

const SUB_DAILY = { HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 }

/**
 * A rule in floating wall time, counted in whole seconds since 1970-01-01T00:00 on the wall.
 *
 * Days and times are independent for rules of a day and longer: days are walked, times are a list. Rules of hours,
 * minutes or seconds walk their periods, jumping over days, hours and minutes that cannot match.
 */
export class RulePattern {
  readonly #parts: RuleParts
  readonly #days: RuleDays
  readonly #start: number
  /** Last second that may match, inclusive. */
  #end: number
  readonly #next: (second: number) => number

  /** @param until - inclusive; `Infinity` for a rule without an end of its own. */
  constructor(parts: RuleParts, start: WallTime, until: WallTime) {
    this.#parts = parts
    this.#start = Math.ceil(start / SECOND_MS)
    this.#end = Math.min(Math.floor(until / SECOND_MS), LAST_SECOND)
    this.#days = new RuleDays(parts, Math.floor(this.#start / DAY))
    this.#next = this.#searcher()
    if (parts.count !== undefined) this.#end = this.#countedEnd(parts.count)
  }

  atOrAfter(wall: WallTime): WallTime {
    const found = this.#atOrAfter(Math.ceil(wall / SECOND_MS))
    return found * SECOND_MS
  }

  #atOrAfter(second: number): number {
    const found = this.#next(Math.max(second, this.#start))
    return found <= this.#end ? found : NEVER
  }

  /** COUNT, resolved to the last second it lets through; -Infinity when it cannot be counted within the bound. */
  #countedEnd(count: number): number {
    let last = this.#start - 1
    for (let found = 0; found < count; found++) {
      if (!step()) return Number.NEGATIVE_INFINITY
      const next = this.#atOrAfter(last + 1)
      if (next === NEVER) return last
      last = next
    }
    return last
  }

  #searcher(): (second: number) => number {
    const { frequency, bySetPosition } = this.#parts
    if (frequency === 'HOURLY' || frequency === 'MINUTELY' || frequency === 'SECONDLY') {
      return this.#subDailySearch(SUB_DAILY[frequency])
    }
    const startTime = this.#start - Math.floor(this.#start / DAY) * DAY
    const times = timesOf(
      filled(this.#parts.byHour, Math.floor(startTime / 3600)),
      filled(this.#parts.byMinute, Math.floor(startTime / 60) % 60),
      filled(this.#parts.bySecond, startTime % 60),
    )
    return bySetPosition.length > 0 ? this.#positionSearch(times) : this.#dailySearch(times)
  }

  #dailySearch(times: readonly number[]): (second: number) => number {
    return (second) => {
      let day = Math.floor(second / DAY)
      let time = second - day * DAY
      while (day * DAY <= this.#end && step()) {
        const candidate = this.#days.candidate(day)
        if (candidate === day && this.#days.matches(day)) {
          const index = firstIndex(times, time)
          if (index < times.length) return day * DAY + times[index]!
        }
        day = Math.max(candidate, day + (candidate === day ? 1 : 0))
        time = 0
      }
      return NEVER
    }
  }

  /** BYSETPOS chooses among all that a whole period yields, also what lies before the start. */
  #positionSearch(times: readonly number[]): (second: number) => number {
    return (second) => {
      let day = Math.floor(second / DAY)
      while (day * DAY <= this.#end && step()) {
        const { from, to, taken } = this.#days.periodAround(day)
        if (taken) {
          const days: number[] = []
          for (let inside = from; inside < to && step(); inside++) {
            if (this.#days.matches(inside)) days.push(inside)
          }
          const found = positions(this.#parts.bySetPosition, days.length * times.length)
            .map((index) => days[Math.floor(index / times.length)]! * DAY + times[index % times.length]!)
            .find((chosen) => chosen >= second)
          if (found !== undefined) return found
        }
        day = taken ? to : this.#days.candidate(day)
      }
      return NEVER
    }
  }

  #subDailySearch(unit: number): (second: number) => number {
    const { interval, byHour, byMinute, bySecond, bySetPosition } = this.#parts
    const startPeriod = Math.floor(this.#start / unit)
    const startTime = this.#start - Math.floor(this.#start / DAY) * DAY
    const all = timesOf(
      [0],
      unit === 3600 ? filled(byMinute, Math.floor(startTime / 60) % 60) : [0],
      unit >= 60 ? filled(bySecond, startTime % 60) : [0],
    )
    const inside =
      bySetPosition.length > 0 ? positions(bySetPosition, all.length).map((index) => all[index]!) : all
    return (from) => {
      let second = from
      while (second <= this.#end && step()) {
        const period = Math.floor(second / unit)
        const behind = (period - startPeriod) % interval
        if (behind > 0) {
          second = (period + interval - behind) * unit
          continue
        }
        const day = Math.floor(second / DAY)
        const candidate = this.#days.candidate(day)
        const time = second - day * DAY
        if (candidate > day) second = candidate * DAY
        else if (!this.#days.matches(day)) second = (day + 1) * DAY
        else if (excludes(byHour, Math.floor(time / 3600))) second = nextMultiple(second, 3600)
        else if (unit <= 60 && excludes(byMinute, Math.floor(time / 60) % 60))
          second = nextMultiple(second, 60)
        else if (unit === 1 && excludes(bySecond, time % 60)) second += 1
        else {
          const index = firstIndex(inside, second - period * unit)
          if (index < inside.length) return period * unit + inside[index]!
          second = (period + interval) * unit
        }
      }
      return NEVER
    }
  }
}

function filled(list: readonly number[], preset: number): readonly number[] {
  return list.length > 0 ? list : [preset]
}

function excludes(list: readonly number[], value: number): boolean {
  return list.length > 0 && !list.includes(value)
}

function nextMultiple(second: number, unit: number): number {
  return (Math.floor(second / unit) + 1) * unit
}

/** All combinations in seconds, ascending, none twice. */
function timesOf(hours: readonly number[], minutes: readonly number[], seconds: readonly number[]): number[] {
  const times = new Set<number>()
  for (const hour of hours) {
    for (const minute of minutes) for (const second of seconds) times.add(hour * 3600 + minute * 60 + second)
  }
  return [...times].sort((a, b) => a - b)
}

/** BYSETPOS as indexes from 0 into a set of that size, ascending, none twice. */
function positions(list: readonly number[], size: number): number[] {
  const indexes = list.map((position) => (position > 0 ? position - 1 : size + position))
  return [...new Set(indexes.filter((index) => index >= 0 && index < size))].sort((a, b) => a - b)
}

/** Index of the first value not below the given one. */
function firstIndex(values: readonly number[], least: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}
