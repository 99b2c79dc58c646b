import { expect, test } from 'vitest'
import {
  civilDate,
  clampedDayNumber,
  DAY_MS,
  dayNumber,
  daysInMonth,
  monthIndex,
  weekdayOf,
} from './calendar.js'

test('dates and day numbers agree with Date on every day from 1890 to 2110, and around the year 9999', () => {
  const spans = [
    [dayNumber(1890, 1, 1), dayNumber(2110, 1, 1)],
    [dayNumber(9998, 1, 1), dayNumber(10_001, 1, 1)],
  ] as const
  for (const [first, end] of spans) {
    for (let day = first; day < end; day++) {
      const date = new Date(day * DAY_MS)
      const { year, month, day: dayOfMonth } = civilDate(day)
      const same =
        year === date.getUTCFullYear() &&
        month === date.getUTCMonth() + 1 &&
        dayOfMonth === date.getUTCDate() &&
        dayNumber(year, month, dayOfMonth) === day &&
        weekdayOf(day) === date.getUTCDay()
      if (!same) expect.fail(`day ${day} is ${date.toISOString()}, not ${year}-${month}-${dayOfMonth}`)
    }
  }
})

test('a century is a leap year only every 400 years', () => {
  expect([1900, 2000, 2100, 2400].map((year) => daysInMonth(year, 2))).toEqual([28, 29, 28, 29])
})

test('a day that a month does not have is its last one', () => {
  const february = monthIndex({ year: 2027, month: 2, day: 1 })
  expect(civilDate(clampedDayNumber(february, 31))).toEqual({ year: 2027, month: 2, day: 28 })
})
