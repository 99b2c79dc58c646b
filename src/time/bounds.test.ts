import { expect, test } from 'vitest'
import { after, compileTiming, cron, every, once, resolveLimit, rrule } from './timing.js'

const at = (text: string) => Date.parse(text)
const daily = cron('0 0 * * *')

test('startAt is inclusive and endAt exclusive', () => {
  const compiled = compileTiming(daily, { startAt: at('2026-03-02'), endAt: at('2026-03-04') })
  expect(compiled.next(0)).toBe(at('2026-03-02'))
  expect(compiled.next(at('2026-03-02'))).toBe(at('2026-03-03'))
  expect(compiled.next(at('2026-03-03'))).toBeNull()
  expect(compiled.previous(at('2026-03-09'))).toBe(at('2026-03-03'))
  expect(compiled.previous(at('2026-03-02'))).toBeNull()
  expect(compiled.between(0, at('2027-01-01'), 99)).toEqual([at('2026-03-02'), at('2026-03-03')])
})

test('limit counts plan times from startAt and comes to an end instant', () => {
  const bounds = { startAt: at('2026-03-02T00:00:00.001Z'), limit: 3 }
  expect(resolveLimit(daily, bounds)).toBe(at('2026-03-05') + 1)
  expect(compileTiming(daily, bounds).between(0, at('2027-01-01'), 99)).toEqual([
    at('2026-03-03'),
    at('2026-03-04'),
    at('2026-03-05'),
  ])
})

test('a hundred thousand steps of elapsed time are multiplied, not counted', () => {
  const end = resolveLimit(every('1 second'), { startAt: 1, limit: 100_000 })
  expect(end).toBe(at('2001-01-01') + 99_999 * 1_000 + 1)
})

test('a limit that is not reached sets no end', () => {
  expect(resolveLimit(daily, { startAt: 0 })).toBeNull()
  expect(resolveLimit(daily, { startAt: at('2026-03-02'), endAt: at('2026-03-04'), limit: 5 })).toBeNull()
  expect(
    resolveLimit(rrule('DTSTART:20260101T000000\nRRULE:FREQ=DAILY;COUNT=3'), { startAt: 0, limit: 5 }),
  ).toBeNull()
  expect(resolveLimit(after('1h'), { startAt: 0, limit: 5 })).toBeNull()
})

test.each([0, -1, 1.5, 100_001, Number.NaN])('limit %d is refused', (limit) => {
  expect(() => resolveLimit(daily, { startAt: 0, limit })).toThrow('limit: ')
})

test('limit without startAt has nothing to count from', () => {
  expect(() => compileTiming(daily, { limit: 2 })).toThrow('startAt: is missing; limit counts from it')
})

test('once fires even if its time had passed when it was created', () => {
  const timing = once('2026-03-01T00:00Z')
  expect(compileTiming(timing, { startAt: at('2026-03-05') }).next(0)).toBe(at('2026-03-01'))
  expect(compileTiming(timing, { startAt: at('2026-03-05'), limit: 1 }).next(0)).toBe(at('2026-03-01'))
})

test('a rule without DTSTART begins at startAt, at the next whole second', () => {
  const startAt = at('2026-03-02T10:20:29.500Z')
  const compiled = compileTiming(rrule('FREQ=DAILY;COUNT=2', { zone: 'Asia/Tokyo' }), { startAt })
  expect(compiled.timing).toEqual(rrule('FREQ=DAILY;COUNT=2', { zone: 'Asia/Tokyo' }))
  expect(compiled.between(0, at('2027-01-01'), 9)).toEqual([
    at('2026-03-02T10:20:30Z'),
    at('2026-03-03T10:20:30Z'),
  ])
  expect(compileTiming(rrule('FREQ=DAILY')).next(startAt)).toBe(at('2026-03-03'))
  const fixed = rrule('DTSTART:20260101T090000\nRRULE:FREQ=DAILY')
  expect(compileTiming(fixed, { startAt }).next(startAt)).toBe(at('2026-03-03T09:00Z'))
})
