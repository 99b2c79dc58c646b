import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EscapementError } from '../../src/errors.js'
import { previewOccurrences } from '../../src/time/preview.js'
import { MAX_SEARCH_STEPS, searchSteps } from '../../src/time/search.js'
import { compileTiming, parseTiming } from '../../src/time/timing.js'
import { CASES, SEED } from './cases.js'

const letters = (alphabet: string, maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength }).map((list) => list.join(''))

/** Noise, text made of a notation's own letters, and good text with something wrong in it. */
function garbage(alphabet: string, good: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    letters(alphabet, 30),
    fc
      .tuple(fc.constantFrom(...good), fc.nat(40), fc.nat(3), letters(alphabet, 4))
      .map(([text, at, removed, inserted]) => text.slice(0, at) + inserted + text.slice(at + removed)),
    fc.array(fc.constantFrom(...good), { minLength: 1, maxLength: 3 }).map((texts) => texts.join(' ')),
  )
}

const cronText = garbage('0123456789*,-/?LW#@ MONFRIJAabc', [
  '0 9 * * MON-FRI',
  '*/15 0-23/2 1,15W LFEB *',
  '0 0 30 2 *',
  '59 59 23 LW 12 5L,1#5',
  '@yearly',
])
const ruleText = garbage('0123456789=;,-:TZ\nFREQBYDAILMONHUCWKST ', [
  'FREQ=MONTHLY;BYDAY=-1FR',
  'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=3;BYSETPOS=-1',
  'FREQ=YEARLY;INTERVAL=7;BYWEEKNO=53;BYDAY=SU;COUNT=9000',
  'FREQ=MINUTELY;INTERVAL=1441;BYHOUR=5;BYMINUTE=7;BYYEARDAY=366',
  'DTSTART:19970902T090000\nRRULE:FREQ=DAILY;UNTIL=20301224T000000Z\nEXDATE:19970903T090000',
  'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
])
const durationText = garbage('0123456789.PTYMWDHS smhdwy', ['15 minutes', 'P1Y2M3DT4H5M6S', '1h30m', '90s'])
const dateText = garbage('0123456789-:TZ.+ ', [
  '2026-12-01T09:00:00.000+01:00',
  '2026-02-29',
  '9999-12-31T23:59:59Z',
])
const zoneText = garbage('AmericaEupNwYorkPs/_+-0123:', [
  'America/New_York',
  'Asia/Kolkata',
  '+05:30',
  'Etc/GMT+5',
])

const timing = fc.oneof(
  cronText.map((expression) => ({ kind: 'cron', expression, zone: 'America/New_York' })),
  ruleText.map((rule) => ({ kind: 'rrule', rule, zone: 'Australia/Lord_Howe' })),
  durationText.map((every) => ({ kind: 'every', every })),
  durationText.map((interval) => ({ kind: 'after', interval })),
  fc.tuple(dateText, zoneText).map(([at, zone]) => ({ kind: 'once', at, zone })),
  fc.anything(),
  fc
    .tuple(
      fc.constantFrom('once', 'every', 'cron', 'after', 'rrule'),
      fc.dictionary(fc.string(), fc.anything()),
    )
    .map(([kind, fields]) => ({ ...fields, kind })),
)

test('garbage is refused with our own error or else works, always within the bound on steps', {
  timeout: 600_000,
}, () => {
  let accepted = 0
  let mostSteps = 0
  const bounded = <T>(act: () => T): T => {
    const result = act()
    mostSteps = Math.max(mostSteps, searchSteps())
    return result
  }
  fc.assert(
    fc.property(timing, fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }), (value, instant) => {
      try {
        const parsed = bounded(() => parseTiming(value))
        accepted += 1
        expect(parseTiming(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed)
        const compiled = bounded(() => compileTiming(parsed))
        const next = bounded(() => compiled.next(instant))
        if (next !== null) {
          expect(next).toBeGreaterThan(instant)
          expect(bounded(() => compiled.previous(next + 1))).toBe(
            parsed.kind === 'after' ? instant + 1 : next,
          )
        }
        bounded(() => previewOccurrences(parsed, { after: instant, count: 2 }))
      } catch (error) {
        if (!(error instanceof EscapementError)) throw error
        expect(error.message).not.toBe('')
      }
    }),
    { numRuns: Math.max(10_000, CASES / 2), ...SEED },
  )
  expect(mostSteps).toBeLessThanOrEqual(MAX_SEARCH_STEPS)
  expect(accepted).toBeGreaterThan(100)
})
