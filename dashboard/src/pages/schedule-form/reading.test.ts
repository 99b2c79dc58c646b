import { describe, expect, it } from 'vitest'
import { parseSchedule, type ScheduleDefinition } from '../../../../src/schedules/schedule.js'
import { after, cron, every, once, rrule } from '../../../../src/time/timing.js'
import type { Schedule } from '../../api/client.ts'
import { type FormState, formOf, newForm } from './form-state.ts'
import { patchOf, readForm, rebased } from './reading.ts'

const CREATED = '2026-11-01T10:00:00.000Z'

/** As the API gives it. */
function schedule(definition: Partial<ScheduleDefinition>): Schedule {
  const { policies, ...content } = parseSchedule('s', { job: 'j', timing: every('1 hour'), ...definition })
  return {
    ...content,
    ...policies,
    id: 'id',
    name: 's',
    version: 3,
    state: 'active',
    stateNote: null,
    nextAt: null,
    scopes: content.scopes ?? ['global'],
    startAt: content.startAt ?? CREATED,
    createdAt: CREATED,
    updatedAt: CREATED,
  } as Schedule
}

const CASES: Partial<ScheduleDefinition>[] = [
  {},
  { timing: cron('0 9 * * MON-FRI', { zone: 'America/New_York' }) },
  { timing: rrule('FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0', { zone: 'Europe/London' }) },
  { timing: rrule('FREQ=DAILY;COUNT=5'), startAt: '2026-12-01T00:00:00Z' },
  { timing: once('2026-12-01T09:00') },
  { timing: after('6 hours') },
  { input: { customer: 'acme', lines: [1, 2] }, metadata: { owner: 'ann' } },
  { input: 'text' },
  { group: 'reports', description: 'The report', queue: 'slow', priority: -5, scopes: ['a', 'b, c'] },
  { startAt: '2026-12-01T09:00', endAt: '2027-01-01T00:00:00Z', limit: 12 },
  { catchUp: 'none' },
  { catchUp: 'all', catchUpLimit: 7 },
  { catchUp: 'all', catchUpWindow: '3 days' },
  { catchUpWindow: '2 hours' },
  { grace: '5 minutes', delay: '30 seconds', jitter: '1 minute' },
  { overlap: 'skip' },
  { overlap: 'queue' },
  { overlap: 'replace' },
  { breaker: { failures: 3 } },
  { breaker: { failures: 3, cooldown: '1 hour' } },
  { deleteWhenDone: true },
]

describe('a schedule as a form', () => {
  it.each(CASES)('%o comes back as it went', (definition) => {
    const there = schedule(definition)
    const reading = readForm(formOf(there))
    expect(reading.mistakes).toEqual([])
    const { policies, ...content } = parseSchedule('s', reading.definition as never)
    const { startAt, ...rest } = { ...content, ...policies }
    expect(there).toMatchObject(rest)
    expect(startAt ?? CREATED).toBe(there.startAt)
    expect(patchOf(formOf(there), formOf(there))).toEqual({})
  })

  it.each(CASES)('is sent without what is the default: %o', (given) => {
    const sent = Object.keys(readForm(formOf(schedule(given))).definition)
    expect(sent.sort()).toEqual([...new Set(['job', 'timing', 'scopes', ...Object.keys(given)])].sort())
  })

  it('takes other words for a default as the default', () => {
    const form = { ...newForm('UTC'), name: 's', job: 'j', grace: '60s', delay: '0 ms', jitter: 'PT0S' }
    expect(readForm(form).definition).toEqual({ job: 'j', timing: { kind: 'every', every: '1 hour' } })
  })

  it.each<[Partial<FormState>, string, RegExp]>([
    [{ name: 'a b' }, 'name', /letters, digits/],
    [{ name: '' }, 'name', /letters, digits/],
    [{ job: ' ' }, 'job', /name of one/],
    [{ input: '{' }, 'input', /^line 1, column 2/],
    [{ metadata: '[1]' }, 'metadata', /must be an object/],
    [{ priority: 'high' }, 'priority', /"high" – must be a whole number/],
    [{ limit: '0' }, 'limit', /from 1 to/],
    [{ grace: 'a while' }, 'grace', /not a duration/],
    [{ scopes: 'a\na' }, 'scopes', /twice/],
    [{ startAt: '2027-01-01T00:00', endAt: '2026-01-01T00:00' }, 'endAt', /must be after startAt/],
    [{ breaker: { isOn: true, failures: 'x', cooldown: '' } }, 'breaker.failures', /"x" – must be/],
    [{ timing: { ...newForm('Europe/Pariss').timing } }, 'timing.zone', /did you mean "Europe\/Paris"/],
    [
      { timing: { ...newForm('UTC').timing, kind: 'cron', expression: '61 * * * *' } },
      'timing.expression',
      /minute 61/,
    ],
  ])('%o is wrong at %s', (change, field, message) => {
    const { mistakes } = readForm({ ...newForm('UTC'), name: 's', job: 'j', ...change })
    expect(mistakes).toEqual([{ field, message: expect.stringMatching(message) }])
  })

  it('leaves what it cannot show to the server to judge', () => {
    const timing = { ...newForm('UTC').timing, kind: 'json', json: '{"kind":"lunar"}' } as const
    expect(readForm({ ...newForm('UTC'), name: 's', job: 'j', timing })).toMatchObject({
      mistakes: [],
      definition: { timing: { kind: 'lunar' } },
    })
  })

  it('creates one paused only where that was asked for', () => {
    expect(readForm({ ...newForm('UTC'), paused: true }).definition.paused).toBe(true)
    expect(readForm(newForm('UTC')).definition).not.toHaveProperty('paused')
  })
})

describe('an edit', () => {
  const before = formOf(schedule({ group: 'reports', overlap: 'queue', breaker: { failures: 3 } }))

  it('holds only what was changed, and null for what was taken away', () => {
    expect(patchOf({ ...before, group: '', description: 'New', overlap: 'allow' }, before)).toEqual({
      group: null,
      description: 'New',
      overlap: null,
    })
  })

  it('sends a timing whole', () => {
    const timing = { ...before.timing, every: '2 hours' }
    expect(patchOf({ ...before, timing }, before)).toEqual({ timing: { kind: 'every', every: '2 hours' } })
  })

  it('leaves a timing alone that is not right yet', () => {
    const timing = { ...before.timing, kind: 'json' as const, json: '{' }
    expect(patchOf({ ...before, timing, group: 'x' }, before)).toEqual({ group: 'x' })
    expect(readForm({ ...before, timing }).definition).not.toHaveProperty('timing')
  })

  it('takes the overlap along to a timing that has none, and back', () => {
    const chained = { ...before, timing: { ...before.timing, kind: 'after' as const } }
    expect(patchOf(chained, before)).toMatchObject({ overlap: 'skip' })
    const there = formOf(schedule({ timing: after('1 hour') }))
    const back = { ...there, timing: { ...there.timing, kind: 'every' as const } }
    expect(patchOf(back, there)).toMatchObject({ overlap: null, timing: { kind: 'every' } })
  })

  it('is made again on what somebody else has made of it', () => {
    const mine = { ...before, description: 'Mine', grace: '5 minutes' }
    const theirs = { ...before, description: 'Theirs', group: 'others' }
    const form = rebased(mine, before, theirs)
    expect(form).toMatchObject({ description: 'Mine', grace: '5 minutes', group: 'others' })
    expect(patchOf(form, theirs)).toEqual({ description: 'Mine', grace: '5 minutes' })
  })
})
