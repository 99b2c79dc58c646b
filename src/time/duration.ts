import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './calendar.js'
import { didYouMean } from './did-you-mean.js'
import { quote, type Report, readOrThrow } from './report.js'

export interface DurationFields {
  years?: number
  months?: number
  weeks?: number
  days?: number
  hours?: number
  minutes?: number
  seconds?: number
  milliseconds?: number
}

/** Text such as '90s', '15 minutes', '1 hour 30 minutes', 'P1M', 'PT1H30M', or the same as an object. */
export type DurationInput = string | DurationFields

/**
 * Three parts that no fixed number converts into each other: a month has no fixed number of days, and a day on
 * the wall has not always 24 hours.
 */
export interface Duration {
  /** Calendar months; a year is 12. */
  readonly months: number
  /** Calendar days; a week is 7. */
  readonly days: number
  /** Elapsed time, whole. */
  readonly milliseconds: number
}

type Unit = keyof DurationFields

const UNITS: Readonly<Record<Unit, { part: keyof Duration; size: number }>> = {
  years: { part: 'months', size: 12 },
  months: { part: 'months', size: 1 },
  weeks: { part: 'days', size: 7 },
  days: { part: 'days', size: 1 },
  hours: { part: 'milliseconds', size: HOUR_MS },
  minutes: { part: 'milliseconds', size: MINUTE_MS },
  seconds: { part: 'milliseconds', size: SECOND_MS },
  milliseconds: { part: 'milliseconds', size: 1 },
}

const SPELLINGS: Readonly<Record<Unit, readonly string[]>> = {
  years: ['y', 'yr', 'yrs', 'year', 'years'],
  months: ['mo', 'month', 'months'],
  weeks: ['w', 'wk', 'wks', 'week', 'weeks'],
  days: ['d', 'day', 'days'],
  hours: ['h', 'hr', 'hrs', 'hour', 'hours'],
  minutes: ['m', 'min', 'mins', 'minute', 'minutes'],
  seconds: ['s', 'sec', 'secs', 'second', 'seconds'],
  milliseconds: ['ms', 'millisecond', 'milliseconds'],
}

const UNIT_BY_SPELLING: ReadonlyMap<string, Unit> = new Map(
  Object.entries(SPELLINGS).flatMap(([unit, spellings]) => spellings.map((text) => [text, unit as Unit])),
)

/** A thousand years: beyond any schedule, and far inside of exact numbers. */
const LONGEST: Duration = { months: 12_000, days: 365_250, milliseconds: 365_250 * DAY_MS }

const EXAMPLES = `such as '90s', '15 minutes', '1 hour 30 minutes' or 'P1M'`

export function parseDuration(input: DurationInput, field = 'duration'): Duration {
  return readOrThrow('option_invalid', (report) => readDuration(input, field, report))
}

/**
 * Milliseconds of an elapsed span, as policies need it (delay, grace, lease). Days and weeks count as multiples of
 * 24 hours here; months and years have no fixed length and are refused.
 */
export function durationToMs(input: DurationInput, field = 'duration'): number {
  return readOrThrow('option_invalid', (report) => readElapsed(input, field, report))
}

export function readElapsed(input: unknown, field: string, report: Report): number | undefined {
  const duration = readDuration(input, field, report)
  if (duration === undefined) return undefined
  if (duration.months > 0) {
    return report(field, `${quote(input)} – months and years have no fixed length; give days or hours`)
  }
  return duration.days * DAY_MS + duration.milliseconds
}

export function readDuration(input: unknown, field: string, report: Report): Duration | undefined {
  if (typeof input === 'string') return readText(input, field, report)
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    return readFields(input as Record<string, unknown>, field, report)
  }
  return report(field, `${quote(input)} – expected a duration ${EXAMPLES}`)
}

const ISO =
  /^P(?=.)(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?=.)(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/i
const ISO_UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const
const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/
const WORDS = /^(?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+$/i
const WORD = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi
/** Longer text is no duration; the limit keeps the patterns cheap on hostile input. */
const LONGEST_TEXT = 200

function readText(text: string, field: string, report: Report): Duration | undefined {
  const trimmed = text.trim()
  const amounts: [Unit, string][] = []
  const iso = trimmed.length <= LONGEST_TEXT ? ISO.exec(trimmed) : null
  if (iso) {
    ISO_UNITS.forEach((unit, index) => {
      const amount = iso[index + 1]
      if (amount !== undefined) amounts.push([unit, amount])
    })
  } else if (trimmed.length <= LONGEST_TEXT && WORDS.test(trimmed)) {
    for (const [, amount, word] of trimmed.matchAll(WORD)) {
      if (word === 'M') return report(field, `${quote(text)} – M is ambiguous: write "min" or "months"`)
      const unit = UNIT_BY_SPELLING.get(word!.toLowerCase())
      if (unit === undefined) {
        const hint = didYouMean(word!, Object.keys(UNITS))
        return report(field, `${quote(text)} – ${quote(word)} is not a unit of time${hint}`)
      }
      amounts.push([unit, amount!])
    }
  } else {
    return report(field, `${quote(text)} – is not a duration ${EXAMPLES}`)
  }
  const repeated = amounts.find(([unit], index) => amounts.findIndex(([other]) => other === unit) !== index)
  if (repeated) return report(field, `${quote(text)} – names ${repeated[0]} twice`)
  const invalid = amounts.find(([, amount]) => !NUMBER.test(amount))
  if (invalid) return report(field, `${quote(text)} – ${quote(invalid[1])} is not a number of ${invalid[0]}`)
  return total(
    amounts.map(([unit, amount]) => [unit, Number(amount)]),
    text,
    field,
    report,
  )
}

function readFields(input: Record<string, unknown>, field: string, report: Report): Duration | undefined {
  const amounts: [Unit, number][] = []
  let refused = false
  for (const [unit, amount] of Object.entries(input)) {
    if (amount === undefined) continue
    if (!Object.hasOwn(UNITS, unit)) {
      report(`${field}.${unit}`, `is not a unit of time${didYouMean(unit, Object.keys(UNITS))}`)
      refused = true
    } else if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
      report(`${field}.${unit}`, `${quote(amount)} – expected a number of at least 0`)
      refused = true
    } else {
      amounts.push([unit as Unit, amount])
    }
  }
  if (refused) return undefined
  if (amounts.length === 0)
    return report(field, `${quote(input)} – names no unit; give for example { minutes: 15 }`)
  return total(amounts, input, field, report)
}

function total(
  amounts: readonly (readonly [Unit, number])[],
  input: unknown,
  field: string,
  report: Report,
): Duration | undefined {
  const sum = { months: 0, days: 0, milliseconds: 0 }
  for (const [unit, amount] of amounts) {
    const { part, size } = UNITS[unit]
    if (part !== 'milliseconds' && !Number.isInteger(amount)) {
      return report(field, `${quote(input)} – ${unit} must be whole`)
    }
    // Decimals such as 0.1 are inexact in binary: what is within a millionth of whole was meant whole.
    const value = amount * size
    const whole = Math.round(value)
    if (Math.abs(value - whole) > 1e-6) {
      return report(field, `${quote(input)} – is finer than a millisecond, which is our precision`)
    }
    sum[part] += whole
  }
  if (sum.months > LONGEST.months || sum.days > LONGEST.days || sum.milliseconds > LONGEST.milliseconds) {
    return report(field, `${quote(input)} – is longer than 1,000 years`)
  }
  return sum
}

/** Canonical words: equal durations have equal texts, and {@link parseDuration} reads them back. */
export function formatDuration({ months, days, milliseconds }: Duration): string {
  const parts = [
    ...split(months, [
      ['year', 12],
      ['month', 1],
    ]),
    ...(days % 7 === 0 ? split(days, [['week', 7]]) : split(days, [['day', 1]])),
    ...split(milliseconds, [
      ['hour', HOUR_MS],
      ['minute', MINUTE_MS],
      ['second', SECOND_MS],
      ['millisecond', 1],
    ]),
  ]
  return parts.length === 0 ? '0 seconds' : parts.join(' ')
}

function split(amount: number, units: readonly (readonly [string, number])[]): string[] {
  let rest = amount
  return units.flatMap(([name, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count} ${name}${count === 1 ? '' : 's'}`]
  })
}
