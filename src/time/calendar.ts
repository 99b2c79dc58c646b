/**
 * The proleptic Gregorian calendar in whole numbers, with no zone in sight.
 *
 * A **wall time** is what a clock on the wall shows, as milliseconds since 1970-01-01T00:00 on that same wall. It
 * is a number like an instant and means something else, so the two have different names and only
 * `wall-mapping.ts` turns one into the other.
 */
export type WallTime = number

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export interface CivilDate {
  year: number
  /** 1 to 12. */
  month: number
  day: number
}

/** Days since 1970-01-01. Years begin in March here, so that the leap day is the last of its year. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** Inverse of {@link dayNumber}. */
export function civilDate(days: number): CivilDate {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

/** 0 is Sunday, as in crontab. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

const MONTH_LENGTHS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : MONTH_LENGTHS[month]!
}

/** Months since January of year 0, which makes adding months an addition. */
export function monthIndex({ year, month }: CivilDate): number {
  return year * 12 + month - 1
}

/** The given day in the month with that index, or the month's last day if it is shorter. */
export function clampedDayNumber(index: number, day: number): number {
  const year = Math.floor(index / 12)
  const month = index - year * 12 + 1
  return dayNumber(year, month, Math.min(day, daysInMonth(year, month)))
}
