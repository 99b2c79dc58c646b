import { expect, it } from 'vitest'
import { hourBeside } from './grid-keys.ts'
import { type Day, daysFrom } from './week.ts'

const days: Day[] = daysFrom(new Date(2026, 10, 16))
const at = (day: number, hour: number) => days[day]!.hours[hour]!.from.getTime()

it('goes to the hour beside, and stays at the rim', () => {
  expect(hourBeside(days, at(2, 9), 'ArrowDown')).toBe(at(2, 10))
  expect(hourBeside(days, at(2, 9), 'ArrowUp')).toBe(at(2, 8))
  expect(hourBeside(days, at(2, 9), 'ArrowRight')).toBe(at(3, 9))
  expect(hourBeside(days, at(2, 9), 'ArrowLeft')).toBe(at(1, 9))
  expect(hourBeside(days, at(0, 0), 'ArrowUp')).toBeUndefined()
  expect(hourBeside(days, at(6, 0), 'ArrowRight')).toBeUndefined()
  expect(hourBeside(days, at(2, 9), 'a')).toBeUndefined()
})

it('leads to the hour before where a day lacks one', () => {
  const short = days.map((day, index) =>
    index === 3 ? { ...day, hours: day.hours.filter(({ hour }) => hour !== 2) } : day,
  )
  expect(hourBeside(short, at(2, 2), 'ArrowRight')).toBe(at(3, 1))
})
