import { usableLocale } from '../../time/locale.ts'

const locale = usableLocale(globalThis.navigator?.language)
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options)

const SHORT_DAY = format({ weekday: 'short' })
const LONG_DAY = format({ weekday: 'long', day: 'numeric', month: 'long' })
const DATE = format({ day: 'numeric', month: 'long', year: 'numeric' })
const TIME = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const TIME_WITH_OFFSET = format({
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'shortOffset',
})
const SHORT_NUMBER = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 2 })
const ROUNDED = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
const EXACT = new Intl.NumberFormat(locale)

export const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone

export const shortDay = (at: Date) => SHORT_DAY.format(at)
export const longDay = (at: Date) => LONG_DAY.format(at)
export const weekWords = (first: Date, last: Date) => DATE.formatRange(first, last)

export interface Span {
  from: Date
  to: Date
}

/** With the offset from UTC where the wall shows the hour twice. */
export function timeWords({ from, to }: Span, isTwice: boolean): string {
  return `${(isTwice ? TIME_WITH_OFFSET : TIME).format(from)} to ${TIME.format(to)}`
}

/** As short as it must be in a cell. */
export const shortRuns = (runs: number) => SHORT_NUMBER.format(runs)

/** An estimate is no more exact than it is. */
export function runsWords(runs: number, isEstimate: boolean): string {
  const figure = isEstimate && runs > 0 ? `about ${ROUNDED.format(runs)}` : EXACT.format(runs)
  return `${figure} ${runs === 1 ? 'run' : 'runs'}`
}
