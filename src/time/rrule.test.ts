import { expect, test } from 'vitest'
import { formatWall } from './instant.js'
import { MAX_SEARCH_STEPS, searchSteps } from './search.js'
import { compileTiming, rrule } from './timing.js'
import { wallAt } from './wall-mapping.js'
import { zoneNamed } from './zone.js'

const NEW_YORK = 'America/New_York'

/** Wall times in New York, minutes and seconds only where they matter. */
function walls(text: string, count: number, from = 0): string[] {
  const compiled = compileTiming(rrule(text, { zone: NEW_YORK }))
  return compiled
    .between(from, Number.MAX_SAFE_INTEGER, count)
    .map((instant) => formatWall(wallAt(zoneNamed(NEW_YORK), instant)).slice(0, 16))
}

const START = 'DTSTART;TZID=America/New_York:19970902T090000'

/** Expands `1997-09: 2 4 16` to days at 09:00. */
function days(text: string, time = '09:00'): string[] {
  return text.split('|').flatMap((part) => {
    const [month, list] = part.split(':') as [string, string]
    return list
      .trim()
      .split(/\s+/)
      .map((day) => `${month.trim()}-${day.padStart(2, '0')}T${time}`)
  })
}

function range(from: string, count: number, stepDays = 1, time = '09:00'): string[] {
  const first = Date.parse(`${from}T00:00:00Z`)
  return Array.from(
    { length: count },
    (_, index) => `${new Date(first + index * stepDays * 86_400_000).toISOString().slice(0, 10)}T${time}`,
  )
}

/** The examples of RFC 5545, section 3.8.5.3: the rule, what it yields, and whether that is all. */
const EXAMPLES: [name: string, rule: string, expected: string[], complete: boolean][] = [
  ['daily for 10 occurrences', `${START}\nRRULE:FREQ=DAILY;COUNT=10`, range('1997-09-02', 10), true],
  [
    'daily until 24 December',
    `${START}\nRRULE:FREQ=DAILY;UNTIL=19971224T000000Z`,
    range('1997-09-02', 113),
    true,
  ],
  ['every other day', `${START}\nRRULE:FREQ=DAILY;INTERVAL=2`, range('1997-09-02', 47, 2), false],
  [
    'every 10 days, 5 occurrences',
    `${START}\nRRULE:FREQ=DAILY;INTERVAL=10;COUNT=5`,
    range('1997-09-02', 5, 10),
    true,
  ],
  [
    'every day in January for 3 years, by year',
    'DTSTART;TZID=America/New_York:19980101T090000\nRRULE:FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA',
    [...range('1998-01-01', 31), ...range('1999-01-01', 31), ...range('2000-01-01', 31)],
    true,
  ],
  [
    'every day in January for 3 years, by day',
    'DTSTART;TZID=America/New_York:19980101T090000\nRRULE:FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1',
    [...range('1998-01-01', 31), ...range('1999-01-01', 31), ...range('2000-01-01', 31)],
    true,
  ],
  ['weekly for 10 occurrences', `${START}\nRRULE:FREQ=WEEKLY;COUNT=10`, range('1997-09-02', 10, 7), true],
  [
    'weekly until 24 December',
    `${START}\nRRULE:FREQ=WEEKLY;UNTIL=19971224T000000Z`,
    range('1997-09-02', 17, 7),
    true,
  ],
  ['every other week', `${START}\nRRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU`, range('1997-09-02', 13, 14), false],
  [
    'weekly on Tuesday and Thursday for five weeks, by date',
    `${START}\nRRULE:FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH`,
    days('1997-09: 2 4 9 11 16 18 23 25 30|1997-10: 2'),
    true,
  ],
  [
    'weekly on Tuesday and Thursday for five weeks, by count',
    `${START}\nRRULE:FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH`,
    days('1997-09: 2 4 9 11 16 18 23 25 30|1997-10: 2'),
    true,
  ],
  [
    'every other week on Monday, Wednesday and Friday until 24 December',
    'DTSTART;TZID=America/New_York:19970901T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR',
    days(
      '1997-09: 1 3 5 15 17 19 29|1997-10: 1 3 13 15 17 27 29 31|1997-11: 10 12 14 24 26 28|1997-12: 8 10 12 22',
    ),
    true,
  ],
  [
    'every other week on Tuesday and Thursday, 8 occurrences',
    `${START}\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH`,
    days('1997-09: 2 4 16 18 30|1997-10: 2 14 16'),
    true,
  ],
  [
    'monthly on the first Friday, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970905T090000\nRRULE:FREQ=MONTHLY;COUNT=10;BYDAY=1FR',
    days(
      '1997-09: 5|1997-10: 3|1997-11: 7|1997-12: 5|1998-01: 2|1998-02: 6|1998-03: 6|1998-04: 3|1998-05: 1|1998-06: 5',
    ),
    true,
  ],
  [
    'monthly on the first Friday until 24 December',
    'DTSTART;TZID=America/New_York:19970905T090000\nRRULE:FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR',
    days('1997-09: 5|1997-10: 3|1997-11: 7|1997-12: 5'),
    true,
  ],
  [
    'every other month on the first and last Sunday, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970907T090000\nRRULE:FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU',
    days('1997-09: 7 28|1997-11: 2 30|1998-01: 4 25|1998-03: 1 29|1998-05: 3 31'),
    true,
  ],
  [
    'monthly on the second-to-last Monday for 6 months',
    'DTSTART;TZID=America/New_York:19970922T090000\nRRULE:FREQ=MONTHLY;COUNT=6;BYDAY=-2MO',
    days('1997-09: 22|1997-10: 20|1997-11: 17|1997-12: 22|1998-01: 19|1998-02: 16'),
    true,
  ],
  [
    'monthly on the third-to-last day',
    'DTSTART;TZID=America/New_York:19970928T090000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-3',
    days('1997-09: 28|1997-10: 29|1997-11: 28|1997-12: 29|1998-01: 29|1998-02: 26'),
    false,
  ],
  [
    'monthly on the 2nd and 15th, 10 occurrences',
    `${START}\nRRULE:FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15`,
    days('1997-09: 2 15|1997-10: 2 15|1997-11: 2 15|1997-12: 2 15|1998-01: 2 15'),
    true,
  ],
  [
    'monthly on the first and last day, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970930T090000\nRRULE:FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1',
    days('1997-09: 30|1997-10: 1 31|1997-11: 1 30|1997-12: 1 31|1998-01: 1 31|1998-02: 1'),
    true,
  ],
  [
    'every 18 months on the 10th to 15th, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970910T090000\nRRULE:FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15',
    days('1997-09: 10 11 12 13 14 15|1999-03: 10 11 12 13'),
    true,
  ],
  [
    'every Tuesday of every other month',
    `${START}\nRRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=TU`,
    days('1997-09: 2 9 16 23 30|1997-11: 4 11 18 25|1998-01: 6 13 20 27|1998-03: 3 10 17 24 31'),
    false,
  ],
  [
    'yearly in June and July, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970610T090000\nRRULE:FREQ=YEARLY;COUNT=10;BYMONTH=6,7',
    days(
      '1997-06: 10|1997-07: 10|1998-06: 10|1998-07: 10|1999-06: 10|1999-07: 10|2000-06: 10|2000-07: 10|2001-06: 10|2001-07: 10',
    ),
    true,
  ],
  [
    'every other year in January, February and March, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970310T090000\nRRULE:FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3',
    days(
      '1997-03: 10|1999-01: 10|1999-02: 10|1999-03: 10|2001-01: 10|2001-02: 10|2001-03: 10|2003-01: 10|2003-02: 10|2003-03: 10',
    ),
    true,
  ],
  [
    'every third year on days 1, 100 and 200, 10 occurrences',
    'DTSTART;TZID=America/New_York:19970101T090000\nRRULE:FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200',
    days(
      '1997-01: 1|1997-04: 10|1997-07: 19|2000-01: 1|2000-04: 9|2000-07: 18|2003-01: 1|2003-04: 10|2003-07: 19|2006-01: 1',
    ),
    true,
  ],
  [
    'every 20th Monday of the year',
    'DTSTART;TZID=America/New_York:19970519T090000\nRRULE:FREQ=YEARLY;BYDAY=20MO',
    days('1997-05: 19|1998-05: 18|1999-05: 17'),
    false,
  ],
  [
    'Monday of week 20',
    'DTSTART;TZID=America/New_York:19970512T090000\nRRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO',
    days('1997-05: 12|1998-05: 11|1999-05: 17'),
    false,
  ],
  [
    'every Thursday in March',
    'DTSTART;TZID=America/New_York:19970313T090000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=TH',
    days('1997-03: 13 20 27|1998-03: 5 12 19 26|1999-03: 4 11 18 25'),
    false,
  ],
  [
    'every Thursday in June, July and August',
    'DTSTART;TZID=America/New_York:19970605T090000\nRRULE:FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8',
    days(
      '1997-06: 5 12 19 26|1997-07: 3 10 17 24 31|1997-08: 7 14 21 28|1998-06: 4 11 18 25|1998-07: 2 9 16 23 30|1998-08: 6 13 20 27|1999-06: 3 10 17 24|1999-07: 1 8 15 22 29|1999-08: 5 12 19 26',
    ),
    false,
  ],
  [
    'every Friday the 13th, with the start excluded',
    `${START}\nEXDATE;TZID=America/New_York:19970902T090000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13`,
    days('1998-02: 13|1998-03: 13|1998-11: 13|1999-08: 13|2000-10: 13'),
    false,
  ],
  [
    'the Saturday after the first Sunday of the month',
    'DTSTART;TZID=America/New_York:19970913T090000\nRRULE:FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13',
    days(
      '1997-09: 13|1997-10: 11|1997-11: 8|1997-12: 13|1998-01: 10|1998-02: 7|1998-03: 7|1998-04: 11|1998-05: 9|1998-06: 13',
    ),
    false,
  ],
  [
    'every 4 years on the Tuesday after a Monday in November',
    'DTSTART;TZID=America/New_York:19961105T090000\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8',
    days('1996-11: 5|2000-11: 7|2004-11: 2'),
    false,
  ],
  [
    'the third Tuesday, Wednesday or Thursday of the month for 3 months',
    'DTSTART;TZID=America/New_York:19970904T090000\nRRULE:FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3',
    days('1997-09: 4|1997-10: 7|1997-11: 6'),
    true,
  ],
  [
    'the second-to-last weekday of the month',
    'DTSTART;TZID=America/New_York:19970929T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2',
    days('1997-09: 29|1997-10: 30|1997-11: 27|1997-12: 30|1998-01: 29|1998-02: 26|1998-03: 30'),
    false,
  ],
  [
    'every 3 hours until 17:00 on one day',
    // The RFC writes 170000Z, which is 13:00 in New York; its list of occurrences means 17:00 there.
    `${START}\nRRULE:FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z`,
    ['09:00', '12:00', '15:00'].map((time) => `1997-09-02T${time}`),
    true,
  ],
  [
    'every 15 minutes, 6 occurrences',
    `${START}\nRRULE:FREQ=MINUTELY;INTERVAL=15;COUNT=6`,
    ['09:00', '09:15', '09:30', '09:45', '10:00', '10:15'].map((time) => `1997-09-02T${time}`),
    true,
  ],
  [
    'every hour and a half, 4 occurrences',
    `${START}\nRRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=4`,
    ['09:00', '10:30', '12:00', '13:30'].map((time) => `1997-09-02T${time}`),
    true,
  ],
  [
    'every 20 minutes from 9:00 to 16:40, by day',
    `${START}\nRRULE:FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40`,
    twentyMinutes('1997-09-02', '1997-09-03'),
    false,
  ],
  [
    'every 20 minutes from 9:00 to 16:40, by minute',
    `${START}\nRRULE:FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16`,
    twentyMinutes('1997-09-02', '1997-09-03'),
    false,
  ],
  [
    'every other week on Tuesday and Sunday, weeks beginning on Monday',
    'DTSTART;TZID=America/New_York:19970805T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO',
    days('1997-08: 5 10 19 24'),
    true,
  ],
  [
    'every other week on Tuesday and Sunday, weeks beginning on Sunday',
    'DTSTART;TZID=America/New_York:19970805T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU',
    days('1997-08: 5 17 19 31'),
    true,
  ],
  [
    'the 15th and 30th, without an invalid 30 February',
    'DTSTART;TZID=America/New_York:20070115T090000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5',
    days('2007-01: 15 30|2007-02: 15|2007-03: 15 30'),
    true,
  ],
]

function twentyMinutes(...dates: string[]): string[] {
  return dates.flatMap((date) =>
    [9, 10, 11, 12, 13, 14, 15, 16].flatMap((hour) =>
      ['00', '20', '40'].map((minute) => `${date}T${String(hour).padStart(2, '0')}:${minute}`),
    ),
  )
}

test.each(EXAMPLES)('RFC 5545: %s', (_, rule, expected, complete) => {
  expect(walls(rule, complete ? 1_000 : expected.length)).toEqual(expected)
})

test.each([
  ['', 'has 0 rules; expected one'],
  ['FREQ=FORTNIGHTLY', '"FREQ=FORTNIGHTLY" – FREQ "FORTNIGHTLY" is none of YEARLY'],
  ['FREQ=DALY', '(did you mean "DAILY"?)'],
  ['INTERVAL=2', 'expected a line with RRULE'],
  ['RRULE:INTERVAL=2', 'FREQ is missing'],
  ['FREQ=DAILY;BYHOUR=24', 'BYHOUR "24" is out of range 0–23'],
  ['FREQ=DAILY;BYHOUR=-1', 'BYHOUR "-1" is out of range 0–23'],
  ['FREQ=MONTHLY;BYMONTHDAY=32', 'BYMONTHDAY "32" is out of range ±1–31'],
  ['FREQ=MONTHLY;BYMONTHDAY=0', 'BYMONTHDAY "0" is out of range'],
  ['FREQ=MONTHLY;BYDAY=XX', 'BYDAY "XX" is not a weekday such as MO, 2TU or -1FR'],
  ['FREQ=MONTHLY;BYDAY=0MO', 'the number is out of range'],
  ['FREQ=WEEKLY;BYDAY=1MO', 'BYDAY takes no number with FREQ=WEEKLY'],
  ['FREQ=MONTHLY;BYWEEKNO=1', 'BYWEEKNO is for FREQ=YEARLY only'],
  ['FREQ=DAILY;BYYEARDAY=1', 'BYYEARDAY does not go with FREQ=DAILY'],
  ['FREQ=WEEKLY;BYMONTHDAY=1', 'BYMONTHDAY does not go with FREQ=WEEKLY'],
  ['FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO', 'BYDAY takes no number together with BYWEEKNO'],
  ['FREQ=DAILY;BYSETPOS=1', 'BYSETPOS needs another BY part'],
  ['FREQ=DAILY;COUNT=1;UNTIL=20300101', 'COUNT and UNTIL exclude each other'],
  ['FREQ=DAILY;COUNT=0', 'COUNT "0" is out of range'],
  ['FREQ=DAILY;INTERVAL=x', 'INTERVAL "X" is out of range'],
  ['FREQ=DAILY;FREQ=DAILY', 'FREQ is given twice'],
  ['FREQ=DAILY;BYHOR=1', '"BYHOR" is not a part of a rule (did you mean "BYHOUR"?)'],
  ['FREQ=DAILY;COUNT=', 'COUNT has no value'],
  ['FREQ=DAILY;UNTIL=20301301', 'UNTIL "20301301T235959" does not exist'],
  ['FREQ=DAILY;WKST=XX', 'WKST "XX" is none of'],
  [
    'DTSTART:20260101\nEXRULE:FREQ=DAILY\nRRULE:FREQ=DAILY',
    '"EXRULE:FREQ=DAILY" – expected a line with RRULE, DTSTART, EXDATE, RDATE',
  ],
  ['DTSTART:2026-01-01\nRRULE:FREQ=DAILY', '"2026-01-01" is not a date such as 20261201T090000'],
  ['DTSTART;X=1:20260101\nRRULE:FREQ=DAILY', '"X=1" is not understood'],
  [
    'DTSTART;TZID=Europe/Paris:20260101T000000\nRRULE:FREQ=DAILY',
    'TZID=Europe/Paris – differs from the zone "America/New_York"',
  ],
  ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'never happens'],
  ['FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30', 'never happens'],
  ['FREQ=HOURLY;INTERVAL=24;BYHOUR=5', 'never happens'],
  ['DTSTART:20260101T000000\nRRULE:FREQ=DAILY;UNTIL=20251231', 'never happens'],
])('%j is refused with the reason', (text, message) => {
  expect(() => rrule(text, { zone: NEW_YORK })).toThrow(message)
  expect(searchSteps()).toBeLessThanOrEqual(MAX_SEARCH_STEPS)
})

test('every mistake of a rule is reported at once', () => {
  expect(() => rrule('FREQ=DAILY;BYHOUR=24;BYMINUTE=60')).toThrow(/BYHOUR.*\n.*BYMINUTE/)
})

test('the zone comes from TZID when none is given', () => {
  expect(rrule(`${START}\nRRULE:FREQ=DAILY`)).toEqual({
    kind: 'rrule',
    rule: 'DTSTART:19970902T090000\nRRULE:FREQ=DAILY',
    zone: NEW_YORK,
  })
})

test('folded lines, blank lines and lower case are read', () => {
  expect(rrule('dtstart:20260101t090000\r\n\r\nrrule:freq=daily;byh\r\n our=9').rule).toBe(
    'DTSTART:20260101T090000\nRRULE:FREQ=DAILY;BYHOUR=9',
  )
})

test('dates are added and taken out', () => {
  const text = `${START}\nRRULE:FREQ=DAILY;COUNT=3\nRDATE:19970910T120000,19970901T080000\nEXDATE:19970903T090000`
  expect(walls(text, 9)).toEqual([
    '1997-09-01T08:00',
    '1997-09-02T09:00',
    '1997-09-04T09:00',
    '1997-09-10T12:00',
  ])
})

test('an UNTIL without a time includes that day', () => {
  expect(walls(`${START}\nRRULE:FREQ=DAILY;UNTIL=19970903`, 9)).toEqual([
    '1997-09-02T09:00',
    '1997-09-03T09:00',
  ])
})

test('a rule in a zone is moved out of the gap and comes back to its hour', () => {
  const text = 'DTSTART:20260307T023000\nRRULE:FREQ=DAILY;COUNT=3'
  expect(walls(text, 9)).toEqual(['2026-03-07T02:30', '2026-03-08T03:30', '2026-03-09T02:30'])
})

test('a rule in seconds with a rare hour is found at once', () => {
  expect(walls('FREQ=SECONDLY;BYHOUR=3;BYMINUTE=0', 2, Date.parse('2026-06-01T12:00Z'))).toEqual([
    '2026-06-02T03:00',
    '2026-06-02T03:00',
  ])
  expect(searchSteps()).toBeLessThan(100)
})

test('a COUNT that takes too long to count is refused instead of counted', () => {
  expect(() => rrule('FREQ=YEARLY;COUNT=9000;BYDAY=MO;BYMONTHDAY=13')).toThrow(
    'or only after more steps than we take',
  )
})

test('week 1 belongs to the year that has most of it', () => {
  const weeks = 'DTSTART:20240101T090000\nRRULE:FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO'
  expect(walls(weeks, 4)).toEqual(days('2024-01: 1|2024-12: 30|2025-12: 29|2027-01: 4'))
  expect(walls(`${weeks};INTERVAL=2`, 3)).toEqual(days('2024-01: 1|2025-12: 29|2028-01: 3'))
})

test('BYWEEKNO alone keeps the weekday of the start', () => {
  expect(walls('DTSTART:20260107T090000\nRRULE:FREQ=YEARLY;BYWEEKNO=20', 2)).toEqual(
    days('2026-05: 13|2027-05: 19'),
  )
})
