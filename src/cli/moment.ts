import { hostNow } from '../clock.js'
import type { Instant } from '../time/index.js'
import { distance } from './local-time.js'

const formats = new Map<string | undefined, Intl.DateTimeFormat>()

/** `2026-12-01 09:00` on the wall of a zone, or of whoever reads the terminal; with seconds where there are some. */
export function wallTime(instant: Date | string, zone?: string): string {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      ...(zone !== undefined && { timeZone: zone }),
    })
    formats.set(zone, format)
  }
  return format.format(new Date(instant)).replace(', ', ' ').replace(/:00$/, '')
}

/** `2026-12-01 09:00 to 17:00`: the date is not repeated. */
export function wallRange(first: string, last: string): string {
  const [from, to] = [wallTime(first), wallTime(last)]
  return `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`
}

/** The wall of a zone where it shows another time than that of whoever reads; without the date where that is the same. */
export function wallElsewhere(instant: Date | string, zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined
  const [here, there] = [wallTime(instant), wallTime(instant, zone)]
  if (here === there) return undefined
  return here.slice(0, 10) === there.slice(0, 10) ? there.slice(11) : there
}

/** `in 15 days`, `2 hours ago`, `now`. */
export function distanceTo(instant: Date | string, now: Instant = hostNow()): string {
  const ms = new Date(instant).getTime() - now
  return Math.abs(ms) < 500 ? 'now' : distance(ms)
}

/** `2026-12-01 09:00 (in 15 days)`, and where the zone's wall shows another time: `… (in 15 days, 15:00 in Europe/Paris)`. */
export function moment(
  instant: Date | string,
  { zone, now }: { zone?: string | undefined; now?: Instant } = {},
): string {
  const elsewhere = wallElsewhere(instant, zone)
  const there = elsewhere === undefined ? '' : `, ${elsewhere} in ${zone}`
  return `${wallTime(instant)} (${distanceTo(instant, now)}${there})`
}

/** Of this machine. */
export function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}
