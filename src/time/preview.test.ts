import { expect, test } from 'vitest'
import { previewOccurrences } from './preview.js'
import { after, cron, every, once, rrule, type Timing } from './timing.js'

const NEW_YORK = { zone: 'America/New_York' }

function preview(timing: Timing, from: string, count: number) {
  return previewOccurrences(timing, { after: Date.parse(from), count }).occurrences
}

const notes = (timing: Timing, from: string, count: number) =>
  preview(timing, from, count).map(({ note }) => note)

test('an occurrence that the zone moved says from where and why', () => {
  expect(
    previewOccurrences(cron('30 2 * * *', NEW_YORK), { after: Date.parse('2026-03-07T12:00Z'), count: 2 }),
  ).toEqual({
    description: 'At 02:30, every day, New York time',
    occurrences: [
      {
        planTime: '2026-03-08T07:30:00.000Z',
        local: '2026-03-08T03:30:00-04:00',
        note: '02:30 does not exist on 2026-03-08 (the clock goes forward from 02:00 to 03:00) and is moved to 03:30',
      },
      { planTime: '2026-03-09T06:30:00.000Z', local: '2026-03-09T02:30:00-04:00' },
    ],
  })
})

test('two occurrences that fall together are one, which says so', () => {
  expect(notes(cron('30 2,3 * * *', NEW_YORK), '2026-03-08T06:00Z', 1)).toEqual([
    '02:30 does not exist on 2026-03-08 (the clock goes forward from 02:00 to 03:00) and falls together with 03:30',
  ])
})

test('an occurrence that was left out is named by the one after it', () => {
  expect(notes(cron('30 2 * * *', { ...NEW_YORK, gap: 'skip' }), '2026-03-07T12:00Z', 2)).toEqual([
    '02:30 on 2026-03-08 is left out before this one (the clock goes forward from 02:00 to 03:00)',
    undefined,
  ])
  expect(notes(cron('*/30 * * * *', NEW_YORK), '2026-03-08T06:10Z', 3)).toEqual([
    undefined,
    '02:00 to 02:30 on 2026-03-08 are left out before this one (the clock goes forward from 02:00 to 03:00)',
    undefined,
  ])
})

test('what was left out before the preview begins is not its subject', () => {
  expect(notes(cron('0 3 * * *', { ...NEW_YORK, gap: 'skip' }), '2026-03-08T12:00Z', 1)).toEqual([undefined])
})

test('a wall time that shows twice says which one it is, or which one counts', () => {
  const clock = '01:30 shows twice on 2026-11-01 (the clock goes back from 02:00 to 01:00)'
  const from = '2026-11-01T05:10Z'
  expect(notes(cron('30 * * * *', NEW_YORK), from, 3)).toEqual([
    `${clock}; this is the first`,
    `${clock}; this is the second`,
    undefined,
  ])
  expect(notes(cron('30 1 * * *', NEW_YORK), from, 2)).toEqual([`${clock}; only the first counts`, undefined])
  expect(notes(cron('30 1 * * *', { ...NEW_YORK, fold: 'second' }), from, 1)).toEqual([
    `${clock}; only the second counts`,
  ])
})

test('a day that a zone skipped is named with its date', () => {
  expect(notes(cron('0 12 * * *', { zone: 'Pacific/Apia' }), '2011-12-30T00:00Z', 1)).toEqual([
    '12:00 does not exist on 2011-12-30 (the clock goes forward from 00:00 to 00:00 on 2011-12-31) and falls together with 12:00 on 2011-12-31',
  ])
})

test('once, every and rrule have notes too; elapsed time has none', () => {
  expect(notes(once('2026-03-08T02:30', NEW_YORK), '2026-01-01T00:00Z', 5)).toEqual([
    expect.stringContaining('moved to 03:30'),
  ])
  const daily = every('1 day', { ...NEW_YORK, anchor: '2026-01-01T02:30' })
  expect(notes(daily, '2026-03-07T12:00Z', 1)).toEqual([expect.stringContaining('moved to 03:30')])
  const rule = rrule('FREQ=DAILY;BYHOUR=2;BYMINUTE=30', NEW_YORK)
  expect(notes(rule, '2026-03-07T12:00Z', 1)).toEqual([expect.stringContaining('moved to 03:30')])
  expect(notes(every('1 hour', NEW_YORK), '2026-03-08T06:10Z', 2)).toEqual([undefined, undefined])
})

test('after is honest about what it cannot know', () => {
  expect(preview(after('6 hours'), '2026-01-01T00:00Z', 5)).toEqual([
    {
      planTime: '2026-01-01T06:00:00.000Z',
      local: '2026-01-01T06:00:00+00:00',
      note: 'if it is enabled now; each later one follows the end of the run before it',
    },
  ])
})

test('a preview begins strictly after, ends with the timing, and may be empty', () => {
  const hourly = cron('0 * * * *')
  const from = Date.parse('2026-01-01T00:00Z')
  const times = (count: number, bounds = {}) =>
    previewOccurrences(hourly, { after: from, count, ...bounds }).occurrences.map(({ planTime }) =>
      planTime.slice(11, 16),
    )
  expect(times(2)).toEqual(['01:00', '02:00'])
  expect(times(0)).toEqual([])
  expect(times(9, { limit: 2 })).toEqual(['01:00', '02:00'])
  expect(times(9, { startAt: from, limit: 2 })).toEqual(['01:00'])
  expect(times(9, { endAt: from })).toEqual([])
})

test('local times carry the offset of that zone then', () => {
  expect(preview(cron('0 0 * * *', { zone: 'Asia/Kathmandu' }), '2026-01-01T00:00Z', 1)[0]!.local).toBe(
    '2026-01-02T00:00:00+05:45',
  )
  expect(preview(once(-1), '1900-01-01T00:00Z', 1)[0]!.local).toBe('1969-12-31T23:59:59.999+00:00')
  expect(preview(once(0, { zone: 'Africa/Monrovia' }), '1900-01-01T00:00Z', 1)[0]!.local).toBe(
    '1969-12-31T23:15:30-00:44:30',
  )
})
