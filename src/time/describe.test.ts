import { expect, test } from 'vitest'
import { after, cron, describe, every, once, rrule, type Timing } from './timing.js'

const NEW_YORK = { zone: 'America/New_York' }

test.each<[string, Timing]>([
  ['At 09:00, Monday to Friday, New York time', cron('0 9 * * MON-FRI', NEW_YORK)],
  ['At 02:30, every day, UTC', cron('30 2 * * *')],
  ['At 00:00, every day, Kolkata time', cron('@daily', { zone: 'Asia/Kolkata' })],
  ['Every 15 minutes, UTC', cron('*/15 * * * *')],
  ['At 09:00 and 17:00, every day, UTC', cron('0 9,17 * * *')],
  ['At 00:00, on day 13 of the month, or on Friday, UTC', cron('0 0 13 * 5')],
  ['At 00:00, every 2 days in a month, but only on Monday, UTC', cron('0 0 */2 * 1')],
  ['At 09:00, on the second Monday of the month, UTC', cron('0 9 * * 1#2')],
  ['At 00:00, on the last weekday of the month, UTC', cron('0 0 LW * *')],
  [
    'At 02:30, every day, New York time, left out where the clock skips it',
    cron('30 2 * * *', { ...NEW_YORK, gap: 'skip' }),
  ],
  [
    'Every hour, New York time, the first time where the clock repeats it',
    cron('0 * * * *', { ...NEW_YORK, fold: 'first' }),
  ],
  ['At the times of the cron expression "0 0 1,15W * *", UTC', cron('0 0 1,15W * *')],
  ['Every 15 minutes', every('15 minutes')],
  ['Every hour, counted from 1 January 2026 at 00:30, UTC', every('1 hour', { anchor: '2026-01-01T00:30Z' })],
  [
    'Every month, counted from 31 January 2026 at 09:00, New York time',
    every('1 month', { ...NEW_YORK, anchor: '2026-01-31T09:00' }),
  ],
  ['Every 2 weeks, counted from 1 January 2001 at 00:00, UTC', every('14 days')],
  ['Once, on 1 December 2026 at 09:00, New York time', once('2026-12-01T09:00', NEW_YORK)],
  ['Once, on 1 December 2026 at 04:00, New York time', once('2026-12-01T09:00Z', NEW_YORK)],
  ['6 hours after the last run has ended', after('6 hours')],
  ['Every month on the last Friday at 00:00, New York time', rrule('FREQ=MONTHLY;BYDAY=-1FR', NEW_YORK)],
  [
    'Every 2 weeks on Monday and Wednesday at 09:30 – 10 times, without 1 date, from 1 January 2026 on, UTC',
    rrule(
      'DTSTART:20260101T093000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10\nEXDATE:20260105T093000',
    ),
  ],
  ['Every month on the 1st and last day at 00:00, UTC', rrule('FREQ=MONTHLY;BYMONTHDAY=1,-1')],
  [
    'Every year in January on the 2nd Monday at 09:00 and 17:00, UTC',
    rrule('FREQ=YEARLY;BYMONTH=1;BYDAY=2MO;BYHOUR=9,17'),
  ],
  ['Every year in week 20 at 00:00 until 2030-01-01, UTC', rrule('FREQ=YEARLY;BYWEEKNO=20;UNTIL=20300101')],
  [
    'Every day at 10:00, from 5 March 2026 on, New York time',
    rrule('FREQ=DAILY', { ...NEW_YORK, begins: '2026-03-05T15:00:00Z' }),
  ],
  ['Every 3 hours at minute 15, UTC', rrule('FREQ=HOURLY;INTERVAL=3;BYMINUTE=15')],
  [
    'Every month on Friday at 00:00 (only the last of each month), UTC',
    rrule('FREQ=MONTHLY;BYDAY=FR;BYSETPOS=-1'),
  ],
])('%s', (words, timing) => {
  expect(describe(timing)).toBe(words)
})
