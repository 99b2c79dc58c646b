import { describe, expect, it } from 'vitest'
import { calendarOf, MONDAY_AT_NINE, ruleOf } from './calendar-rule.ts'

describe('a rule by its fields', () => {
  it.each([
    [{}, 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0'],
    [{ frequency: 'DAILY', interval: '3', times: '06:30' }, 'FREQ=DAILY;INTERVAL=3;BYHOUR=6;BYMINUTE=30'],
    [
      { interval: '2', weekdays: ['FR', 'MO'], times: '17:00, 09:00' },
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=9,17;BYMINUTE=0',
    ],
    [{ frequency: 'MONTHLY', day: '-1' }, 'FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9;BYMINUTE=0'],
    [
      { frequency: 'MONTHLY', by: 'weekday', nth: '-1', weekday: 'FR' },
      'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0',
    ],
    [
      {
        frequency: 'YEARLY',
        month: '3',
        by: 'weekday',
        nth: '2',
        weekday: 'SU',
        times: '09:00 09:30 17:00 17:30',
      },
      'FREQ=YEARLY;BYMONTH=3;BYDAY=2SU;BYHOUR=9,17;BYMINUTE=0,30',
    ],
    [
      { frequency: 'YEARLY', month: '12', day: '24' },
      'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24;BYHOUR=9;BYMINUTE=0',
    ],
  ] as const)('%o is %s, and back', (fields, rule) => {
    expect(ruleOf({ ...MONDAY_AT_NINE, ...fields })).toEqual({ rule })
    expect(ruleOf(calendarOf(rule)!)).toEqual({ rule })
  })

  it.each([
    [{ times: '' }, /time of day such as 09:00/],
    [{ times: '9h' }, /"9h" – is not a time of day/],
    [{ times: '09:00, 17:30' }, /all its hours with all its minutes/],
    [{ interval: '0' }, /"0" – how often/],
    [{ weekdays: [] }, /at least one weekday/],
  ])('%o is none', (fields, mistake) => {
    expect(ruleOf({ ...MONDAY_AT_NINE, ...fields })).toEqual({ mistake: expect.stringMatching(mistake) })
  })

  it.each([
    'FREQ=HOURLY;INTERVAL=6',
    'FREQ=DAILY',
    'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=3',
    'FREQ=MONTHLY;BYMONTHDAY=1,15;BYHOUR=9;BYMINUTE=0',
    'FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1;BYHOUR=9;BYMINUTE=0',
    'FREQ=WEEKLY;WKST=SU;BYDAY=MO;BYHOUR=9;BYMINUTE=0',
    'DTSTART:20260101T090000\nRRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
    'RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0\nEXDATE:20260101T090000',
    'nonsense',
  ])('%s has no fields that could hold it', (rule) => {
    expect(calendarOf(rule)).toBeUndefined()
  })
})
