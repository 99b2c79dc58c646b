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

/** The time of day alone. */
export function clockTime(at: Date): string {
  return formatOf(TIME).format(at)
}

/** As short as it is clear: the time of day today, and the date with it on other days. */
export function shortTime(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return clockTime(at)
  const isThisYear = at.getFullYear() === now.getFullYear()
  return formatOf({
    ...TIME,
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
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
