import { expect, it } from 'vitest'
import { previewOf } from './previewing.js'

const after = '2026-01-01T00:00:00Z'
/** Every other day: which ones hangs on where it begins. */
const timing = { kind: 'rrule', rule: 'FREQ=DAILY;INTERVAL=2;BYHOUR=9;BYMINUTE=0' }
const days = async (more: object) =>
  (await previewOf({ timing, after, count: 3, ...more })).occurrences.map(({ planTime }) =>
    planTime.slice(5, 10),
  )

it('lets a rule without DTSTART begin where a schedule would: at its start, or else at the default anchor', async () => {
  const [plain, limited] = [await days({}), await days({ limit: 2 })]
  expect(limited).toEqual(plain.slice(0, 2))
  expect(await days({ startAt: '2026-01-01T00:00:00Z' })).toEqual(['01-01', '01-03', '01-05'])
  expect(await days({ startAt: '2026-01-02T00:00:00Z' })).toEqual(['01-02', '01-04', '01-06'])
  expect(await days({ startAt: '2026-01-02T00:00:00Z', limit: 2 })).toEqual(['01-02', '01-04'])
})
