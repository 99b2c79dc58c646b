import { usableLocale } from '../../../time/locale.ts'
import type { PlanTime, Span } from './plan-times.ts'

const locale = usableLocale(globalThis.navigator?.language)
const formats = new Map<string, Intl.DateTimeFormat>()

function written(at: Date, zone: string | undefined, options: Intl.DateTimeFormatOptions): string {
  const whole = { ...options, ...(zone !== undefined && { timeZone: zone }) }
  const key = JSON.stringify(whole)
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, whole)
  formats.set(key, format)
  return format.format(at)
}

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const DAY = { weekday: 'short', day: 'numeric', month: 'long' } as const

const HEADINGS: Readonly<Record<Span, Intl.DateTimeFormatOptions>> = {
  day: { ...DAY, year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  year: { year: 'numeric' },
  ever: {},
}

/** What a group is called, by one of the instants in it; nothing where it is the only one. */
export function headingOf(span: Span, at: string, zone: string | undefined): string | undefined {
  return span === 'ever' ? undefined : written(new Date(at), zone, HEADINGS[span])
}

const IN_GROUP: Readonly<Record<Span, Intl.DateTimeFormatOptions>> = {
  day: TIME,
  month: { ...TIME, weekday: 'short', day: 'numeric' },
  year: { ...TIME, day: 'numeric', month: 'short' },
  ever: { ...TIME, day: 'numeric', month: 'short', year: 'numeric' },
}

/**
 * What each plan time of a group is called in it: to the second where some are, and with the offset where the same
 * time shows twice.
 */
export function labelsOf(span: Span, planTimes: readonly PlanTime[], zone: string | undefined): string[] {
  const hasSeconds = planTimes.some(({ at }) => new Date(at).getUTCSeconds() !== 0)
  const options = { ...IN_GROUP[span], ...(hasSeconds && { second: '2-digit' as const }) }
  const labels = planTimes.map(({ at }) => written(new Date(at), zone, options))
  const times = new Map<string, number>()
  for (const label of labels) times.set(label, (times.get(label) ?? 0) + 1)
  return labels.map((label, index) =>
    times.get(label) === 1
      ? label
      : written(new Date(planTimes[index]!.at), zone, { ...options, timeZoneName: 'shortOffset' }),
  )
}

/** All that is to be said of an instant in one zone. */
export function wholeTime(at: Date, zone: string | undefined): string {
  return written(at, zone, {
    ...TIME,
    ...DAY,
    year: 'numeric',
    second: '2-digit',
    timeZoneName: 'short',
  })
}
