import { describe, expect, it } from 'vitest'
import type { EscapementError, Mistake } from '../errors.js'
import { after, cron, every, rrule } from '../time/timing.js'
import { parseSchedule, type ScheduleDefinition } from './schedule.js'

const fine: ScheduleDefinition = { job: 'j', timing: every('1 minute') }

function mistakes(name: string, definition: object): string[] {
  try {
    parseSchedule(name, definition as ScheduleDefinition)
  } catch (error) {
    expect((error as EscapementError).code).toBe('schedule_invalid')
    return ((error as EscapementError).details.mistakes as Mistake[]).map(
      ({ field, message }) => `${field}: ${message}`,
    )
  }
  return []
}

describe('parseSchedule', () => {
  it('fills in the defaults that the documentation names', () => {
    expect(parseSchedule('s', fine)).toEqual({
      job: 'j',
      input: null,
      queue: 'default',
      priority: 0,
      group: null,
      scopes: null,
      timing: every('1 minute'),
      policies: {
        catchUp: 'latest',
        catchUpWindow: null,
        catchUpLimit: 100,
        grace: '1 minute',
        overlap: 'allow',
        delay: '0 seconds',
        jitter: '0 seconds',
        breaker: null,
        deleteWhenDone: false,
      },
      limit: null,
      description: null,
      metadata: null,
      startAt: null,
      endAt: null,
    })
  })

  it.each(['a', '9', 'report:acme', 'A.b_c-d:9', 'x'.repeat(200)])('takes the name %s', (name) => {
    expect(mistakes(name, fine)).toEqual([])
  })

  it.each(['', ' ', '.a', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(201)])('refuses the name %j', (name) => {
    expect(mistakes(name, fine)).toHaveLength(1)
  })

  it('reports every mistake at once, by field', () => {
    const found = mistakes('a b', {
      job: '',
      timing: { kind: 'every', every: 'soon' },
      queue: '',
      priority: 1.5,
      scopes: ['a', 'a'],
      startAt: 'tomorrow',
      colour: 'red',
      endat: 1,
    })
    expect(found.map((text) => text.split(':')[0]).sort()).toEqual(
      ['colour', 'endat', 'job', 'name', 'priority', 'queue', 'scopes', 'startAt', 'timing.every'].sort(),
    )
    expect(found).toContain('endat: unknown field (did you mean "endAt"?)')
  })

  it.each(['queue', 'group'])('takes a %s of 200 characters, and no longer one', (field) => {
    expect(mistakes('s', { ...fine, [field]: 'x'.repeat(200) })).toEqual([])
    expect(mistakes('s', { ...fine, [field]: 'x'.repeat(201) })).toEqual([
      expect.stringMatching(`^${field}: .* – is longer than 200 characters$`),
    ])
  })

  it('reads bounds as wall time in the zone of the timing', () => {
    const timing = cron('0 9 * * *', { zone: 'America/New_York' })
    const content = parseSchedule('s', { ...fine, timing, startAt: '2026-03-01T00:00', endAt: '2026-07-01' })
    expect([content.startAt, content.endAt]).toEqual(['2026-03-01T05:00:00.000Z', '2026-07-01T04:00:00.000Z'])
  })

  it('refuses an end that is not after the start', () => {
    expect(mistakes('s', { ...fine, startAt: '2026-03-01T00:00Z', endAt: '2026-03-01T00:00Z' })).toEqual([
      'endAt: 2026-03-01T00:00:00.000Z – must be after startAt, 2026-03-01T00:00:00.000Z',
    ])
  })

  it('counts a rule without DTSTART from startAt', () => {
    const timing = rrule('FREQ=DAILY;INTERVAL=3')
    const content = parseSchedule('s', { ...fine, timing, startAt: '2026-03-02T09:30Z' })
    expect(content.timing).toEqual({ ...timing, begins: '2026-03-02T09:30:00.000Z' })
    expect(parseSchedule('s', { ...fine, timing: content.timing }).timing).toEqual(timing)
    expect(parseSchedule('s', { ...fine, timing }).timing).toEqual(timing)
  })

  it.each([
    ['U+0000', 'a\0b'],
    ['half a surrogate pair', { deep: ['\ud800'] }],
    ['a number that JSON has not', { deep: Number.NaN }],
    ['a Date', new Date(0)],
    ['a Map', { deep: new Map() }],
    ['a bigint', 1n],
    ['a function', () => {}],
  ])('refuses %s in the input', (_, input) => {
    expect(mistakes('s', { ...fine, input })).toEqual([expect.stringMatching(/^input[.a-z0-9[\]]*: /)])
  })

  it('takes an escaped backslash before u0000, which is only text', () => {
    expect(mistakes('s', { ...fine, input: '\\u0000 \\ud800' })).toEqual([])
  })

  it('keeps runs of an after timing from overlapping, in one scope', () => {
    const timing = after('1 hour')
    expect(parseSchedule('s', { ...fine, timing }).policies.overlap).toBe('skip')
    const wrong = { ...fine, timing, overlap: 'queue' as const, scopes: ['a', 'b'] }
    expect(mistakes('s', wrong)).toEqual([
      expect.stringMatching(/^overlap: "queue" – runs of an "after" timing never overlap/),
      expect.stringMatching(/^scopes: .* an "after" timing takes one scope/),
    ])
  })

  it.each([
    ['breaker: 3', /^breaker: 3 – must be \{ failures, cooldown\? \}/, 3],
    ['no failures', /^breaker.failures: 0 – must be a whole number from 1/, { failures: 0 }],
    [
      'an unknown field',
      /^breaker.cooldwn: unknown field \(did you mean "cooldown"\?\)/,
      { failures: 1, cooldwn: 1 },
    ],
    ['a cooldown that is none', /^breaker.cooldown: "soon"/, { failures: 1, cooldown: 'soon' }],
  ])('refuses a breaker with %s', (_, message, breaker) => {
    expect(mistakes('s', { ...fine, breaker: breaker as never })).toEqual([expect.stringMatching(message)])
  })
})
