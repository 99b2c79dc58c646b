import { describe, expect, it } from 'vitest'
import { type CardFacts, describeSchedule } from './schedule-card.js'
import { type Schedule, standingOf } from './standing.js'

const now = Date.parse('2026-11-15T15:30:00Z')

const schedule: Schedule = {
  id: '0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11',
  name: 'report:acme',
  version: 1,
  state: 'active',
  stateNote: null,
  nextAt: '2026-11-16T14:00:00.000Z',
  job: 'send-report',
  input: null,
  queue: 'default',
  priority: 0,
  group: null,
  scopes: ['global'],
  timing: {
    kind: 'cron',
    expression: '0 9 * * MON-FRI',
    zone: 'America/New_York',
    gap: 'shift',
    fold: 'first',
  },
  description: null,
  metadata: null,
  startAt: '2026-11-15T15:00:00.000Z',
  endAt: null,
  limit: null,
  catchUp: 'latest',
  catchUpWindow: null,
  catchUpLimit: 100,
  grace: '1 minute',
  overlap: 'allow',
  delay: '0 seconds',
  jitter: '0 seconds',
  breaker: null,
  deleteWhenDone: false,
  createdAt: '2026-11-15T15:00:00.000Z',
  updatedAt: '2026-11-15T15:00:00.000Z',
}
const preview = {
  description: '',
  occurrences: [
    { planTime: '2026-11-16T14:00:00.000Z', local: '', skipped: true },
    { planTime: '2026-11-17T14:00:00.000Z', local: '', skipped: false, note: 'moved' },
  ],
}
const card = (changed: Partial<Schedule>, runs: unknown[] = []) =>
  describeSchedule({ schedule: { ...schedule, ...changed }, preview, runs: runs as CardFacts['runs'] }, now)

describe('the card of a schedule', () => {
  it('leaves out what is as it is by default', () => {
    expect(card({}).split('\n')).toEqual([
      'report:acme',
      'state    active',
      'timing   At 09:00, Monday to Friday, New York time',
      'next     2026-11-16 10:30 (in 23 hours, 09:00 in America/New_York)  to be skipped',
      '         2026-11-17 10:30 (in 47 hours, 09:00 in America/New_York)  moved',
      'job      send-report',
      'version  1, created 30 minutes ago',
    ])
  })

  it('tells everything else', () => {
    const full = card(
      {
        version: 4,
        description: 'The daily report',
        input: { customers: Array.from({ length: 30 }, (_, index) => index) },
        queue: 'mail',
        group: 'acme',
        scopes: ['a', 'b'],
        metadata: { owner: 'ann' },
        endAt: '2026-12-01T05:00:00.000Z',
        limit: 5,
        overlap: 'skip',
        startAt: '2026-11-15T15:10:00.000Z',
        state: 'broken',
        stateNote: { reason: '5 failed', by: null, since: '2026-11-15T15:20:00.000Z', until: null },
      },
      [
        { state: 'failed', error: { message: 'refused\nat x' }, finishedAt: '2026-11-15T15:20:00.000Z' },
        { state: 'running', error: null, finishedAt: null, createdAt: '2026-11-15T15:29:59.000Z' },
      ],
    ).split('\n')
    expect(full).toEqual(
      expect.arrayContaining([
        'description  The daily report',
        'state        broken since 2026-11-15 11:50 (10 minutes ago): 5 failed',
        'next         none until it is resumed',
        'begins       2026-11-15 11:40 (20 minutes ago, 10:10 in America/New_York)',
        'ends         2026-12-01 01:30 (in 16 days, 00:00 in America/New_York)',
        'limit        5 plan times',
        '    "customers": [',
        'queue        mail, priority 0',
        'group        acme',
        'scopes       a, b',
        'policy       Skipped while an earlier run is open',
        'metadata     {"owner":"ann"}',
        'last runs    failed 10 minutes ago (refused), running 1 second ago',
        'version      4, changed 30 minutes ago, created 30 minutes ago',
      ]),
    )
  })
})

describe('the line after a verb', () => {
  const lineOf = (changed: Partial<Schedule>) => standingOf({ ...schedule, ...changed }, now)

  it('says what is so now', () => {
    expect(lineOf({})).toBe(
      'report:acme is active; next 2026-11-16 10:30 (in 23 hours, 09:00 in America/New_York)',
    )
    const stateNote = { reason: 'moving', by: 'ann', since: '2026-11-15T15:20:00.000Z', until: null }
    expect(lineOf({ state: 'paused', stateNote })).toBe(
      'report:acme is paused since 2026-11-15 11:50 (10 minutes ago) by ann: moving',
    )
    const until = '2026-12-01T12:30:00.000Z'
    expect(lineOf({ state: 'paused', stateNote: { ...stateNote, reason: null, by: null, until } })).toBe(
      'report:acme is paused until 2026-12-01 09:00 (in 16 days, 07:30 in America/New_York)',
    )
    expect(lineOf({ state: 'finished', nextAt: null })).toBe('report:acme is finished: no plan time is left')
    expect(lineOf({ nextAt: null, timing: { kind: 'after', interval: '6 hours' } })).toBe(
      'report:acme is active; the next follows the end of its run',
    )
  })

  it('shows no zone of a timing that only counts elapsed time', () => {
    const timing = { kind: 'every', every: '15 minutes', anchor: '2001-01-01T00:00:00', zone: 'UTC' } as const
    expect(lineOf({ timing })).toBe('report:acme is active; next 2026-11-16 10:30 (in 23 hours)')
  })
})
