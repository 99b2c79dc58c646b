import { clockTime } from '../../../time/format.ts'
import { usableLocale } from '../../../time/locale.ts'
import type { Span } from '../history/spans.ts'
import type { Tick } from './geometry.ts'

const weekdays = new Intl.DateTimeFormat(usableLocale(globalThis.navigator?.language), { weekday: 'short' })

export const weekdayOf = (at: Date) => weekdays.format(at)

/** Whether a label begins there, on the wall here: each quarter of an hour, of a day, each day of a week. */
const BEGINS: Readonly<Record<string, (at: Date) => boolean>> = {
  hour: (at) => at.getMinutes() % 15 === 0,
  day: (at) => at.getHours() % 6 === 0 && at.getMinutes() === 0,
  week: (at) => at.getHours() === 0 && at.getMinutes() === 0,
}

const LOOK_MS = 15 * 60_000

/** Where labels of time are, of all quarters of an hour in the range. */
export function timeTicks({ name, ms }: Pick<Span, 'name' | 'ms'>, from: number): Tick[] {
  const first = Math.ceil(from / LOOK_MS) * LOOK_MS
  const ticks: Tick[] = []
  for (let at = first; at < from + ms; at += LOOK_MS) {
    const date = new Date(at)
    if (!BEGINS[name]!(date)) continue
    ticks.push({ place: (at - from) / ms, label: name === 'week' ? weekdayOf(date) : clockTime(date) })
  }
  return ticks
}
