import {
  civilDate,
  DAY_MS,
  dayNumber,
  daysInMonth,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  type WallTime,
} from './calendar.js'
import { quote, type Report } from './report.js'

/** Milliseconds since 1970-01-01T00:00Z; always whole. */
export type Instant = number

/**
 * A string is ISO 8601 with an offset or `Z`; where a zone is known, one without an offset is wall time in that
 * zone. A number is milliseconds since 1970-01-01T00:00Z.
 */
export type InstantInput = Date | string | number

/** Timings live in the years 1900 to 9999: before, zones are local mean time; after, ISO 8601 grows a sign. */
export const FIRST_INSTANT: Instant = Date.UTC(1900, 0, 1)
export const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** What a date-time text says: a fixed instant, or a time on the wall of some zone. */
export type DateTime = { instant: Instant } | { wall: WallTime }

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?$/

/** Reads a date-time without deciding what the wall time means. */
export function readDateTime(input: unknown, field: string, report: Report): DateTime | undefined {
  if (input instanceof Date || typeof input === 'number') return readMilliseconds(input, field, report)
  if (typeof input !== 'string') {
    return report(field, `${quote(input)} – expected a date-time such as "2026-12-01T09:00:00Z"`)
  }
  const match = DATE_TIME.exec(input.trim())
  if (!match) {
    return report(field, `${quote(input)} – is not an ISO 8601 date-time such as "2026-12-01T09:00"`)
  }
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const problem =
    outOfRange('year', year, 1900, 9999) ??
    outOfRange('month', month, 1, 12) ??
    outOfRange('day', day, 1, daysInMonth(year, month)) ??
    outOfRange('hour', hour, 0, 23) ??
    outOfRange('minute', minute, 0, 59) ??
    outOfRange('second', second, 0, 59)
  if (problem) return report(field, `${quote(input)} – ${problem}`)
  const fraction = (match[7] ?? '').padEnd(9, '0')
  if (fraction.slice(3) !== '000000') {
    return report(field, `${quote(input)} – is finer than a millisecond, which is our precision`)
  }
  const wall =
    dayNumber(year, month, day) * DAY_MS +
    hour * HOUR_MS +
    minute * MINUTE_MS +
    second * SECOND_MS +
    Number(fraction.slice(0, 3))
  if (match[8] === undefined) return { wall }
  const offset = offsetMs(match[8])
  if (offset === undefined) return report(field, `${quote(input)} – offset ${match[8]} is out of range`)
  return inRange(wall - offset, input, field, report)
}

/** For places where no zone is known, so that wall time alone says too little. */
export function readInstant(input: unknown, field: string, report: Report): Instant | undefined {
  const read = readDateTime(input, field, report)
  if (read === undefined) return undefined
  if ('instant' in read) return read.instant
  return report(field, `${quote(input)} – needs an offset, such as "${formatWall(read.wall)}Z"`)
}

function readMilliseconds(input: Date | number, field: string, report: Report): DateTime | undefined {
  const instant = Number(input)
  if (!Number.isInteger(instant)) {
    return report(field, `${quote(input)} – expected a valid date or whole milliseconds`)
  }
  return inRange(instant, input, field, report)
}

function inRange(instant: Instant, input: unknown, field: string, report: Report): DateTime | undefined {
  if (instant < FIRST_INSTANT || instant > LAST_INSTANT) {
    return report(field, `${quote(input)} – is outside the years 1900 to 9999`)
  }
  return { instant }
}

function outOfRange(name: string, value: number, low: number, high: number): string | undefined {
  return value < low || value > high ? `${name} ${value} is out of range ${low}–${high}` : undefined
}

function offsetMs(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(3).replace(':', ''))
  if (hours > 23 || minutes > 59) return undefined
  return (hours * HOUR_MS + minutes * MINUTE_MS) * (text.startsWith('-') ? -1 : 1)
}

/** UTC with milliseconds, the form that identities are made of: `2026-03-08T07:30:00.000Z`. */
export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString()
}

/** `2026-03-08T03:30:00`, with milliseconds only where there are some. */
export function formatWall(wall: WallTime): string {
  const days = Math.floor(wall / DAY_MS)
  const { year, month, day } = civilDate(days)
  const rest = wall - days * DAY_MS
  const milliseconds = rest % SECOND_MS
  const date = `${pad(year, 4)}-${pad(month)}-${pad(day)}`
  const time = [rest / HOUR_MS, (rest % HOUR_MS) / MINUTE_MS, (rest % MINUTE_MS) / SECOND_MS]
    .map((part) => pad(Math.floor(part)))
    .join(':')
  return `${date}T${time}${milliseconds === 0 ? '' : `.${pad(milliseconds, 3)}`}`
}

/** The canonical text of what was read: an instant in UTC, or wall time without an offset. */
export function formatDateTime(value: DateTime): string {
  return 'instant' in value ? formatInstant(value.instant) : formatWall(value.wall)
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, '0')
}
