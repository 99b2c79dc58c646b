import { expect, it } from 'vitest'
import { untilOf } from './pause-until.ts'

const now = new Date('2026-12-31T22:15:00Z')

it('ends a pause when it is said to', () => {
  expect(untilOf('resumed', '2027-01-01T10:00', now)).toBeUndefined()
  expect(untilOf('hour', '', now)).toEqual({ in: '1 hour' })
  // 18:45 on the wall here, in St John's: tomorrow is another year.
  expect(untilOf('tomorrow', '', now)).toBe('2027-01-01T12:30:00.000Z')
  expect(untilOf('date', '2027-01-02T00:00', now)).toBe('2027-01-02T03:30:00.000Z')
})

it('waits for a time that is still to be typed', () => {
  expect(untilOf('date', '', now)).toBeNull()
})
