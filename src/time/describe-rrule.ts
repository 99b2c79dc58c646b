import { DAY_MS, HOUR_MS, MINUTE_MS, type WallTime } from './calendar.js'
import { formatWall } from './instant.js'
import type { Frequency, RuleDay, RuleParts } from './rrule-parts.js'

export const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const WEEKDAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const UNITS: Readonly<Record<Frequency, string>> = {
  YEARLY: 'year',
  MONTHLY: 'month',
  WEEKLY: 'week',
  DAILY: 'day',
  HOURLY: 'hour',
  MINUTELY: 'minute',
  SECONDLY: 'second',
}

/** A rule in words: "Every 2 months on the last Friday at 09:00". */
export function describeRule(parts: RuleParts, start: WallTime | undefined): string {
  const unit = UNITS[parts.frequency]
  const words = [
    parts.interval === 1 ? `Every ${unit}` : `Every ${parts.interval} ${unit}s`,
    ...phrase('in', parts.byMonth, (month) => MONTH_NAMES[month - 1]!),
    ...phrase('in week', parts.byWeekNumber, (week) => (week > 0 ? String(week) : fromEnd(week))),
    ...phrase('on the', parts.byYearDay, (day) => `${position(day)} day of the year`),
    ...phrase('on the', parts.byMonthDay, (day) => (day > 0 ? position(day) : `${position(day)} day`)),
    ...phrase('on', parts.byDay, weekdayInWords),
    ...times(parts, start),
  ]
  if (parts.bySetPosition.length > 0) {
    words.push(`(only the ${listed(parts.bySetPosition.map(position))} of each ${unit})`)
  }
  if (parts.count !== undefined) words.push(parts.count === 1 ? '– once' : `– ${parts.count} times`)
  if (parts.until !== undefined) {
    const date = 'wall' in parts.until ? parts.until.wall : parts.until.instant
    words.push(`until ${formatWall(date).slice(0, 10)}`)
  }
  return words.join(' ')
}

function times({ frequency, byHour, byMinute, bySecond }: RuleParts, start: WallTime | undefined): string[] {
  if (frequency === 'HOURLY' || frequency === 'MINUTELY' || frequency === 'SECONDLY') {
    return [
      ...phrase('in hour', byHour, String),
      ...phrase(frequency === 'HOURLY' ? 'at minute' : 'in minute', byMinute, String),
      ...phrase('at second', bySecond, String),
    ]
  }
  const time = start === undefined ? 0 : start - Math.floor(start / DAY_MS) * DAY_MS
  const hours = byHour.length > 0 ? byHour : [Math.floor(time / HOUR_MS)]
  const minutes = byMinute.length > 0 ? byMinute : [Math.floor(time / MINUTE_MS) % 60]
  const all = hours.flatMap((hour) => minutes.map((minute) => `${pad(hour)}:${pad(minute)}`))
  return all.length <= 6 ? [`at ${listed(all)}`] : [`at ${all.length} times of the day`]
}

function phrase<Item>(lead: string, items: readonly Item[], spell: (item: Item) => string): string[] {
  return items.length === 0 ? [] : [`${lead} ${listed(items.map(spell))}`]
}

function weekdayInWords({ weekday, nth }: RuleDay): string {
  const name = WEEKDAY_NAMES[weekday]!
  return nth === 0 ? name : `the ${position(nth)} ${name}`
}

/** "2nd", "last", "3rd last". */
function position(value: number): string {
  if (value === -1) return 'last'
  return value < 0 ? `${ordinal(-value)} last` : ordinal(value)
}

function fromEnd(week: number): string {
  return `${-week} from the end`
}

function ordinal(value: number): string {
  const suffix =
    value % 100 >= 11 && value % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${suffix}`
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
