import { describe, expect, it } from 'vitest'
import { after, cron, every, once, parseTiming, rrule } from '../../../../src/time/timing.js'
import { newTimingForm, timingFormOf, timingOf } from './timing-form.ts'

const forth = (form: ReturnType<typeof newTimingForm>) => timingOf(form)

describe('a timing as fields', () => {
  it.each([
    every('1 hour'),
    every('90s', { zone: 'Asia/Kolkata' }),
    every('1 month', { anchor: '2026-01-31T09:00', zone: 'Asia/Tokyo' }),
    every('15 minutes', { anchor: '2026-01-31T09:00:00Z' }),
    cron('0 9 * * MON-FRI', { zone: 'America/New_York' }),
    cron('*/10 0 9 * * *'),
    cron('@daily', { gap: 'skip', fold: 'both' }),
    cron('0 * * * *', { zone: 'Europe/Paris', gap: 'shift', fold: 'first' }),
    once('2026-12-01T09:00', { zone: 'Europe/Paris' }),
    once('2026-12-01T09:00:00.5Z'),
    after('6 hours'),
    rrule('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;BYHOUR=9,17;BYMINUTE=30', { zone: 'Europe/London' }),
    rrule('FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0'),
    rrule('FREQ=HOURLY;INTERVAL=6', { begins: '2026-01-01T00:00:00Z' }),
    rrule('DTSTART:20260101T090000\nRRULE:FREQ=DAILY\nEXDATE:20260105T090000', { zone: 'Europe/Berlin' }),
  ])('%o comes back as it went', (timing) => {
    const form = timingFormOf(timing)
    expect(form.kind).toBe(timing.kind)
    const { begins: _, ...expected } = timing as { begins?: string }
    expect(parseTiming(forth(form).timing)).toEqual(expected)
    expect(forth(form).mistakes).toEqual([])
  })

  it('leaves out what is the default', () => {
    expect(forth(timingFormOf(cron('0 9 * * *'))).timing).toEqual({ kind: 'cron', expression: '0 9 * * *' })
    expect(forth(timingFormOf(every('1 hour'))).timing).toEqual({ kind: 'every', every: '1 hour' })
  })

  it.each([
    { kind: 'lunar', phase: 'full' },
    { kind: 'every', every: '1 hour', anchor: '2001-01-01T00:00:00', zone: 'UTC', wobble: '1 minute' },
    { kind: 'cron', expression: '0 9 * * *', zone: 'Mars/Olympus', gap: 'shift', fold: 'first' },
  ])('keeps %o, which it cannot show, as JSON', (timing) => {
    const form = timingFormOf(timing as never)
    expect(form.kind).toBe('json')
    expect(forth(form).timing).toEqual(timing)
  })

  it('says what keeps the fields from being one', () => {
    const form = newTimingForm('UTC')
    expect(timingOf({ ...form, kind: 'json', json: '{' }).mistakes).toMatchObject([{ field: 'timing' }])
    const calendar = { ...form.calendar, times: 'noon' }
    expect(timingOf({ ...form, kind: 'rrule', calendar }).mistakes).toMatchObject([{ field: 'timing.rule' }])
  })
})
