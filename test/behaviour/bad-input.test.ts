import { describe, expect, it } from 'vitest'
import { every, type Schedules } from '../../src/index.js'
import type { Harness } from '../../src/testing/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const ID = '018f0000-0000-7000-8000-000000000000'
const HOUR = { from: AT, to: '2026-03-01T13:00:30Z', bucket: '1 minute' }
const minutely = { job: 'noop', timing: every('1 minute') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  h.job('tenants', { scopes: () => ['a'], handler: () => {} })
  await h.schedules.put('s', minutely)
  await h.schedules.put('provided', { ...minutely, job: 'tenants' })
  return h
}

/** Calls as no typed program would make them: name of the field, what is passed, and what it is told. */
const CALLS: [string, string, (h: Harness, schedules: Loose) => unknown, RegExp][] = [
  ['limit', 'below 1', (_, s) => s.list({ limit: 0 }), /whole number from 1 to 10000/],
  ['limit', 'that is no whole number', (_, s) => s.list({ limit: 1.5 }), /whole number/],
  ['limit', 'NaN', (_, s) => s.history('s', { limit: Number.NaN }), /whole number/],
  ['limit', 'in text', (_, s) => s.history('s', { limit: '10' }), /whole number/],
  ['limit', 'that is too large', (h) => h.runs.list({ schedule: 's', limit: 10_001 }), /whole number/],
  ['schedule', 'that is missing', (h) => h.runs.list({} as never), /is missing/],
  ['state', 'unknown', (_, s) => s.list({ state: 'pausd' }), /did you mean "paused"/],
  ['stat', 'unknown filter', (_, s) => s.list({ stat: 'paused' }), /unknown option \(did you mean "state"/],
  ['prefix', 'with U+0000', (_, s) => s.list({ prefix: 'a\0' }), /must be a text/],
  ['name', 'with U+0000', (_, s) => s.get('a\0'), /must be a text/],
  ['name', 'undefined', (_, s) => s.get(undefined), /must be a text/],
  ['name', 'undefined', (_, s) => s.changes(undefined), /must be a text/],
  ['reason', 'with U+0000', (_, s) => s.pause('s', { reason: 'a\0' }), /must be a text/],
  ['reason', 'number', (_, s) => s.pause('s', { reason: 5 }), /must be a text/],
  ['actor', 'with U+0000', (_, s) => s.resume('s', { actor: 'a\0' }), /must be a text/],
  ['until', 'null', (_, s) => s.pause('s', { until: null }), /null/],
  ['options', 'null', (_, s) => s.pause('s', null), /must be an object with actor/],
  ['expectedVersion', 'in text', (_, s) => s.pause('s', { expectedVersion: '1' }), /whole number/],
  ['group', 'undefined', (_, s) => s.pauseGroup(undefined), /must be a text/],
  ['group', 'with U+0000', (_, s) => s.resumeGroup('\0'), /must be a text/],
  ['scope', 'with U+0000', (_, s) => s.trigger('provided', { scope: 'a\0' }), /1 to 200 characters/],
  ['scope', 'empty', (_, s) => s.trigger('provided', { scope: '' }), /1 to 200 characters/],
  ['key', 'object', (_, s) => s.trigger('s', { key: {} }), /must be a text/],
  ['count', 'too large', (_, s) => s.preview('s', { count: 1_001 }), /whole number from 1 to 1000/],
  ['count', 'negative', (_, s) => s.diff('s', {}, { count: -1 }), /whole number/],
  ['fields', 'undefined', (_, s) => s.patch('s', undefined), /must be an object/],
  ['fields', 'null', (_, s) => s.diff('s', null), /must be an object/],
  ['runs', 'in other letters', (_, s) => s.delete('s', { runs: 'Delete' }), /did you mean "delete"/],
  ['runs', 'with a blank', (_, s) => s.delete('s', { runs: 'keep ' }), /must be one of "keep", "delete"/],
  ['source', 'with U+0000', (_, s) => s.sync({}, { source: 'a\0', prune: true }), /must be a text/],
  ['prune', 'in text', (_, s) => s.sync({}, { prune: 'no' }), /true or false/],
  ['definitions', 'null', (_, s) => s.sync(null), /must be an object/],
  ['options', 'missing', (_, s) => s.occurrences('s'), /must be an object with from, to/],
  ['to', 'missing', (_, s) => s.occurrences('s', { from: AT }), /is missing/],
  ['before', 'too large', (_, s) => s.timeline('s', { before: 501 }), /whole number from 0 to 500/],
  ['at', 'no time', (_, s) => s.timeline('s', { at: 'soon' }), /soon/],
  ['options', 'missing', (_, s) => s.backfill('s'), /must be an object/],
  ['jobs', 'unknown filter', (h) => h.runs.retryAll({ jobs: 'a' } as never), /did you mean "job"/],
  ['reason', 'with U+0000', (h) => h.runs.cancel(ID, { reason: 'a\0' }), /must be a text/],
  ['reason', 'with U+0000', (h) => h.escapement.claiming.pause({ reason: 'a\0' }), /must be a text/],
  ['options', 'null', (h) => h.runs.enqueue('noop', 1, null as never), /must be an object with at/],
  ['roles', 'unknown', (h) => h.escapement.start({ roles: ['wroker'] as never }), /did you mean "worker"/],
  [
    'options',
    'null',
    (h) => h.escapement.statsHistory(null as never),
    /must be an object with from, to, bucket/,
  ],
  [
    'buckt',
    'unknown',
    (h) => h.escapement.statsHistory({ buckt: '1 hour' } as never),
    /did you mean "bucket"/,
  ],
  ['options', 'missing', (h) => h.escapement.forecast(undefined as never), /must be an object with from/],
  ['grup', 'unknown', (h) => h.escapement.forecast({ ...HOUR, grup: 'g' } as never), /did you mean "group"/],
  ['dryRun', 'in text', (_, s) => s.backfill('s', { from: AT, to: AT, dryRun: 'no' }), /true or false/],
]

type Loose = Record<keyof Schedules, (...args: unknown[]) => Promise<unknown>>

describe('a call is refused, naming what is wrong, with', () => {
  it('every kind of nonsense', async () => {
    const h = await open()
    const before = await h.schedules.list()
    const told: string[] = []
    for (const [field, what, call, message] of CALLS) {
      const error = await Promise.resolve(call(h, h.schedules as unknown as Loose)).then(
        () => 'accepted',
        (reason) => reason,
      )
      const isNamed = message.test(error.message) && error.message.startsWith(`${field}: `)
      told.push(`${field} ${what}: ${error.code} ${isNamed}`)
    }
    expect(told).toEqual(CALLS.map(([field, what]) => `${field} ${what}: option_invalid true`))
    expect(await h.schedules.list()).toEqual(before)
  })

  it.each([
    ['definition', undefined],
    ['definition', null],
    ['metadata', { ...minutely, metadata: 'x' }],
    ['metadata', { ...minutely, metadata: ['x'] }],
    ['paused', { ...minutely, paused: 'no' }],
    ['group', { ...minutely, group: 'a\0' }],
  ])('a %s that is none: %j', async (field, definition) => {
    const h = await open()
    for (const refused of [
      h.schedules.put('n', definition as never),
      h.schedules.sync({ n: definition as never }),
    ]) {
      await expect(refused).rejects.toMatchObject({
        code: 'schedule_invalid',
        message: expect.stringMatching(`^${field}: `),
      })
    }
    expect((await h.schedules.list()).map(({ name }) => name)).toEqual(['provided', 's'])
  })
})
