import type { KeyboardEvent } from 'react'
import type { Day } from './week.ts'

const STEPS: Readonly<Record<string, [days: number, hours: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** When the hour begins to which a key leads from another; undefined at the rim, and for other keys. */
export function hourBeside(days: readonly Day[], from: number, key: string): number | undefined {
  const [daysOn, hoursOn] = STEPS[key] ?? [0, 0]
  const place = days.findIndex(({ hours }) => hours.some((hour) => hour.from.getTime() === from))
  const hours = days[place]?.hours ?? []
  const index = hours.findIndex((hour) => hour.from.getTime() === from)
  if (index === -1 || (daysOn === 0 && hoursOn === 0)) return undefined
  if (daysOn === 0) return hours[index + hoursOn]?.from.getTime()
  // An hour that is not there that day gives way to the one before it.
  const wanted = hours[index]!.hour
  return days[place + daysOn]?.hours.findLast(({ hour }) => hour <= wanted)?.from.getTime()
}

/** Arrows go from hour to hour, as in any calendar: the table is one stop for the tabulator key. */
export function moveByKey(days: readonly Day[], event: KeyboardEvent<HTMLElement>): void {
  const from = Number((event.target as HTMLElement).dataset.hour)
  const next = hourBeside(days, from, event.key)
  if (next === undefined) return
  event.preventDefault()
  event.currentTarget.querySelector<HTMLElement>(`[data-hour="${next}"]`)?.focus()
}
