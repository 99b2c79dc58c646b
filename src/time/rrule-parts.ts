import { didYouMean } from './did-you-mean.js'
import { readIcsDate } from './ics-date.js'
import type { DateTime } from './instant.js'
import { quote, type Report } from './report.js'

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const
export type Frequency = (typeof FREQUENCIES)[number]

export interface RuleDay {
  /** 0 is Sunday. */
  readonly weekday: number
  /** Which one of the month or year, negative from its end; 0 for each. */
  readonly nth: number
}

export interface RuleParts {
  readonly frequency: Frequency
  readonly interval: number
  readonly count: number | undefined
  /** Inclusive. */
  readonly until: DateTime | undefined
  readonly byMonth: readonly number[]
  readonly byWeekNumber: readonly number[]
  readonly byYearDay: readonly number[]
  readonly byMonthDay: readonly number[]
  readonly byDay: readonly RuleDay[]
  readonly byHour: readonly number[]
  readonly byMinute: readonly number[]
  readonly bySecond: readonly number[]
  readonly bySetPosition: readonly number[]
  /** First day of the week, 0 being Sunday. */
  readonly weekStart: number
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const LISTS = {
  BYMONTH: { low: 1, high: 12, signed: false },
  BYWEEKNO: { low: 1, high: 53, signed: true },
  BYYEARDAY: { low: 1, high: 366, signed: true },
  BYMONTHDAY: { low: 1, high: 31, signed: true },
  BYHOUR: { low: 0, high: 23, signed: false },
  BYMINUTE: { low: 0, high: 59, signed: false },
  BYSECOND: { low: 0, high: 59, signed: false },
  BYSETPOS: { low: 1, high: 366, signed: true },
} as const
const PARTS = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'WKST', ...Object.keys(LISTS)]
const LARGEST_INTERVAL = 1_000_000
/** Where a COUNT ends is found by counting, within the bound on steps. */
const LARGEST_COUNT = 10_000

/** Reads the rule itself, as in `FREQ=MONTHLY;BYDAY=-1FR`; reports everything that RFC 5545 does not allow. */
export function readRuleParts(text: string, field: string, report: Report): RuleParts | undefined {
  let refused = false
  const refuse = (problem: string): undefined => {
    refused = true
    return report(field, `${quote(text)} – ${problem}`)
  }
  const given = new Map<string, string>()
  for (const part of text.split(';')) {
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    if (!PARTS.includes(name)) refuse(`${quote(name)} is not a part of a rule${didYouMean(name, PARTS)}`)
    else if (given.has(name)) refuse(`${name} is given twice`)
    else if (equals < 0 || part.length === equals + 1) refuse(`${name} has no value`)
    else given.set(name, part.slice(equals + 1))
  }
  const list = (name: keyof typeof LISTS) => readList(name, given.get(name), refuse)
  const frequency = readFrequency(given.get('FREQ'), refuse)
  const parts: RuleParts = {
    frequency: frequency ?? 'DAILY',
    interval: readPositive('INTERVAL', given.get('INTERVAL'), LARGEST_INTERVAL, refuse) ?? 1,
    count: readPositive('COUNT', given.get('COUNT'), LARGEST_COUNT, refuse),
    until: readUntil(given.get('UNTIL'), refuse),
    byMonth: list('BYMONTH'),
    byWeekNumber: list('BYWEEKNO'),
    byYearDay: list('BYYEARDAY'),
    byMonthDay: list('BYMONTHDAY'),
    byDay: readDays(given.get('BYDAY'), refuse),
    byHour: list('BYHOUR'),
    byMinute: list('BYMINUTE'),
    bySecond: list('BYSECOND'),
    bySetPosition: list('BYSETPOS'),
    weekStart: readWeekStart(given.get('WKST'), refuse),
  }
  if (frequency !== undefined) for (const problem of conflicts(parts, given)) refuse(problem)
  return refused ? undefined : parts
}

type Refuse = (problem: string) => undefined

function readFrequency(text: string | undefined, refuse: Refuse): Frequency | undefined {
  const found = FREQUENCIES.find((frequency) => frequency === text)
  if (found !== undefined) return found
  if (text === undefined) return refuse('FREQ is missing')
  return refuse(`FREQ ${quote(text)} is none of ${FREQUENCIES.join(', ')}${didYouMean(text, FREQUENCIES)}`)
}

function readPositive(
  name: string,
  text: string | undefined,
  most: number,
  refuse: Refuse,
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= most) return value
  return refuse(`${name} ${quote(text)} is out of range 1–${most.toLocaleString('en')}`)
}

function readUntil(text: string | undefined, refuse: Refuse): DateTime | undefined {
  if (text === undefined) return undefined
  // A day without a time includes all of that day, which is what people mean by it.
  const date = readIcsDate(text.includes('T') ? text : `${text}T235959`)
  return typeof date === 'string' ? refuse(`UNTIL ${date}`) : date
}

function readList(name: keyof typeof LISTS, text: string | undefined, refuse: Refuse): number[] {
  if (text === undefined) return []
  const { low, high, signed } = LISTS[name]
  return text.split(',').map((item) => {
    const value = /^[+-]?\d{1,3}$/.test(item) && (signed || /^\d/.test(item)) ? Number(item) : Number.NaN
    const size = Math.abs(value)
    if (!(size >= low && size <= high)) {
      refuse(`${name} ${quote(item)} is out of range ${signed ? '±' : ''}${low}–${high}`)
    }
    return value
  })
}

function readDays(text: string | undefined, refuse: Refuse): RuleDay[] {
  if (text === undefined) return []
  return text.split(',').map((item) => {
    const match = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(item)
    const weekday = WEEKDAYS.indexOf(match?.[2] ?? '')
    const nth = Number(match?.[1] ?? 0)
    if (weekday < 0) refuse(`BYDAY ${quote(item)} is not a weekday such as MO, 2TU or -1FR`)
    else if (match?.[1] !== undefined && !(Math.abs(nth) >= 1 && Math.abs(nth) <= 53)) {
      refuse(`BYDAY ${quote(item)}: the number is out of range ±1–53`)
    }
    return { weekday, nth }
  })
}

function readWeekStart(text: string | undefined, refuse: Refuse): number {
  const weekday = WEEKDAYS.indexOf(text ?? 'MO')
  if (weekday < 0) refuse(`WKST ${quote(text)} is none of ${WEEKDAYS.join(', ')}`)
  return weekday
}

function* conflicts(parts: RuleParts, given: ReadonlyMap<string, string>): Iterable<string> {
  const { frequency } = parts
  const monthly = frequency === 'MONTHLY'
  const yearly = frequency === 'YEARLY'
  if (given.has('COUNT') && given.has('UNTIL')) yield 'COUNT and UNTIL exclude each other'
  if (given.has('BYWEEKNO') && !yearly) yield 'BYWEEKNO is for FREQ=YEARLY only'
  if (given.has('BYYEARDAY') && ['MONTHLY', 'WEEKLY', 'DAILY'].includes(frequency)) {
    yield `BYYEARDAY does not go with FREQ=${frequency}`
  }
  if (given.has('BYMONTHDAY') && frequency === 'WEEKLY') yield 'BYMONTHDAY does not go with FREQ=WEEKLY'
  if (parts.byDay.some(({ nth }) => nth !== 0)) {
    if (!monthly && !yearly) yield `BYDAY takes no number with FREQ=${frequency}`
    if (given.has('BYWEEKNO')) yield 'BYDAY takes no number together with BYWEEKNO'
  }
  if (
    given.has('BYSETPOS') &&
    ![...given.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS')
  ) {
    yield 'BYSETPOS needs another BY part to choose from'
  }
}
