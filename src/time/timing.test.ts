import { expect, test } from 'vitest'
import type { EscapementError, Mistake } from '../errors.js'
import { after, cron, every, once, parseTiming, rrule, type Timing } from './timing.js'

function mistakesOf(value: unknown, field?: string): Mistake[] {
  try {
    parseTiming(value, field)
  } catch (error) {
    expect((error as EscapementError).code).toBe('timing_invalid')
    return (error as EscapementError).details.mistakes as Mistake[]
  }
  return []
}

test.each<[Timing, unknown]>([
  [
    once('2026-12-01T09:00', { zone: 'Europe/Paris' }),
    { kind: 'once', at: '2026-12-01T09:00:00', zone: 'Europe/Paris' },
  ],
  [once('2026-12-01T09:00+01:00'), { kind: 'once', at: '2026-12-01T08:00:00.000Z', zone: 'UTC' }],
  [once(new Date(0)), { kind: 'once', at: '1970-01-01T00:00:00.000Z', zone: 'UTC' }],
  [every('15 minutes'), { kind: 'every', every: '15 minutes', anchor: '2001-01-01T00:00:00', zone: 'UTC' }],
  [
    every({ months: 3 }, { anchor: '2026-01-31T09:00', zone: 'asia/tokyo' }),
    { kind: 'every', every: '3 months', anchor: '2026-01-31T09:00:00', zone: 'Asia/Tokyo' },
  ],
  [
    cron('0 9 * * mon-fri', { zone: 'America/New_York' }),
    { kind: 'cron', expression: '0 9 * * MON-FRI', zone: 'America/New_York', gap: 'shift', fold: 'first' },
  ],
  [after('6 hours'), { kind: 'after', interval: '6 hours' }],
  [rrule('freq=monthly;byday=-1fr'), { kind: 'rrule', rule: 'FREQ=MONTHLY;BYDAY=-1FR', zone: 'UTC' }],
])('%j is canonical JSON with its defaults filled in', (timing, json) => {
  expect(timing).toEqual(json)
  expect(parseTiming(JSON.parse(JSON.stringify(timing)))).toEqual(timing)
})

test('timings that say the same are equal as data', () => {
  expect(every('90 minutes')).toEqual(every({ hours: 1, minutes: 30 }))
  expect(every('P7D')).toEqual(every('1 week'))
  expect(rrule('RRULE:FREQ=DAILY')).toEqual(rrule('FREQ=DAILY'))
  expect(JSON.stringify(cron('0 0 * * *'))).toBe(
    JSON.stringify(cron('0 0  * * *', { zone: 'UTC', gap: 'shift' })),
  )
})

test('what is no timing is refused with an example', () => {
  expect(mistakesOf('daily')[0]!.message).toContain('expected an object such as')
  expect(mistakesOf(null)).toHaveLength(1)
  expect(mistakesOf([])).toHaveLength(1)
})

test('a kind that is unknown is refused with the nearest one', () => {
  expect(mistakesOf({ kind: 'corn' }, 'body.timing')).toEqual([
    {
      field: 'body.timing.kind',
      message: '"corn" – expected "once", "every", "cron", "after", "rrule" (did you mean "cron"?)',
    },
  ])
  expect(mistakesOf({})[0]).toMatchObject({ field: 'timing.kind' })
  expect(mistakesOf({ kind: 'constructor' })).toHaveLength(1)
})

test('every mistake is reported at once, unknown fields with the nearest known one', () => {
  expect(mistakesOf({ kind: 'every', every: '5 minuts', ancor: '2026-01-01', zone: 'Mars' })).toMatchObject([
    { field: 'timing.ancor', message: expect.stringContaining('did you mean "anchor"?') },
    { field: 'timing.zone' },
    { field: 'timing.every', message: expect.stringContaining('did you mean "minutes"?') },
  ])
})

test('bounds are not fields of a timing', () => {
  expect(mistakesOf({ kind: 'after', interval: '1h', startAt: '2026-01-01' })).toEqual([
    { field: 'timing.startAt', message: 'belongs beside the timing, not inside it' },
  ])
})

test.each([
  ['0 seconds', 'must be longer than 0'],
  ['500 ms', 'must be at least 1 second'],
  ['1 day 12 hours', 'mixes units that have no fixed ratio'],
  ['1 month 1 day', 'mixes units that have no fixed ratio'],
])('every %s is refused', (step, message) => {
  expect(() => every(step)).toThrow(message)
})

test('after takes elapsed time longer than 0', () => {
  expect(() => after('0s')).toThrow('timing.interval: "0s" – must be longer than 0')
  expect(() => after('1 month')).toThrow('months and years have no fixed length')
})
