import { expect, test } from 'vitest'
import { COMPILED_TIMINGS_KEPT } from './compiled-timing.js'
import { after, compileTiming, cron, every, once, rrule, type Timing } from './timing.js'

test('equal timings are compiled once, whatever the order of their keys', () => {
  const timing = cron('0 9 * * *', { zone: 'Asia/Tokyo' })
  const reordered = JSON.parse(JSON.stringify({ ...timing, kind: undefined })) as object
  expect(compileTiming({ ...reordered, kind: 'cron' } as Timing)).toBe(compileTiming(timing))
})

test('what has not been asked for in long is forgotten', () => {
  const first = compileTiming(every('7 seconds'))
  for (let index = 0; index <= COMPILED_TIMINGS_KEPT; index++) compileTiming(every({ seconds: 100 + index }))
  expect(compileTiming(every('7 seconds'))).not.toBe(first)
})

test('what is asked for again and again is kept', () => {
  const first = compileTiming(every('7 seconds'))
  for (let index = 0; index <= COMPILED_TIMINGS_KEPT; index++) {
    compileTiming(every({ seconds: 100 + index }))
    compileTiming(every('7 seconds'))
  }
  expect(compileTiming(every('7 seconds'))).toBe(first)
})

test('once is next until it has passed', () => {
  const at = Date.parse('2026-12-01T08:00Z')
  for (const timing of [once('2026-12-01T09:00', { zone: 'Europe/Paris' }), once('2026-12-01T08:00Z')]) {
    const compiled = compileTiming(timing)
    expect(compiled.next(at - 1)).toBe(at)
    expect(compiled.next(at)).toBeNull()
    expect(compiled.previous(at + 1)).toBe(at)
    expect(compiled.previous(at)).toBeNull()
    expect(compiled.between(at, at + 1, 9)).toEqual([at])
    expect(compiled.between(0, at, 9)).toEqual([])
  }
})

test('after answers for a run that ended at the instant asked about', () => {
  const compiled = compileTiming(after('6 hours'))
  expect(compiled.next(1_000)).toBe(6 * 3_600_000 + 1_000)
  expect(compiled.previous(6 * 3_600_000 + 1_000)).toBe(1_000)
})

test('an earlier question after a later one gets its own answer', () => {
  const compiled = compileTiming(cron('0 0 1 * *'))
  expect(compiled.next(Date.UTC(2026, 5, 15))).toBe(Date.UTC(2026, 6, 1))
  expect(compiled.next(Date.UTC(2026, 5, 20))).toBe(Date.UTC(2026, 6, 1))
  expect(compiled.next(Date.UTC(2026, 6, 1))).toBe(Date.UTC(2026, 7, 1))
  expect(compiled.next(Date.UTC(2026, 5, 1) - 1)).toBe(Date.UTC(2026, 5, 1))
})

test('the ends of time are no obstacle', () => {
  for (const timing of [cron('0 0 1 1 *'), every('1 year'), every('1 hour'), rrule('FREQ=YEARLY')]) {
    const compiled = compileTiming(timing)
    expect(compiled.next(Number.MAX_SAFE_INTEGER)).toBeNull()
    expect(compiled.next(Date.UTC(9999, 11, 31, 23, 59, 59))).toBeNull()
    expect(compiled.previous(Number.MIN_SAFE_INTEGER)).toBeNull()
    expect(compiled.next(Number.MIN_SAFE_INTEGER)).not.toBeNull()
    expect(compiled.previous(Number.MAX_SAFE_INTEGER)).not.toBeNull()
  }
})

test('a timing that a newer version wrote, or in a zone this host does not know, is refused as ours', () => {
  expect(() => compileTiming({ kind: 'lunar' } as never)).toThrow(
    'timing.kind: "lunar" – is not known to this version',
  )
  const timing = { ...cron('0 0 * * *'), zone: 'Mars/Olympus' }
  expect(() => compileTiming(timing)).toThrow('"Mars/Olympus" – is not an IANA time zone')
})
