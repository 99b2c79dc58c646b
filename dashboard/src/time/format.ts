import { usableLocale } from './locale.ts'

const locale = usableLocale(globalThis.navigator?.language)

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(locale, options)
  formats.set(key, made)
  return made
}

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const WHOLE = {
  ...TIME,
  second: '2-digit',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZoneName: 'short',
} as const

/** Undefined stands for the browser's zone. */
type Zone = string | undefined
const inZone = (zone: Zone) => (zone === undefined ? {} : { timeZone: zone })

/** The time of day alone. */
export function clockTime(at: Date, zone?: Zone): string {
  return formatOf({ ...TIME, ...inZone(zone) }).format(at)
}

/** The date alone, in figures: to compare, and as a key. */
export function dayOf(at: Date, zone?: Zone): string {
  const parts = formatOf({
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...inZone(zone),
  }).formatToParts(at)
  const part = (type: string) => parts.find((each) => each.type === type)?.value
  return `${part('year')}-${part('month')}-${part('day')}`
}

/** As short as it is clear: the time of day today, and the date with it on other days. */
export function shortTime(at: Date, now: Date, zone?: Zone): string {
  return formatOf({ ...TIME, ...dayUnlessToday(at, now, zone), ...inZone(zone) }).format(at)
}

/** The same to the second. */
export function exactTime(at: Date, now: Date, zone?: Zone): string {
  const time = { ...TIME, second: '2-digit' } as const
  return formatOf({ ...time, ...dayUnlessToday(at, now, zone), ...inZone(zone) }).format(at)
}

function dayUnlessToday(at: Date, now: Date, zone: Zone): Intl.DateTimeFormatOptions {
  const [day, today] = [dayOf(at, zone), dayOf(now, zone)]
  if (day === today) return {}
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  return { day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' }) }
}

/** All that a person wants to know of a time to come: the day of the week, the date, the time and its zone. */
export function longTime(at: Date, zone?: Zone): string {
  return formatOf({
    ...TIME,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZoneName: 'short',
    ...inZone(zone),
  }).format(at)
}

/** The instant in the browser's zone, in UTC, and in a zone of its own where it has one that the browser knows. */
export function everyZone(at: Date, zone?: string): string {
  const lines = [`${formatOf(WHOLE).format(at)} (here)`, `${at.toISOString()} (UTC)`]
  if (zone !== undefined && !/^(?:Etc\/)?UTC$/.test(zone)) {
    try {
      lines.push(`${formatOf({ ...WHOLE, timeZone: zone }).format(at)} (${zone})`)
    } catch {}
  }
  return lines.join('\n')
}

export function count(value: number): string {
  return value.toLocaleString(locale)
}
