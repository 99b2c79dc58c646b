import { didYouMean } from './did-you-mean.js'

/** What one field of a cron text may hold. */
export interface CronFieldRules {
  readonly name: string
  readonly low: number
  readonly high: number
  /** Names in order, the first one standing for `low`. */
  readonly names?: readonly string[]
  /** `?` means the same as `*`. */
  readonly question?: true
  /** Reads an item that is special to this field; undefined when it is none. */
  readonly special?: (item: string) => DayRule | string | undefined
}

/** A day that depends on the month it is in. */
export type DayRule =
  | { rule: 'last' }
  | { rule: 'lastWeekday' }
  | { rule: 'nearestWeekday'; day: number }
  | { rule: 'nth'; weekday: number; nth: number }
  | { rule: 'lastOf'; weekday: number }

export interface CronField {
  readonly values: ReadonlySet<number>
  readonly rules: readonly DayRule[]
  /** Begins with `*`, or is `?`: the field does not restrict, even if a step thins it out. */
  readonly star: boolean
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const SECOND: CronFieldRules = { name: 'second', low: 0, high: 59 }
export const MINUTE: CronFieldRules = { name: 'minute', low: 0, high: 59 }
export const HOUR: CronFieldRules = { name: 'hour', low: 0, high: 23 }
export const DAY_OF_MONTH: CronFieldRules = {
  name: 'day-of-month',
  low: 1,
  high: 31,
  question: true,
  special: readDayOfMonthRule,
}
export const MONTH: CronFieldRules = { name: 'month', low: 1, high: 12, names: MONTHS }
export const DAY_OF_WEEK: CronFieldRules = {
  name: 'day-of-week',
  low: 0,
  high: 7,
  names: WEEKDAYS,
  question: true,
  special: readDayOfWeekRule,
}

/** Reads one field of upper-case text; gives a sentence about what is wrong otherwise. */
export function readCronField(text: string, rules: CronFieldRules): CronField | string {
  const values = new Set<number>()
  const dayRules: DayRule[] = []
  for (const item of text.split(',')) {
    if (item === '') return `${rules.name} ${JSON.stringify(text)} has an empty item`
    const special = rules.special?.(item)
    if (typeof special === 'string') return special
    if (special !== undefined) dayRules.push(special)
    else {
      const problem = addItem(item, rules, values)
      if (problem !== undefined) return problem
    }
  }
  return { values, rules: dayRules, star: text.startsWith('*') || text === '?' }
}

function addItem(item: string, rules: CronFieldRules, values: Set<number>): string | undefined {
  const [range = '', stepText, ...more] = item.split('/')
  if (more.length > 0) return `${rules.name} "${item}" has more than one step`
  const bounds = readRange(range, stepText !== undefined, rules)
  if (typeof bounds === 'string') return bounds
  let step = 1
  if (stepText !== undefined) {
    const most = rules === DAY_OF_WEEK ? 7 : rules.high - rules.low + 1
    step = readNumber(stepText)
    if (!(step >= 1 && step <= most)) return `${rules.name} step "${stepText}" is out of range 1–${most}`
  }
  for (let value = bounds.low; value <= bounds.high; value += step) {
    values.add(rules === DAY_OF_WEEK ? value % 7 : value)
  }
  return undefined
}

function readRange(
  text: string,
  stepped: boolean,
  rules: CronFieldRules,
): { low: number; high: number } | string {
  // Sunday has two numbers, and a range over the whole week must not count it twice.
  const last = rules === DAY_OF_WEEK ? 6 : rules.high
  if (text === '*' || (text === '?' && rules.question && !stepped)) return { low: rules.low, high: last }
  if (text === '?') return `${rules.name} cannot be "?"; that is for the two day fields, without a step`
  const dash = text.indexOf('-')
  if (dash < 0) {
    const value = readValue(text, rules)
    if (typeof value === 'string') return value
    return { low: value, high: stepped ? Math.max(last, value) : value }
  }
  const lowText = text.slice(0, dash)
  const highText = text.slice(dash + 1)
  const low = readValue(lowText, rules)
  if (typeof low === 'string') return low
  let high = readValue(highText, rules)
  if (typeof high === 'string') return high
  if (highText === 'SUN' && low > 0) high = 7
  if (low <= high) return { low, high }
  return `${rules.name} "${text}" goes backwards; write "${twoRanges(lowText, highText, low, high, rules)}"`
}

function twoRanges(
  lowText: string,
  highText: string,
  low: number,
  high: number,
  rules: CronFieldRules,
): string {
  const named = rules.names?.includes(lowText)
  const last = rules === DAY_OF_WEEK ? 6 : rules.high
  const spell = (value: number) => (named ? rules.names![value - rules.low]! : String(value))
  const upper = low >= last ? lowText : `${lowText}-${spell(last)}`
  const lower = high === rules.low ? spell(rules.low) : `${spell(rules.low)}-${highText}`
  return `${upper},${lower}`
}

function readValue(text: string, rules: CronFieldRules): number | string {
  const named = rules.names?.indexOf(text) ?? -1
  if (named >= 0) return named + rules.low
  const value = readNumber(text)
  if (Number.isNaN(value)) {
    const hint = text.length > 2 ? didYouMean(text.slice(0, 3), rules.names ?? []) : ''
    return `${rules.name} ${JSON.stringify(text)} is not a number${rules.names ? ' or a name' : ''}${hint}`
  }
  if (value < rules.low || value > rules.high) {
    return `${rules.name} ${text} is out of range ${rules.low}–${rules.high}`
  }
  return value
}

function readNumber(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
}

function readDayOfMonthRule(item: string): DayRule | string | undefined {
  if (item === 'L') return { rule: 'last' }
  if (item === 'LW' || item === 'WL') return { rule: 'lastWeekday' }
  if (!/^[^/]*[LW#][^/]*$/.test(item)) return undefined
  const day = item.endsWith('W') ? readNumber(item.slice(0, -1)) : Number.NaN
  if (Number.isNaN(day))
    return `day-of-month "${item}" is not understood; special days are "L", "LW" and "15W"`
  if (day < 1 || day > 31) return `day-of-month ${day} is out of range 1–31`
  return { rule: 'nearestWeekday', day }
}

function readDayOfWeekRule(item: string): DayRule | string | undefined {
  if (item === 'L')
    return 'day-of-week "L" is ambiguous; write "6" for Saturday, or "6L" for the last Saturday'
  const hash = item.indexOf('#')
  if (hash < 0 && !(item.endsWith('L') && !item.includes('-') && !item.includes('/'))) return undefined
  const weekday = readValue(hash < 0 ? item.slice(0, -1) : item.slice(0, hash), DAY_OF_WEEK)
  if (typeof weekday === 'string') return weekday
  if (hash < 0) return { rule: 'lastOf', weekday: weekday % 7 }
  const nth = readNumber(item.slice(hash + 1))
  if (!(nth >= 1 && nth <= 5)) return `day-of-week "${item}": the number after # is out of range 1–5`
  return { rule: 'nth', weekday: weekday % 7, nth }
}
