import * as rules from './cron-field.js'
import { type CronField, type DayRule, readCronField } from './cron-field.js'
import { didYouMean } from './did-you-mean.js'
import { quote, type Report } from './report.js'
import { startSearch, step } from './search.js'

export interface CronExpression {
  /** Upper case with single spaces, or an alias in lower case. */
  readonly text: string
  readonly seconds: ReadonlySet<number>
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly days: DayMatcher
  /** The hour field begins with `*` or matches every hour: such times follow the clock on the wall. */
  readonly wildcardHours: boolean
}

const ALIASES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const FIELDS = [
  rules.SECOND,
  rules.MINUTE,
  rules.HOUR,
  rules.DAY_OF_MONTH,
  rules.MONTH,
  rules.DAY_OF_WEEK,
] as const
const LONGEST_TEXT = 500

export function readCronExpression(
  input: unknown,
  field: string,
  report: Report,
): CronExpression | undefined {
  if (typeof input !== 'string' || input.length > LONGEST_TEXT) {
    return report(field, `${quote(input)} – expected a cron expression such as "0 9 * * MON-FRI"`)
  }
  const text = normalised(input)
  const texts = expandAlias(text).split(' ')
  const refuse = (problem: string) => report(field, `${quote(input)} – ${problem}`)
  if (text.startsWith('@') && texts.length === 1) {
    const names = Object.keys(ALIASES)
    return refuse(`is none of ${names.join(', ')}${didYouMean(input, names)}`)
  }
  if (texts.length < 5 || texts.length > 6 || text === '') {
    const count = text === '' ? 0 : texts.length
    return refuse(`has ${count} ${count === 1 ? 'field' : 'fields'}; expected 5, or 6 with leading seconds`)
  }
  if (texts.length === 5) texts.unshift('0')
  const fields = FIELDS.map((rule, index) => readCronField(texts[index]!, rule))
  for (const problem of fields) if (typeof problem === 'string') refuse(problem)
  if (fields.some((read) => typeof read === 'string')) return undefined
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek] = fields as [
    CronField,
    CronField,
    CronField,
    CronField,
    CronField,
    CronField,
  ]
  const days = new DayMatcher(daysOfMonth, daysOfWeek)
  if (!everMatches(days, months.values)) return refuse('never happens: no such day exists in any year')
  return {
    text,
    seconds: seconds.values,
    minutes: minutes.values,
    hours: hours.values,
    months: months.values,
    days,
    wildcardHours: hours.star || hours.values.size === 24,
  }
}

/** Aliases are kept as such: what people wrote is what they see. */
function normalised(input: string): string {
  const text = input.trim().replace(/\s+/g, ' ')
  return text.startsWith('@') ? text.toLowerCase() : text.toUpperCase()
}

/** The five or six fields that an alias such as `@daily` stands for; other text comes back unchanged. */
export function expandAlias(text: string): string {
  return ALIASES[text] ?? text
}

/**
 * The matching days of a month as bits, bit 0 being the first. They depend only on the month's length and on the
 * weekday of its first day, so 28 masks answer for all months of all years.
 */
export class DayMatcher {
  readonly #daysOfMonth: CronField
  readonly #daysOfWeek: CronField
  readonly #masks: (number | undefined)[] = []

  constructor(daysOfMonth: CronField, daysOfWeek: CronField) {
    this.#daysOfMonth = daysOfMonth
    this.#daysOfWeek = daysOfWeek
  }

  mask(firstWeekday: number, length: number): number {
    const index = (length - 28) * 7 + firstWeekday
    let mask = this.#masks[index]
    if (mask === undefined) {
      mask = this.#compute(firstWeekday, length)
      this.#masks[index] = mask
    }
    return mask
  }

  #compute(firstWeekday: number, length: number): number {
    let byMonth = 0
    for (const day of this.#daysOfMonth.values) if (day <= length) byMonth |= 1 << (day - 1)
    for (const rule of this.#daysOfMonth.rules) byMonth |= bit(ruleDay(rule, firstWeekday, length))
    let byWeek = 0
    for (let day = 1; day <= length; day++) {
      if (this.#daysOfWeek.values.has((firstWeekday + day - 1) % 7)) byWeek |= 1 << (day - 1)
    }
    for (const rule of this.#daysOfWeek.rules) byWeek |= bit(ruleDay(rule, firstWeekday, length))
    // As crontab has it: two restricted day fields widen each other, otherwise the one that restricts decides.
    return this.#daysOfMonth.star || this.#daysOfWeek.star ? byMonth & byWeek : byMonth | byWeek
  }
}

function bit(day: number | undefined): number {
  return day === undefined ? 0 : 1 << (day - 1)
}

function ruleDay(rule: DayRule, firstWeekday: number, length: number): number | undefined {
  switch (rule.rule) {
    case 'last':
      return length
    case 'lastWeekday':
      return nearestWeekday(length, firstWeekday, length)
    case 'nearestWeekday':
      return nearestWeekday(Math.min(rule.day, length), firstWeekday, length)
    case 'nth': {
      const day = 1 + ((rule.weekday - firstWeekday + 7) % 7) + (rule.nth - 1) * 7
      return day <= length ? day : undefined
    }
    case 'lastOf': {
      const lastWeekday = (firstWeekday + length - 1) % 7
      return length - ((lastWeekday - rule.weekday + 7) % 7)
    }
  }
}

/** Monday to Friday nearest to the day, never leaving the month. */
function nearestWeekday(day: number, firstWeekday: number, length: number): number {
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === length ? day - 2 : day + 1
  return day
}

/** Over 400 years a month of each length begins on each weekday, so the few kinds of months decide it. */
function everMatches(days: DayMatcher, months: ReadonlySet<number>): boolean {
  startSearch()
  for (const month of months) {
    for (const length of month === 2 ? [28, 29] : [[4, 6, 9, 11].includes(month) ? 30 : 31]) {
      for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
        if (!step()) return false
        if (days.mask(firstWeekday, length) !== 0) return true
      }
    }
  }
  return false
}
