import { expect, it } from 'vitest'
import { dayFrom, daysFrom, hoursBetween, isoDay, isTwice, midnightOf, runsByHour } from './week.ts'

const inZone = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (at: Date) => {
    const [hour, minute] = format.format(at).split(':').map(Number)
    return { hour: hour!, minute: minute! }
  }
}

it.each([
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T22:00Z', 23, [1, 3]],
  ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00Z', '2026-10-25T23:00Z', 25, [1, 2, 2, 3]],
  ['2026-10-04', 'Australia/Lord_Howe', '2026-10-03T13:30Z', '2026-10-04T13:00Z', 24, [1, 2, 3]],
  ['2026-04-05', 'Australia/Lord_Howe', '2026-04-04T13:00Z', '2026-04-05T13:30Z', 25, [1, 1, 2, 3]],
])('%s in %s has the hours that the wall shows', (_, zone, from, to, count, around) => {
  const hours = hoursBetween(new Date(from), new Date(to), inZone(zone))
  expect(hours).toHaveLength(count)
  expect(hours.filter(({ hour }) => hour >= 1 && hour <= 3).map(({ hour }) => hour)).toEqual(around)
  expect(hours.at(-1)!.to).toEqual(new Date(to))
  const twice = hours.filter((hour) => isTwice([{ from: new Date(from), hours }], hour))
  expect(twice).toHaveLength(around.length > 3 ? 2 : 0)
  for (const [index, { to: end }] of hours.slice(0, -1).entries()) expect(end).toEqual(hours[index + 1]!.from)
})

it('begins at midnight, and goes from week to week', () => {
  const sunday = new Date(2026, 10, 22, 23, 59)
  expect(midnightOf(sunday)).toEqual(new Date(2026, 10, 22))
  expect(isoDay(midnightOf(sunday, 7))).toBe('2026-11-29')
  expect(isoDay(midnightOf(new Date(2026, 10, 16), -7))).toBe('2026-11-09')
  expect(daysFrom(new Date(2026, 10, 16)).map(({ from }) => isoDay(from).slice(8))).toEqual([
    '16',
    '17',
    '18',
    '19',
    '20',
    '21',
    '22',
  ])
})

it('takes no date that there is none of', () => {
  expect(isoDay(dayFrom('2026-11-16')!)).toBe('2026-11-16')
  for (const text of ['2026-02-30', '2026-13-01', 'today', '2026-1-1']) expect(dayFrom(text)).toBeUndefined()
})

it('adds up what comes in each hour', () => {
  const days = daysFrom(new Date(2026, 10, 16))
  const [first, second] = [days[0]!.hours[0]!, days[0]!.hours[1]!]
  const at = (ms: number) => new Date(first.from.getTime() + ms).toISOString()
  const runs = runsByHour(days, [
    { from: at(0), runs: 1 },
    { from: at(900_000), runs: 2 },
    { from: at(3_600_000), runs: 4 },
    { from: at(8 * 86_400_000), runs: 9 },
  ])
  expect(runs.get(first.from.getTime())).toBe(3)
  expect(runs.get(second.from.getTime())).toBe(4)
  expect([...runs.values()].reduce((sum, each) => sum + each, 0)).toBe(7)
})
