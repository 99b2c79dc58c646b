/** No value is left in that direction. */
export const NONE = -1

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

/** The product of hours, minutes and seconds, in seconds of the day, searched by tables. */
export class TimesOfDay {
  readonly first: number
  readonly last: number
  readonly #hours: Nearest
  readonly #minutes: Nearest
  readonly #seconds: Nearest

  constructor(hours: ReadonlySet<number>, minutes: ReadonlySet<number>, seconds: ReadonlySet<number>) {
    this.#hours = nearest(hours, 24)
    this.#minutes = nearest(minutes, 60)
    this.#seconds = nearest(seconds, 60)
    this.first = this.#hours.first * 3600 + this.#minutes.first * 60 + this.#seconds.first
    this.last = this.#hours.last * 3600 + this.#minutes.last * 60 + this.#seconds.last
  }

  atOrAfter(secondOfDay: number): number {
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

  atOrBefore(secondOfDay: number): number {
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
}
