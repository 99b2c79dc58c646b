import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { cron, every, once, rrule } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { alteredDatabase, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { useSchema } from '../support/schema.js'

const AT = '2026-03-01T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute') }

async function open(options = {}) {
  const h = await openHarness({ at: AT, ...options })
  h.job('noop', { handler: () => {} })
  const ledger = async (name = 's') =>
    (await h.schedules.occurrences(name, { from: AT, to: new Date(h.now().getTime() + 1) })).map(
      ({ planTime, runState, reason, disposition }) =>
        `${planTime.toISOString().slice(11, 16)} ${runState ?? reason ?? disposition}`,
    )
  const clean = async () =>
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  return { h, ledger, clean }
}

it.each([
  [3, { description: 'as it was asked', version: 2 }],
  [4, { description: null, version: 1 }],
])('a verb that waited in a circle %i times begins anew, up to a point', async (circles, expected) => {
  const schema = await useSchema()
  let left = 0
  const database = await alteredDatabase((shared) => ({
    transaction: (work) =>
      shared.transaction(async (tx) => {
        const result = await work(tx)
        if (left-- > 0) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
        return result
      }),
  }))
  const h = await openHarness({ at: AT, database, schema })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', minutely)
  left = circles
  const patched = h.schedules.patch('s', { description: 'as it was asked' })
  await (circles > 3 ? expect(patched).rejects.toThrow('deadlock') : patched)
  expect(await h.schedules.get('s')).toMatchObject(expected)
})

describe('pause and resume', () => {
  it('plans nothing while paused, records it as paused, and resumes with the next plan time to come', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', minutely)
    await h.advance('1 minute')
    const paused = await h.schedules.pause('s', { reason: 'maintenance', actor: 'ada' })
    expect(paused).toMatchObject({
      state: 'paused',
      nextAt: null,
      stateNote: { reason: 'maintenance', by: 'ada' },
    })
    await h.advance('3 minutes')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 paused', '12:03 paused', '12:04 paused'])
    expect(await h.schedules.resume('s')).toMatchObject({
      state: 'active',
      stateNote: null,
      nextAt: new Date('2026-03-01T12:05:00Z'),
    })
    await h.advance('1 minute')
    expect((await ledger()).slice(-2)).toEqual(['12:04 paused', '12:05 succeeded'])
    await clean()
  })

  it('decides what was due before the pause by the state before', async () => {
    const { h, ledger } = await open()
    await h.schedules.put('s', minutely)
    h.jump('1 minute')
    await h.schedules.pause('s')
    await h.advance('0s')
    expect(await ledger()).toEqual(['12:01 succeeded'])
  })

  it('ends a pause by itself, and runs what came after its end', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.pause('s', { until: '2026-03-01T12:03:30Z' })
    h.jump('4 minutes')
    await h.advance('0s')
    expect(await ledger()).toEqual(['12:01 paused', '12:02 paused', '12:03 paused', '12:04 succeeded'])
    expect((await h.schedules.get('s')).state).toBe('active')
    await clean()
  })

  it('is not undone by put, and an edit while paused keeps the ledger whole', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.pause('s')
    await h.advance('2 minutes')
    expect(await h.schedules.put('s', { ...minutely, priority: 5 })).toMatchObject({
      state: 'paused',
      nextAt: null,
    })
    await h.advance('1 minute')
    await h.schedules.resume('s')
    await h.advance('1 minute')
    expect(await ledger()).toEqual(['12:01 paused', '12:02 paused', '12:03 paused', '12:04 succeeded'])
    await clean()
  })

  it('works on groups', async () => {
    const { h, clean } = await open()
    for (const name of ['a', 'b']) await h.schedules.put(name, { ...minutely, group: 'nightly' })
    await h.schedules.put('c', minutely)
    expect(await h.schedules.pauseGroup('nightly', { reason: 'quiet' })).toBe(2)
    expect(await h.schedules.pauseGroup('nightly')).toBe(0)
    expect((await h.schedules.list({ state: 'paused' })).map(({ name }) => name)).toEqual(['a', 'b'])
    await h.advance('2 minutes')
    expect(await h.schedules.resumeGroup('nightly')).toBe(2)
    expect(await h.planTimes('c')).toHaveLength(2)
    expect(await h.planTimes('a')).toEqual([])
    await clean()
  })

  it('creates a schedule paused when asked', async () => {
    const { h, ledger } = await open()
    await h.schedules.put('s', { ...minutely, paused: true })
    await h.advance('1 minute')
    expect(await ledger()).toEqual(['12:01 paused'])
  })
})

describe('skip', () => {
  it('records the plan time as skipped by the operator, through edits elsewhere, and shows in the preview', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.skip('s', '2026-03-01T12:02:00Z', { actor: 'ada' })
    const { occurrences } = await h.schedules.preview('s', { count: 3 })
    expect(occurrences.map(({ skipped }) => skipped)).toEqual([false, true, false])
    await h.schedules.put('s', { ...minutely, priority: 3 })
    await h.advance('3 minutes')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 operator', '12:03 succeeded'])
    await clean()
  })

  it('is taken back by unskip', async () => {
    const { h, ledger } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.skip('s', '2026-03-01T12:02:00Z')
    await h.schedules.unskip('s', '2026-03-01T12:02:00Z')
    await h.advance('2 minutes')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 succeeded'])
  })

  it('is taken back also when an edit has made it no plan time', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.skip('s', '2026-03-01T12:03:00Z')
    await h.schedules.patch('s', { timing: every('2 minutes') })
    const unskip = () => h.schedules.unskip('s', '2026-03-01T12:03:00Z', { actor: 'ada' })
    await unskip()
    expect((await h.schedules.changes('s'))[0]).toMatchObject({
      action: 'unskip 2026-03-01T12:03:00.000Z',
      actor: 'ada',
    })
    await expect(unskip()).rejects.toMatchObject({ code: 'not_a_plan_time' })
    await h.schedules.patch('s', { timing: every('1 minute') })
    await h.advance('3 minutes')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 succeeded', '12:03 succeeded'])
    await clean()
  })

  it('names plan times as the nearest that the schedule has, also to an instant before its start', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    await expect(h.schedules.skip('s', '2026-02-01T00:00:00Z')).rejects.toThrowError(
      /2026-02-01T00:00:00.000Z is no plan time of "s". The nearest: 2026-03-01T12:01:00.000Z\.$/,
    )
  })

  it('refuses a plan time that is decided, naming its run, and an instant that is none', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    await h.advance('1 minute')
    const [run] = await h.runs.list({ schedule: 's' })
    await expect(h.schedules.skip('s', '2026-03-01T12:01:00Z')).rejects.toMatchObject({
      code: 'already_decided',
      message: expect.stringContaining(run!.id),
    })
    await expect(h.schedules.skip('s', '2026-03-01T12:05:01Z')).rejects.toMatchObject({
      code: 'not_a_plan_time',
      details: { nearest: ['2026-03-01T12:05:00.000Z', '2026-03-01T12:06:00.000Z'] },
    })
  })
})

describe('what is due and not decided yet', () => {
  it('is decided before a skip, which is refused with the run that it became', async () => {
    const { h, clean } = await open()
    await h.schedules.put('s', minutely)
    h.jump('40 seconds')
    const error = await h.schedules.skip('s', '2026-03-01T12:01:00Z').then(
      () => expect.fail('expected a refusal'),
      (reason) => reason,
    )
    expect(error).toMatchObject({ code: 'already_decided', details: { runId: expect.any(String) } })
    expect(await h.runs.get(error.details.runId)).toMatchObject({
      planTime: new Date('2026-03-01T12:01:00Z'),
    })
    await clean()
  })

  it('is decided before a skip also while paused, and the pause still ends by itself', async () => {
    const { h, ledger } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.pause('s', { until: '2026-03-01T12:02:30Z' })
    h.jump('40 seconds')
    await expect(h.schedules.skip('s', '2026-03-01T12:01:00Z')).rejects.toMatchObject({
      code: 'already_decided',
      details: { reason: 'paused' },
    })
    await h.advance('2 minutes')
    expect(await ledger()).toEqual(['12:01 paused', '12:02 paused', '12:03 succeeded'])
  })

  it.each(['skip', 'queue'] as const)('goes before a trigger where overlap is %s', async (overlap) => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', { ...minutely, overlap })
    h.jump('40 seconds')
    await expect(h.schedules.trigger('s')).rejects.toMatchObject({ code: 'run_open' })
    await h.advance('0s')
    expect(await ledger()).toEqual(['12:01 succeeded'])
    await h.schedules.trigger('s')
    await clean()
  })

  it('is not lost by a trigger of one whose timing is of a newer program', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    h.jump('40 seconds')
    await h.escapement.database.query(`update "${h.schema}".schedules set timing = '{"kind": "lunar"}'`)
    await h.schedules.trigger('s')
    const [cursor] = await h.escapement.database.query(`select next_at from "${h.schema}".cursors`)
    expect(cursor).toEqual({ next_at: new Date('2026-03-01T12:01:00Z') })
  })
})

describe('once', () => {
  const past = { job: 'noop', timing: once('2026-02-20T00:00:00Z') }
  const ledgerSince = async ({ h }: Awaited<ReturnType<typeof open>>) =>
    (await h.schedules.occurrences('s', { from: '2026-02-01T00:00Z', to: h.now() })).map(
      ({ runState, reason }) => runState ?? reason,
    )

  it('of the past runs under every catch-up that runs late ones, however late, unless a window is set', async () => {
    const opened = await open()
    const { h, clean } = opened
    await h.schedules.put('s', { ...past, catchUp: 'all' })
    expect((await h.schedules.get('s')).catchUpWindow).toBeNull()
    await h.advance('1 minute')
    expect(await ledgerSince(opened)).toEqual(['succeeded'])
    await h.schedules.delete('s')
    await h.schedules.put('s', { ...past, catchUp: 'all', catchUpWindow: '1 day' })
    await h.advance('1 minute')
    expect(await ledgerSince(opened)).toEqual(['expired'])
    await clean()
  })

  it('has no window from a timing before it, and leaves none to one after it', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, catchUp: 'all' })
    const timing = once('2026-04-01T00:00:00Z')
    expect((await h.schedules.patch('s', { timing })).catchUpWindow).toBeNull()
    expect((await h.schedules.patch('s', minutely)).catchUpWindow).toBe('1 day')
  })

  it.each([
    ['when it was put', past],
    ['while it was paused', { job: 'noop', timing: once('2026-03-01T12:01:00Z') }],
  ])('that was past %s is recorded as paused', async (_, definition) => {
    const opened = await open()
    const { h, clean } = opened
    await h.schedules.put('s', { ...definition, paused: true })
    await h.advance('2 minutes')
    expect(await ledgerSince(opened)).toEqual(['paused'])
    expect((await h.schedules.resume('s')).state).toBe('finished')
    expect(await ledgerSince(opened)).toEqual(['paused'])
    expect(await h.schedules.history('s')).toMatchObject([{ reason: 'paused' }])
    await clean()
  })
})

describe('trigger and backfill', () => {
  it('runs at once, whatever the state, and once per key', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, paused: true })
    const first = await h.schedules.trigger('s', { key: 'deploy-7' })
    expect(await h.schedules.trigger('s', { key: 'deploy-7' })).toBe(first)
    expect(await h.schedules.triggerRun('s', { key: 'deploy-7' })).toEqual({ id: first, created: false })
    const other = await h.schedules.triggerRun('s', { key: 'deploy-8' })
    expect(other).toEqual({ id: expect.not.stringContaining(first), created: true })
    await h.advance('0s')
    expect(await h.runs.get(first)).toMatchObject({ state: 'succeeded', trigger: 'manual', planTime: null })
  })

  it('fills skipped plan times of the past, once, and the run outranks the skip', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', { ...minutely, catchUp: 'none', grace: '1 second' })
    h.jump('5 minutes')
    await h.advance('0s')
    const range = { from: '2026-03-01T12:02:00Z', to: '2026-03-01T12:04:00Z' }
    const dry = await h.schedules.backfill('s', { ...range, dryRun: true })
    expect(dry.planTimes).toEqual([new Date('2026-03-01T12:02:00Z'), new Date('2026-03-01T12:03:00Z')])
    expect(await h.planTimes('s')).toEqual([])
    expect((await h.schedules.backfill('s', range)).runIds).toEqual(dry.runIds)
    expect((await h.schedules.backfill('s', range)).runIds).toEqual([])
    await h.advance('0s')
    expect(await ledger()).toEqual([
      '12:01 missed',
      '12:02 succeeded',
      '12:03 succeeded',
      '12:04 missed',
      '12:05 missed',
    ])
    await clean()
  })
})

describe('names', () => {
  it('rename keeps id, history and cursor', async () => {
    const { h, clean } = await open()
    const { id } = await h.schedules.put('old', minutely)
    await h.advance('1 minute')
    expect(await h.schedules.rename('old', 'new')).toMatchObject({ id, name: 'new', version: 2 })
    await h.advance('1 minute')
    expect(await h.planTimes('new')).toHaveLength(2)
    await expect(h.schedules.get('old')).rejects.toMatchObject({ code: 'schedule_not_found' })
    await h.schedules.put('other', minutely)
    await expect(h.schedules.rename('new', 'other')).rejects.toMatchObject({ code: 'schedule_exists' })
    await clean()
  })

  it('delete, then create under the same name, fires again with new identities', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    await h.advance('1 minute')
    const [before] = await h.runs.list({ schedule: 's' })
    await h.schedules.delete('s')
    expect(await h.runs.get(before!.id)).toMatchObject({ state: 'succeeded' })
    await h.schedules.put('s', { ...minutely, timing: every('1 minute') })
    await h.advance('1 minute')
    const [after] = await h.runs.list({ schedule: 's' })
    expect(after!.id).not.toBe(before!.id)
  })

  it('delete with its runs leaves no row of either', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, catchUp: 'none', grace: '1 second' })
    h.jump('5 minutes')
    await h.advance('1 minute')
    await h.schedules.delete('s', { runs: 'delete' })
    const runs = ['runs', 'runs_asked', 'runs_open', 'runs_ended', 'attempts']
    for (const table of ['schedules', 'cursors', ...runs, 'skips', 'changes']) {
      expect(await h.escapement.database.query(`select from "${h.schema}".${table}`), table).toEqual([])
    }
  })

  it('are errors when unknown, for every verb, with the one that was meant', async () => {
    const { h } = await open()
    await h.schedules.put('report', minutely)
    const { schedules } = h
    const verbs = [
      () => schedules.get('reprot'),
      () => schedules.patch('reprot', {}),
      () => schedules.pause('reprot'),
      () => schedules.resume('reprot'),
      () => schedules.skip('reprot', AT),
      () => schedules.unskip('reprot', AT),
      () => schedules.trigger('reprot'),
      () => schedules.backfill('reprot', { from: 0, to: 1 }),
      () => schedules.rename('reprot', 'x'),
      () => schedules.delete('reprot'),
      () => schedules.preview('reprot'),
      () => schedules.diff('reprot', {}),
      () => schedules.occurrences('reprot', { from: 0, to: 1 }),
      () => schedules.changes('reprot'),
    ]
    for (const verb of verbs) {
      await expect(verb()).rejects.toMatchObject({
        code: 'schedule_not_found',
        message: expect.stringContaining('did you mean "report"?'),
      })
    }
  })
})

describe('edits', () => {
  it('patch changes single fields, and null takes one away', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, group: 'g', description: 'd', catchUp: 'all' })
    expect(await h.schedules.patch('s', { priority: 2, group: null })).toMatchObject({
      priority: 2,
      group: null,
      description: 'd',
      catchUp: 'all',
      version: 2,
    })
  })

  it('patch from all to latest does not keep the window that all has by default', async () => {
    const { h } = await open()
    expect(await h.schedules.put('s', { ...minutely, catchUp: 'all' })).toMatchObject({
      catchUpWindow: '1 day',
    })
    expect(await h.schedules.patch('s', { catchUp: 'latest' })).toMatchObject({ catchUpWindow: null })
  })

  it('are refused when the version is not the one expected', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.put('s', { ...minutely, priority: 1 }, { expectedVersion: 1 })
    const stale = { expectedVersion: 1 }
    const conflict = { code: 'version_conflict' }
    await expect(h.schedules.put('s', minutely, stale)).rejects.toMatchObject(conflict)
    await expect(h.schedules.patch('s', { priority: 9 }, stale)).rejects.toMatchObject(conflict)
    await expect(h.schedules.pause('s', stale)).rejects.toMatchObject(conflict)
    await expect(h.schedules.delete('s', stale)).rejects.toMatchObject(conflict)
    expect((await h.schedules.get('s')).priority).toBe(1)
  })

  it('create where there must be none yet, once however many ask for it', async () => {
    const { h } = await open()
    const asked = Array.from({ length: 5 }, (_, priority) =>
      h.schedules.put('s', { ...minutely, priority }, { expectedVersion: 0 }),
    )
    const answers = await Promise.allSettled(asked)
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))
    expect(refused).toEqual(Array(4).fill('schedule_exists'))
    const { priority, version } = await h.schedules.get('s')
    expect(version).toBe(1)
    const same = h.schedules.put('s', { ...minutely, priority }, { expectedVersion: 0 })
    await expect(same).rejects.toMatchObject({ code: 'schedule_exists' })
    await h.schedules.delete('s')
    expect(await h.schedules.put('s', minutely, { expectedVersion: 0 })).toMatchObject({ version: 1 })
    for (const verb of ['pause', 'resume', 'delete'] as const) {
      await expect(h.schedules[verb]('s', { expectedVersion: 0 })).rejects.toThrow(/whole number from 1/)
    }
  })

  it('are in the change log with actor, before and after', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely, { actor: 'ada' })
    await h.schedules.patch('s', { priority: 4 }, { actor: 'bob' })
    await h.schedules.pause('s', { actor: 'cyn' })
    expect(await h.schedules.changes('s')).toMatchObject([
      { action: 'pause', actor: 'cyn', version: 3 },
      { action: 'patch', actor: 'bob', version: 2, before: { priority: 0 }, after: { priority: 4 } },
      { action: 'put', actor: 'ada', version: 1, before: null, after: { job: 'noop' } },
    ])
  })

  it('are read from the change log in pages that leave nothing out', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    for (let priority = 1; priority <= 6; priority++) await h.schedules.patch('s', { priority })
    const all = await h.schedules.changes('s')
    expect(all.map(({ version }) => version)).toEqual([7, 6, 5, 4, 3, 2, 1])
    const first = await h.schedules.changes('s', { limit: 3 })
    const { pageToken } = first.at(-1)!
    expect([...first, ...(await h.schedules.changes('s', { pageToken }))]).toEqual(all)
    expect(await h.schedules.changes('s', { pageToken, limit: 2 })).toEqual(all.slice(3, 5))
    await expect(h.schedules.changes('s', { pageToken: 'x' })).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('pageToken: '),
    })
  })

  it('diff says which of the next plan times an edit removes, moves and adds, without making it', async () => {
    const { h } = await open()
    await h.schedules.put('s', { job: 'noop', timing: cron('0 9 * * *') })
    const diff = await h.schedules.diff('s', { timing: cron('0 9,18 * * MON-FRI') }, { count: 3 })
    expect(diff).toEqual({
      removed: [],
      moved: [],
      added: ['2026-03-02T18:00:00.000Z'],
      kept: ['2026-03-02T09:00:00.000Z', '2026-03-03T09:00:00.000Z'],
      fields: ['timing'],
    })
    expect(await h.schedules.diff('s', { timing: cron('0 10 * * *') }, { count: 1 })).toMatchObject({
      removed: [],
      moved: [{ from: '2026-03-02T09:00:00.000Z', to: '2026-03-02T10:00:00.000Z' }],
      added: [],
    })
    expect((await h.schedules.get('s')).version).toBe(1)
    await expect(h.schedules.diff('s', {}, { count: 0 })).rejects.toMatchObject({ code: 'option_invalid' })
  })

  it('wake a finished schedule when its plan times are others', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, limit: 1 })
    await h.advance('3 minutes')
    expect(await h.schedules.get('s')).toMatchObject({ state: 'finished', nextAt: null })
    expect(await h.schedules.patch('s', { priority: 1 })).toMatchObject({ state: 'finished' })
    expect(await h.schedules.patch('s', { limit: null })).toMatchObject({ state: 'active' })
  })
})

describe('edits that meet a deletion', () => {
  it('never create: neither a put that expects a version, nor a patch', async () => {
    const { h } = await open()
    await expect(h.schedules.put('s', minutely, { expectedVersion: 7 })).rejects.toMatchObject({
      code: 'version_conflict',
    })
    await expect(h.schedules.get('s')).rejects.toMatchObject({ code: 'schedule_not_found' })
  })
})

describe('bounds', () => {
  it('a timing that has no plan time from now on is refused', async () => {
    const { h } = await open()
    const timing = rrule('DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=3')
    await expect(h.schedules.put('s', { job: 'noop', timing })).rejects.toMatchObject({
      code: 'schedule_invalid',
      message: expect.stringContaining('would never run'),
    })
  })

  it('limit counts the plan times that a rule without DTSTART really has', async () => {
    const { h } = await open()
    await h.schedules.put('s', { job: 'noop', timing: rrule('FREQ=HOURLY;INTERVAL=6'), limit: 2 })
    await h.advance('1 day')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T18:00:00.000Z', '2026-03-02T00:00:00.000Z'])
  })

  it('a rule without DTSTART begins at startAt, and at another one after a patch, as if it had been put so', async () => {
    const { h } = await open()
    const daily = { job: 'noop', timing: rrule('FREQ=DAILY;INTERVAL=2') }
    await h.schedules.put('s', { ...daily, startAt: '2026-03-05T10:00:00Z' })
    const other = { ...daily, startAt: '2026-03-06T15:00:00.500Z' }
    const { removed, added } = await h.schedules.diff('s', { startAt: other.startAt }, { count: 1 })
    expect([...removed, ...added]).toEqual([])
    const patched = await h.schedules.patch('s', { startAt: other.startAt })
    expect(patched.nextAt).toEqual(new Date('2026-03-06T15:00:01Z'))
    expect((await h.schedules.put('t', other)).timing).toEqual(patched.timing)
    expect((await h.schedules.put('s', other)).version).toBe(2)
    const bare = await h.schedules.patch('s', { startAt: null })
    expect(bare.timing).toEqual(daily.timing)
    expect(bare.nextAt).toEqual((await h.schedules.put('u', daily)).nextAt)
  })

  it.each([
    ['rrule', rrule('FREQ=DAILY')],
    ['rrule with DTSTART', rrule('DTSTART:20260305T100000Z\nRRULE:FREQ=DAILY')],
    ['every', every('1 day')],
  ])(
    'what get shows of %s can be put again and is no change, with and without startAt',
    async (_, timing) => {
      const { h } = await open()
      for (const startAt of [undefined, '2026-03-06T15:00:00Z']) {
        const name = startAt ? 'with' : 'without'
        await h.schedules.put(name, { job: 'noop', timing, ...(startAt && { startAt }) })
        const shown = await h.schedules.get(name)
        const again = { job: shown.job, timing: shown.timing, startAt: shown.startAt }
        expect((await h.schedules.diff(name, again)).fields).toEqual([])
        expect(await h.schedules.put(name, again)).toEqual(shown)
      }
    },
  )

  it('once keeps its occurrence through an edit, whatever startAt says', async () => {
    const { h } = await open()
    const timing = once('2026-03-01T13:00Z')
    await h.schedules.put('s', { job: 'noop', timing, startAt: '2026-03-02T00:00Z' })
    await h.schedules.patch('s', { description: 'edited' })
    await h.advance('2 hours')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T13:00:00.000Z'])
  })

  it('deleteWhenDone holds when a verb settles the last plan time', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, limit: 1, deleteWhenDone: true })
    h.jump('1 minute')
    await h.schedules.pauseGroup('none')
    await h.schedules.resume('s').catch(() => {})
    await h.advance('0s')
    await expect(h.schedules.get('s')).rejects.toMatchObject({ code: 'schedule_not_found' })
  })

  it('limit counts plan times from startAt, whatever became of them', async () => {
    const { h, ledger, clean } = await open()
    await h.schedules.put('s', { ...minutely, limit: 3 })
    await h.schedules.skip('s', '2026-03-01T12:02:00Z')
    await h.advance('10 minutes')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 operator', '12:03 succeeded'])
    await clean()
  })

  it('deleteWhenDone deletes the schedule and keeps its runs', async () => {
    const { h } = await open()
    const { id } = await h.schedules.put('s', { ...minutely, limit: 2, deleteWhenDone: true })
    await h.advance('5 minutes')
    await expect(h.schedules.get('s')).rejects.toMatchObject({ code: 'schedule_not_found' })
    const runs = await h.escapement.database.query(
      `select state from "${h.schema}".runs where schedule_id = $1`,
      [id],
    )
    expect(runs).toEqual([{ state: 'succeeded' }, { state: 'succeeded' }])
  })
})

describe('scopes of a provider', () => {
  it('give one run each at every plan time, and an empty list is recorded as no_scope', async () => {
    const h = await openHarness({ at: AT })
    let tenants = ['acme', 'zeta']
    h.job('tenants', { scopes: () => tenants, handler: () => {} })
    await h.schedules.put('s', { job: 'tenants', timing: every('1 minute') })
    await h.advance('1 minute')
    tenants = []
    await h.advance('1 minute')
    const ledger = await h.schedules.occurrences('s', { from: AT, to: h.now() })
    expect(ledger.map(({ scope, runState, reason }) => [scope, runState ?? reason])).toEqual([
      ['acme', 'succeeded'],
      ['zeta', 'succeeded'],
      ['', 'no_scope'],
    ])
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('leave the cursor where it was when the provider throws, and are asked again', async () => {
    const h = await openHarness({ at: AT })
    let fails = true
    h.job('tenants', {
      scopes: () => {
        if (fails) throw new Error('no directory')
        return ['acme']
      },
      handler: () => {},
    })
    await h.schedules.put('s', { job: 'tenants', timing: every('1 minute') })
    h.jump('40 seconds')
    await h.advance('0s')
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T12:01:00Z'))
    expect(await h.escapement.doctor()).toMatchObject([{ subject: 's', detail: 'its scopes: no directory' }])
    // A scheduler may have more luck in a moment.
    await expect(h.schedules.patch('s', { priority: 1 })).rejects.toMatchObject({ code: 'provider_failed' })
    fails = false
    await h.advance('10 seconds')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T12:01:00.000Z'])
  })
})

describe('a scope provider that takes its time', () => {
  it('delays no other schedule, and is heard when it answers', async () => {
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: (facts: object) => void errors.push(facts) }
    const { escapement } = await openHarness({ at: AT, logger })
    onTestFinished(() => escapement.stop())
    const ran: string[] = []
    let answer = () => {}
    const asked = new Promise<string[]>((resolve) => {
      answer = () => resolve(['acme'])
    })
    escapement.job('slow', { scopes: () => asked, handler: ({ scope }) => void ran.push(scope!) })
    // The provider answers only after the other schedule has run.
    escapement.job('quick', {
      handler: () => {
        ran.push('quick')
        answer()
      },
    })
    for (const job of ['slow', 'quick']) await escapement.schedules.put(job, { job, timing: once(AT) })
    await escapement.start()
    await expect.poll(() => ran, { timeout: 10_000 }).toEqual(['quick', 'acme'])
    expect(errors).toEqual([])
  })
})

describe('one schedule that cannot be carried out', () => {
  it.each([
    ['whose provider gives what cannot be stored', () => ['a\0b']],
    ['whose provider throws', () => Promise.reject(new Error('down'))],
  ])('%s holds up no other, also when its pause ends', async (_, scopes) => {
    const { h } = await open()
    h.job('odd', { scopes, handler: () => {} })
    await h.schedules.put('odd', { job: 'odd', timing: every('1 minute') })
    await h.schedules.put('paused', { job: 'odd', timing: every('1 minute') })
    await h.schedules.pause('paused', { until: { in: '90 seconds' } })
    await h.schedules.put('fine', minutely)
    await h.advance('3 minutes')
    expect(await h.planTimes('fine')).toHaveLength(3)
    expect((await h.schedules.get('paused')).state).toBe('active')
  })

  it('because it is too large for an index is set aside with the reason, and holds up no other', async () => {
    const { h } = await open()
    await h.schedules.put('large', minutely)
    await h.schedules.put('fine', minutely)
    const sql = (text: string, params: string[]) =>
      h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`), params)
    await sql(`update {schema}.schedules set queue = $1 where name = 'large'`, [incompressible(20_000)])
    await h.advance('2 minutes')
    expect(await h.planTimes('fine')).toHaveLength(2)
    expect(await h.escapement.doctor()).toMatchObject([{ kind: 'unplannable', subject: 'large' }])
  })

  it('because its timing is of a newer program does not keep others from being reconciled', async () => {
    const { h } = await open()
    for (const name of ['newer', 'damaged']) await h.schedules.put(name, minutely)
    const sql = (text: string) => h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`))
    await sql(`update {schema}.cursors set next_at = null, wake_at = null`)
    await sql(`update {schema}.schedules set timing = '{"kind": "lunar"}' where name = 'newer'`)
    expect(await h.escapement.reconcile()).toEqual(['damaged'])
  })
})

/** Text that no compression makes fit into an index. */
function incompressible(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length)
}

describe('a long backlog', () => {
  it('is settled part by part before an edit, and all of it', async () => {
    const { h, clean } = await open()
    const { id } = await h.schedules.put('s', {
      job: 'noop',
      timing: every('1 second'),
      catchUp: 'all',
      catchUpWindow: '3 hours',
    })
    h.jump('3 hours')
    await h.schedules.pause('s')
    const [count] = await h.escapement.database.query(
      `select count(*) as runs from "${h.schema}".runs where schedule_id = $1`,
      [id],
    )
    expect(count).toEqual({ runs: 3 * 3600 + 1 })
    await clean()
  })
})

describe('a large limit', () => {
  const limited = { job: 'noop', timing: cron('* * * * *', { zone: 'Europe/Paris' }), limit: 75_000 }

  it('is counted out in few schedules at a time, so that no transaction waits for the count of a whole set', async () => {
    const { h } = await open()
    const names = ['a', 'b', 'c']
    await h.schedules.sync(Object.fromEntries(names.map((name) => [name, limited])))
    const [found] = await h.escapement.database.query(
      `select count(distinct xmin::text) as transactions from "${h.schema}".schedules`,
    )
    expect(found).toEqual({ transactions: 2 })
  })

  it('is counted out once: a verb that leaves the plan times as they are leaves their end', async () => {
    const { h } = await open()
    await h.schedules.put('s', limited)
    const sql = (text: string) => h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`))
    await sql(`update {schema}.schedules set until_at = '2027-01-01T00:00:00Z'`)
    await h.schedules.pause('s')
    await h.schedules.patch('s', { priority: 1 })
    const end = async () => (await sql('select until_at from {schema}.schedules'))[0]!.until_at
    expect(await end()).toEqual(new Date('2027-01-01T00:00:00Z'))
    await h.schedules.patch('s', { limit: 2 })
    expect(await end()).toEqual(new Date('2026-03-01T12:02:00.001Z'))
  })
})

describe('sync', () => {
  it('puts the declared set and prunes only what a sync of the same source created', async () => {
    const { h } = await open()
    await h.schedules.put('by-hand', minutely)
    await h.schedules.sync({ x: minutely }, { source: 'other' })
    expect(await h.schedules.sync({ a: minutely, b: minutely })).toEqual({ changed: ['a', 'b'], deleted: [] })
    expect(await h.schedules.sync({ a: minutely, b: minutely })).toEqual({ changed: [], deleted: [] })
    expect(await h.schedules.sync({ b: minutely }, { prune: true })).toEqual({ changed: [], deleted: ['a'] })
    expect((await h.schedules.list()).map(({ name }) => name)).toEqual(['b', 'by-hand', 'x'])
  })

  it('says with `dryRun` what it would change, refuses what it would refuse, and changes nothing', async () => {
    const { h } = await open()
    await h.schedules.sync({ a: minutely, b: minutely })
    const heard: string[] = []
    h.escapement.on('schedule.changed', ({ schedule }) => heard.push(schedule))
    h.escapement.on('schedule.deleted', ({ schedule }) => heard.push(schedule))
    const wanted = { b: { ...minutely, priority: 1 }, c: minutely }
    const asked = { prune: true, dryRun: true }
    expect(await h.schedules.sync(wanted, asked)).toEqual({ changed: ['c', 'b'], deleted: ['a'] })
    const never = { job: 'noop', timing: rrule('DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=3') }
    await expect(h.schedules.sync({ never }, asked)).rejects.toMatchObject({ details: { name: 'never' } })
    const names = (await h.schedules.list()).map(({ name, version }) => [name, version])
    expect(names).toEqual([
      ['a', 1],
      ['b', 1],
    ])
    expect(heard).toEqual([])
  })

  it('never prunes what it did not create, though it declared it in the meantime', async () => {
    const { h } = await open()
    await h.schedules.put('by-hand', minutely, { actor: 'ada' })
    expect(await h.schedules.sync({ 'by-hand': minutely })).toEqual({ changed: [], deleted: [] })
    await h.schedules.sync({ 'by-hand': { ...minutely, priority: 1 } })
    expect(await h.schedules.sync({}, { prune: true })).toEqual({ changed: [], deleted: [] })
    expect((await h.schedules.get('by-hand')).priority).toBe(1)
  })
})

describe('sync over a schedule that exists', () => {
  it('changes what it holds and not whose it is: a prune leaves what was put by hand or came from another source', async () => {
    const { h } = await open()
    await h.schedules.put('by-hand', minutely)
    await h.schedules.sync({ theirs: minutely }, { source: 'other' })
    const edited = { ...minutely, priority: 1 }
    expect(await h.schedules.sync({ 'by-hand': minutely, theirs: edited })).toEqual({
      changed: ['theirs'],
      deleted: [],
    })
    expect(await h.schedules.sync({}, { prune: true })).toEqual({ changed: [], deleted: [] })
    expect((await h.schedules.list()).map(({ name, priority }) => [name, priority])).toEqual([
      ['by-hand', 0],
      ['theirs', 1],
    ])
    expect((await h.schedules.sync({}, { source: 'other', prune: true })).deleted).toEqual(['theirs'])
  })
})

describe('reconcile', () => {
  it('gives a damaged cursor back, and changes nothing the second time', async () => {
    const { h, clean } = await open()
    for (const name of ['a', 'b', 'c', 'd']) await h.schedules.put(name, minutely)
    await h.advance('1 minute')
    const damage = async (name: string, set: string) =>
      h.escapement.database.query(
        `update "${h.schema}".cursors set ${set} where schedule_id = (select id from "${h.schema}".schedules where name = $1)`,
        [name],
      )
    await damage('a', 'next_at = null, wake_at = null')
    await damage('b', `next_at = '2030-01-01', wake_at = '2030-01-01'`)
    await damage('c', 'version = 77')
    await h.escapement.database.query(
      `delete from "${h.schema}".cursors where schedule_id = (select id from "${h.schema}".schedules where name = 'd')`,
    )
    expect((await h.escapement.reconcile()).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(await h.escapement.reconcile()).toEqual([])
    await h.advance('2 minutes')
    for (const name of ['a', 'b', 'c', 'd']) expect(await h.planTimes(name), name).toHaveLength(3)
    await clean()
  })
})

describe('audit', () => {
  it('finds plan times that are due and that nobody decided, also without a cursor', async () => {
    const { h } = await open()
    for (const name of ['a', 'b']) await h.schedules.put(name, minutely)
    const sql = (text: string) => h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`))
    await sql(`update {schema}.cursors set next_at = '2030-01-01', wake_at = '2030-01-01'`)
    await sql(
      `delete from {schema}.cursors where schedule_id = (select id from {schema}.schedules where name = 'b')`,
    )
    h.jump('1 hour')
    await h.advance('0s')
    const { missing } = await h.escapement.audit()
    expect(missing.map(({ schedule, detail }) => [schedule, detail]).sort()).toEqual([
      ['a', 'due and not decided yet'],
      ['b', 'due and not decided yet'],
    ])
  })

  it('takes as long as there is to read: 20,000 skips of one schedule are no more than that', async () => {
    const { h, clean } = await open()
    const { id } = await h.schedules.put('s', { ...minutely, catchUp: 'none', grace: '1 second' })
    h.jump('14 days')
    await h.advance('0s')
    await h.escapement.database.query(`delete from "${h.schema}".skips`)
    await h.escapement.database.query(
      `insert into "${h.schema}".skips
       select $1, 'global', 1, at, at, 'overlap', at
       from generate_series('2026-03-01T12:01Z'::timestamptz, '2026-03-15T12:00Z', interval '1 minute') as at`,
      [id],
    )
    await clean()
  })

  it('goes through a long ledger in parts, and tells of each mistake once', async () => {
    const { h } = await open()
    for (const name of ['long', 'short']) await h.schedules.put(name, minutely)
    const sql = (text: string) => h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`))
    const end = '2026-03-31T12:01:00Z'
    h.jump('30 days')
    await sql(`insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input,
        queue, priority, created_at)
      select gen_random_uuid(), s.id, 'global', at, 1, 'scheduled', 'noop', 'null', 'default', 0, at
      from {schema}.schedules as s, generate_series('2026-03-01T12:01:00Z'::timestamptz, '${end}', '1 minute') as at
      where s.name = 'long'`)
    await sql(`insert into {schema}.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason,
        decided_at)
      select s.id, 'global', 1, '2026-03-01T12:01:00Z', '${end}', 'missed', '${end}' from {schema}.schedules as s
      where s.name = 'short'`)
    await sql(`update {schema}.cursors set decided_through = '${end}', next_at = '2026-03-31T12:02:00Z'`)
    // The 20,000th is where a part ends; and one minute is moved to where no plan time is.
    for (const number of [1, 20_000, 20_001]) {
      const at = new Date(Date.parse('2026-03-01T12:00:00Z') + number * 60_000).toISOString()
      await sql(`delete from {schema}.runs_asked where plan_time = '${at}'`)
    }
    await sql(
      `update {schema}.runs_asked set plan_time = plan_time + interval '7 seconds' where plan_time = '2026-03-30T00:00:00Z'`,
    )
    const { schedules, occurrences, missing, double, unexpected } = await h.escapement.audit()
    expect([schedules, occurrences, double]).toEqual([2, 2 * (30 * 1440 + 1), []])
    expect(missing.map(({ schedule, planTime }) => [schedule, planTime])).toEqual([
      ['long', '2026-03-01T12:01:00.000Z'],
      ['long', '2026-03-15T09:20:00.000Z'],
      ['long', '2026-03-15T09:21:00.000Z'],
      ['long', '2026-03-30T00:00:00.000Z'],
    ])
    expect(unexpected.map(({ planTime }) => planTime)).toEqual(['2026-03-30T00:00:07.000Z'])
  })

  it('covers deleted schedules whose history was kept, by name', async () => {
    const { h, clean } = await open()
    const { id } = await h.schedules.put('s', minutely)
    await h.schedules.put('unseen', minutely)
    await h.advance('3 minutes')
    await h.schedules.rename('s', 'renamed')
    await h.schedules.delete('renamed')
    await h.schedules.delete('unseen', { runs: 'delete' })
    await h.advance('1 hour')
    await clean()
    expect(await h.escapement.audit()).toMatchObject({ schedules: 1, occurrences: 3 })
    await h.escapement.database.query(
      `delete from "${h.schema}".runs_asked where schedule_id = $1 and plan_time = '2026-03-01T12:02Z'`,
      [id],
    )
    expect(await h.escapement.audit()).toMatchObject({
      missing: [{ schedule: 'renamed (deleted)', planTime: '2026-03-01T12:02:00.000Z' }],
    })
  })

  it('finds nothing in a schedule that was deleted after the clock went back', async () => {
    const clock = createManualClock(Date.parse(AT))
    const assembly = { database: await sharedDatabase(), schema: await useSchema(), clock }
    const { escapement, scheduler } = await assemble(assembly)
    onTestFinished(() => escapement.close())
    escapement.job('noop', { handler: () => {} })
    for (const name of ['deleted', 'stays']) await escapement.schedules.put(name, minutely)
    clock.set(clock.now() + 600_000)
    while ((await scheduler.tick()).due > 0);
    clock.set(clock.now() - 300_000)
    await escapement.schedules.delete('deleted')
    expect(await escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('finds what is missing, double and unexpected', async () => {
    const { h } = await open()
    const { id } = await h.schedules.put('s', minutely)
    await h.advance('4 minutes')
    const sql = (text: string) => h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`))
    await sql(`delete from {schema}.runs_asked where plan_time = '2026-03-01T12:02Z'`)
    await sql(
      `insert into {schema}.skips values ('${id}', 'global', 1, '2026-03-01T12:03Z', '2026-03-01T12:03Z', 'missed', now())`,
    )
    await sql(
      `insert into {schema}.skips values ('${id}', 'global', 1, '2026-03-01T12:03:30Z', '2026-03-01T12:03:30Z', 'missed', now())`,
    )
    expect(await h.escapement.audit()).toMatchObject({
      schedules: 1,
      occurrences: 4,
      missing: [{ planTime: '2026-03-01T12:02:00.000Z' }],
      double: [{ planTime: '2026-03-01T12:03:00.000Z', detail: 'a scheduled run and a skip' }],
      unexpected: [{ planTime: '2026-03-01T12:03:30.000Z' }],
    })
  })
})
