import { type RuleParts, readRuleParts } from '../../../../src/time/rrule-parts.js'
import { readRRuleText } from '../../../../src/time/rrule-text.js'

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** A recurrence rule as people say it: every so often, on these days, at these times. */
export interface CalendarFields {
  frequency: (typeof FREQUENCIES)[number]
  interval: string
  /** Of a week. */
  weekdays: readonly Weekday[]
  /** Of a month or a year: by its number, or as the nth of a weekday. */
  by: 'day' | 'weekday'
  day: string
  nth: string
  weekday: Weekday
  month: string
  /** Such as `09:00, 17:00`. */
  times: string
}

export const MONDAY_AT_NINE: CalendarFields = {
  frequency: 'WEEKLY',
  interval: '1',
  weekdays: ['MO'],
  by: 'day',
  day: '1',
  nth: '1',
  weekday: 'MO',
  month: '1',
  times: '09:00',
}

/** The text of RFC 5545, or what keeps it from being one. */
export function ruleOf(fields: CalendarFields): { rule: string } | { mistake: string } {
  const { frequency, interval, weekdays, by, day, nth, weekday, month } = fields
  const times = readTimes(fields.times)
  if ('mistake' in times) return times
  if (!/^[1-9]\d{0,5}$/.test(interval.trim())) {
    return { mistake: `"${interval}" – how often must be a whole number from 1 on` }
  }
  if (frequency === 'WEEKLY' && weekdays.length === 0) return { mistake: 'choose at least one weekday' }
  const inMonth = by === 'day' ? `BYMONTHDAY=${day}` : `BYDAY=${nth}${weekday}`
  const days = {
    DAILY: [],
    WEEKLY: [`BYDAY=${WEEKDAYS.filter((each) => weekdays.includes(each)).join(',')}`],
    MONTHLY: [inMonth],
    YEARLY: [`BYMONTH=${month}`, inMonth],
  }
  const parts = [
    `FREQ=${frequency}`,
    ...(Number(interval) === 1 ? [] : [`INTERVAL=${Number(interval)}`]),
    ...days[frequency],
    `BYHOUR=${times.hours.join(',')}`,
    `BYMINUTE=${times.minutes.join(',')}`,
  ]
  return { rule: parts.join(';') }
}

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/

/** A rule combines each of its hours with each of its minutes, so not any two times go together. */
function readTimes(text: string): { hours: number[]; minutes: number[] } | { mistake: string } {
  const given = text.split(/[\s,;]+/).filter((word) => word !== '')
  if (given.length === 0) return { mistake: 'give a time of day such as 09:00' }
  const read = given.map((word) => TIME.exec(word))
  const wrong = read.indexOf(null)
  if (wrong >= 0) return { mistake: `"${given[wrong]}" – is not a time of day such as 09:00` }
  const hours = distinct(read.map((match) => Number(match![1])))
  const minutes = distinct(read.map((match) => Number(match![2])))
  if (hours.length * minutes.length === new Set(read.map((match) => match!.slice(1).join())).size) {
    return { hours, minutes }
  }
  return {
    mistake: `"${text}" – one rule combines all its hours with all its minutes: keep to the same minutes, or make two schedules`,
  }
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b)
}

/** The fields of a rule, where they can hold all of it. */
export function calendarOf(rule: string): CalendarFields | undefined {
  const text = readRRuleText(rule, 'rule', () => undefined)
  if (text === undefined || text.start || text.zone || text.added.length + text.excluded.length > 0) {
    return undefined
  }
  const fields = fieldsOf(text.rule)
  const again = fields && ruleOf(fields)
  if (again === undefined || 'mistake' in again) return undefined
  const parts = readRuleParts(again.rule, 'rule', () => undefined)
  return JSON.stringify(parts) === JSON.stringify(text.rule) ? fields : undefined
}

/** 0 is Sunday in the parts of a rule. */
const nameOf = (weekday: number): Weekday => WEEKDAYS[(weekday + 6) % 7]!

function fieldsOf(parts: RuleParts): CalendarFields | undefined {
  const { byHour, byMinute, byDay, byMonth, byMonthDay } = parts
  const frequency = FREQUENCIES.find((each) => each === parts.frequency)
  if (frequency === undefined || byHour.length === 0 || byMinute.length === 0) return undefined
  const [first] = byDay
  const pad = (value: number) => String(value).padStart(2, '0')
  return {
    ...MONDAY_AT_NINE,
    frequency,
    interval: String(parts.interval),
    times: byHour.flatMap((hour) => byMinute.map((minute) => `${pad(hour)}:${pad(minute)}`)).join(', '),
    ...(frequency === 'WEEKLY' && { weekdays: byDay.map(({ weekday }) => nameOf(weekday)) }),
    ...(byMonth[0] !== undefined && { month: String(byMonth[0]) }),
    ...(byMonthDay[0] !== undefined && { day: String(byMonthDay[0]) }),
    ...(first !== undefined &&
      frequency !== 'WEEKLY' && { by: 'weekday', nth: String(first.nth), weekday: nameOf(first.weekday) }),
  }
}
