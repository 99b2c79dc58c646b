import { DAY_MS, dayNumber, daysInMonth, HOUR_MS, MINUTE_MS, SECOND_MS, type WallTime } from './calendar.js'
import { type DateTime, formatDateTime } from './instant.js'
import { quote } from './report.js'

const ICS_DATE = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/i

/** `19970902T090000`, `19970902T090000Z`, or `19970902` for midnight; or a sentence about what is wrong. */
export function readIcsDate(text: string): DateTime | string {
  const match = ICS_DATE.exec(text)
  if (!match) return `${quote(text)} is not a date such as 20261201T090000`
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const valid =
    year >= 1900 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59
  if (!valid) return `${quote(text)} does not exist, or lies before 1900`
  const wall: WallTime =
    dayNumber(year, month, day) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS
  return match[7] === undefined ? { wall } : { instant: wall }
}

export function formatIcsDate(value: DateTime): string {
  return formatDateTime(value)
    .replace(/\.\d{3}/, '')
    .replace(/[-:]/g, '')
}
