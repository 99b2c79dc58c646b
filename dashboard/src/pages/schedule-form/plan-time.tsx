import { everyZone } from '../../time/format.ts'
import { usableLocale } from '../../time/locale.ts'

const WHOLE = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const
const locale = usableLocale(globalThis.navigator?.language)

/** With its weekday and year: it may be far away. Seconds where there are some. */
export function wholeTime(at: Date, zone?: string): string {
  const second = at.getTime() % 60_000 === 0 ? {} : ({ second: '2-digit' } as const)
  const timeZone = zone === undefined ? {} : { timeZone: zone }
  return new Intl.DateTimeFormat(locale, { ...WHOLE, ...second, ...timeZone }).format(at)
}

/** A plan time on the wall of a zone, or here. */
export function PlanTime({ at, zone }: { at: string; zone?: string | undefined }) {
  const instant = new Date(at)
  return (
    <time dateTime={at} title={everyZone(instant, zone)} className="whitespace-nowrap tabular-nums">
      {wholeTime(instant, zone)}
    </time>
  )
}
