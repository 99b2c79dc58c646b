import { expect, test } from 'vitest'
import { between, cron, every, next, previous } from './index.js'

test('next and previous are strict, take any instant and give dates', () => {
  const timing = cron('0 9 * * *', { zone: 'Asia/Tokyo' })
  expect(next(timing, '2026-01-01T00:00:00Z')).toEqual(new Date('2026-01-02T00:00:00Z'))
  expect(next(timing, new Date('2025-12-31T23:59:59.999Z'))).toEqual(new Date('2026-01-01T00:00:00Z'))
  expect(previous(timing, Date.parse('2026-01-01T00:00:00Z'))).toEqual(new Date('2025-12-31T00:00:00Z'))
  expect(previous(every('1 hour', { anchor: '2026-01-01T00:00Z' }), '2026-01-01T00:00Z')).toBeNull()
})

test('between includes its start, excludes its end and stops at the limit', () => {
  const hours = (limit: number) =>
    between(every('1 hour'), '2026-01-01T00:00Z', '2026-01-01T03:00Z', limit).map((date) =>
      date.getUTCHours(),
    )
  expect(hours(99)).toEqual([0, 1, 2])
  expect(hours(2)).toEqual([0, 1])
})

test('an instant without an offset is refused, as no zone is known', () => {
  expect(() => next(every('1 hour'), '2026-01-01T00:00')).toThrow(
    'after: "2026-01-01T00:00" – needs an offset',
  )
})
