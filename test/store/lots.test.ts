import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  type ClaimedRow,
  claimRuns,
  msUntilEligible,
  releaseClaims,
} from '../../src/store/queries/claiming.js'
import { listOldestReady, readDepths } from '../../src/store/queries/depths.js'
import {
  msUntilLeaseExpires,
  recordProgress,
  recoverExpiredLeases,
  releaseLeases,
  renewLeases,
} from '../../src/store/queries/leases.js'
import { listAtWork } from '../../src/store/queries/moving.js'
import { type Outcome, recordOutcomes } from '../../src/store/queries/outcomes.js'
import { lookAfterWorkers } from '../../src/store/queries/workers.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { registerIdleWorker } from '../support/workers.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const LEASE_MS = 30_000

const LIMITED = {
  name: 'limited',
  leaseMs: LEASE_MS,
  concurrency: 5,
  concurrencyKey: null,
  retry: { attempts: 3 },
  onStale: 'retry',
} as const

/** A harness whose runs nobody claims but the test, under a clock of its own. */
async function open({ onStale = 'retry' as 'retry' | 'fail' } = {}) {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const clock = createManualClock(AT)
  const store = createStore(await sharedDatabase(), h.schema, clock)
  const job = { name: 'noop', leaseMs: LEASE_MS, concurrency: null, concurrencyKey: null }
  const workerId = randomUUID()
  const claim = async (limit: number, queues = ['default'], others: readonly (typeof LIMITED)[] = []) => {
    const leaseToken = randomUUID()
    const jobs = [{ ...job, retry: { attempts: 3 }, onStale }, ...others]
    const rows = await claimRuns(store, { workerId, leaseToken, queues, jobs, limit })
    return rows.map((row) => ({ ...row, leaseToken }))
  }
  const ask = async (inputs: readonly unknown[], terms = {}) =>
    (
      await h.runs.enqueueMany(
        'noop',
        inputs.map((input) => ({ input, ...terms })),
      )
    ).map(({ id }) => id)
  const record = async (...outcomes: Outcome[]) => (await recordOutcomes(store, outcomes, [])).counted
  const lots = async () =>
    (
      await store.query<{ size: number; is_leased: boolean }>(
        'select cardinality(runs) as size, lease_token is not null as is_leased from {schema}.lots order by id',
      )
    ).map(({ size, is_leased }) => (is_leased ? `${size} at work` : size))
  const rows = async () => (await store.query('select id from {schema}.runs_open')).length
  const states = async () => {
    const { runs } = await h.runs.search({ limit: 500 })
    return Object.fromEntries(runs.map(({ input, state }) => [String(input), state]))
  }
  const recover = async () =>
    (await recoverExpiredLeases(store, { held: [], limit: 500, rules: [] })).recovered
  return { h, clock, store, workerId, claim, ask, record, lots, rows, states, recover }
}

type Claimed = ClaimedRow & { leaseToken: string }

const leaseOf = ({ id, lot_id, leaseToken }: Claimed) => ({
  runId: id,
  lotId: lot_id,
  leaseToken,
  leaseMs: LEASE_MS,
})

const success = (claimed: Claimed, result: unknown = null): Outcome => ({
  ...leaseOf(claimed),
  of: null,
  totals: null,
  state: 'succeeded',
  result: JSON.stringify(result),
})

const failure = (claimed: Claimed, state: 'retrying' | 'failed'): Outcome => ({
  ...leaseOf(claimed),
  of: null,
  totals: null,
  state,
  delayMs: 1_000,
  code: 'handler_error',
  message: 'on purpose',
  stack: null,
})

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const inputsOf = (rows: readonly ClaimedRow[]) => rows.map(({ input }) => input)

describe('runs that are asked for together', () => {
  it('wait in lots of a hundred, and a claim takes them in their order, cutting the last', async () => {
    const { h, claim, ask, lots, rows } = await open()
    const ids = await ask(upTo(230))
    expect([await lots(), await rows()]).toEqual([[100, 100, 30], 0])
    const first = await claim(130)
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 130))
    expect(inputsOf(first)).toEqual(upTo(130))
    expect(first[0]).toMatchObject({ attempt: 1, trigger: 'direct', queue: 'default', schedule_id: null })
    expect(await lots()).toEqual(['100 at work', '30 at work', 70, 30])
    expect(inputsOf(await claim(500))).toEqual(upTo(230).slice(130))
    expect(await claim(500)).toEqual([])
    expect(await h.runs.get(ids[229]!)).toMatchObject({ state: 'running', attempt: 1, input: 229 })
  })

  it('have rows of their own where they differ, wait for a time, or have keys; one alone has one too', async () => {
    const { h, claim, ask, lots, rows } = await open()
    await ask([0, 1], { at: { in: '1 minute' } })
    await h.runs.enqueueMany('noop', [{ input: 2 }, { input: 3, priority: 1 }])
    await h.runs.enqueueMany('noop', [{ input: 4, key: 'a' }, { input: 5 }])
    await h.runs.enqueueMany('noop', [{ input: 6 }])
    expect([await lots(), await rows()]).toEqual([[], 7])
    expect(inputsOf(await claim(10)).sort()).toEqual([2, 3, 4, 5, 6])
  })

  it('stand in one line with the others: priority first, then age; queues share a claim', async () => {
    const { h, clock, claim, ask } = await open()
    await ask([1, 2])
    h.jump('1 second')
    await h.runs.enqueue('noop', 3)
    await ask([10, 11], { priority: 1 })
    h.jump('1 second')
    await h.runs.enqueue('noop', 12, { priority: 1 })
    await ask([20, 21, 22], { queue: 'other' })
    clock.set(AT + 2_000)
    const [one, two] = [await claim(4, ['default', 'other']), await claim(10, ['default', 'other'])]
    expect(inputsOf(one.filter(({ queue }) => queue === 'other'))).toEqual([20, 21])
    expect(inputsOf(one.filter(({ queue }) => queue === 'default'))).toHaveLength(2)
    const inLine = [...one, ...two].filter(({ queue }) => queue === 'default')
    expect(inputsOf(inLine)).toEqual([10, 11, 12, 1, 2, 3])
    expect(inputsOf(two.filter(({ queue }) => queue === 'other'))).toEqual([22])
  })

  it('stand before whoever comes after them, also where they are more lots than one claim looks at', async () => {
    const { h, claim, ask } = await open()
    for (const _ of upTo(40)) await ask([5, 5], { priority: 5 })
    for (const _ of upTo(10)) await h.runs.enqueue('noop', 0)
    expect(inputsOf(await claim(70))).toEqual(upTo(64).map(() => 5))
    expect(inputsOf(await claim(70))).toEqual([...upTo(16).map(() => 5), ...upTo(10).map(() => 0)])
  })

  it('leave those alone who stand behind as many of them as are taken', async () => {
    for (const others of [[], [LIMITED]]) {
      const { h, clock, store, claim, ask } = await open()
      await ask(upTo(100))
      h.jump('1 second')
      for (const key of ['a', 'b', 'c']) await h.runs.enqueue('noop', key, { key })
      clock.set(AT + 2_000)
      expect(await claim(10, ['default'], others)).toHaveLength(10)
      // Whoever is locked, and then not taken, has been written to all the same.
      expect(await store.query('select id from {schema}.runs_open where xmax <> 0')).toEqual([])
      const [left, behind] = [await claim(90), await claim(10)]
      expect([inputsOf(left), inputsOf(behind).sort()]).toEqual([upTo(100).slice(10), ['a', 'b', 'c']])
    }
  })

  it('end each for itself, with the last of which the lot goes; an outcome counts under its own token only', async () => {
    const { h, claim, ask, record, lots, states } = await open()
    await ask(upTo(4))
    const [a, b, c, d] = await claim(4)
    expect(await record(success(a!, { rows: 7 }), success(b!))).toEqual([true, true])
    expect(await lots()).toEqual(['2 at work'])
    // Whose answer was lost: said again it counts, and is not done twice.
    expect(await record(success(b!), success(c!))).toEqual([true, true])
    expect(await record({ ...success(d!), leaseToken: randomUUID() })).toEqual([false])
    expect(await lots()).toEqual(['1 at work'])
    expect(await record(success(d!))).toEqual([true])
    expect(await lots()).toEqual([])
    expect(await states()).toEqual({ 0: 'succeeded', 1: 'succeeded', 2: 'succeeded', 3: 'succeeded' })
    expect(await h.runs.get(a!.id)).toMatchObject({ result: { rows: 7 }, attempt: 1 })
  })

  it('have a row of their own once something is said of one alone: it fails, or says how far it is', async () => {
    const { h, clock, store, claim, ask, record, lots, rows, states } = await open()
    await ask(upTo(4))
    const [a, b, c, d] = await claim(4)
    expect(await record(failure(a!, 'retrying'), failure(b!, 'failed'), success(c!))).toEqual([
      true,
      true,
      true,
    ])
    expect([await lots(), await rows()]).toEqual([['1 at work'], 1])
    expect(await states()).toEqual({ 0: 'retrying', 1: 'failed', 2: 'succeeded', 3: 'running' })
    expect(
      await store.query('select number, code from {schema}.attempts where run_id = $1', [b!.id]),
    ).toEqual([{ number: 1, code: 'handler_error' }])
    const told = { ...leaseOf(d!), scheduleId: null, fraction: 0.5, note: 'half', totals: { rows: 1 } }
    await recordProgress(store, [told])
    expect(await h.runs.get(d!.id)).toMatchObject({ state: 'running', progress: { fraction: 0.5 } })
    expect([await lots(), await rows()]).toEqual([[], 2])
    expect(await record({ ...success(d!), totals: { rows: 2 } })).toEqual([true])
    clock.set(AT + 1_000)
    expect(inputsOf(await claim(5))).toEqual([0])
  })

  it('can be cancelled one by one, waiting and at work', async () => {
    const { h, claim, ask, record, lots, states } = await open()
    const ids = await ask(upTo(4))
    await h.runs.cancel(ids[1]!)
    const [a, c, d] = await claim(4)
    expect(inputsOf([a!, c!, d!])).toEqual([0, 2, 3])
    await h.runs.cancel(ids[2]!)
    expect(await record(success(a!), success(c!), success(d!))).toEqual([true, false, true])
    expect(await states()).toEqual({ 0: 'succeeded', 1: 'cancelled', 2: 'cancelled', 3: 'succeeded' })
    expect(await lots()).toEqual([])
    await expect(h.runs.cancel(ids[0]!)).rejects.toMatchObject({ code: 'run_not_open' })
  })

  it('are renewed together, and taken from a worker that does not: each is tried again with its next attempt', async () => {
    const { clock, store, claim, ask, record, lots, recover } = await open()
    await ask(upTo(3))
    const claimed = await claim(3)
    clock.set(AT + 20_000)
    expect((await renewLeases(store, claimed.map(leaseOf))).size).toBe(3)
    expect(await msUntilLeaseExpires(store)).toBe(LEASE_MS)
    clock.set(AT + 49_999)
    expect(await recover()).toEqual([])
    clock.set(AT + 50_000)
    const held = claimed.map(({ id }) => id)
    expect((await recoverExpiredLeases(store, { held, limit: 9, rules: [] })).recovered).toEqual([])
    expect(await recover()).toMatchObject(
      upTo(3).map(() => ({ state: 'retrying', attempt: 1, error_code: 'lease_lost' })),
    )
    expect(await lots()).toEqual([])
    expect(await renewLeases(store, claimed.map(leaseOf))).toEqual(new Set())
    expect(await record(...claimed.map((one) => success(one)))).toEqual([false, false, false])
    expect((await claim(3)).map(({ attempt, lot_id }) => [attempt, lot_id])).toEqual(
      upTo(3).map(() => [2, null]),
    )
  })

  it('have failed where they must not be tried twice', async () => {
    const { clock, claim, ask, recover, states } = await open({ onStale: 'fail' })
    await ask(upTo(2))
    await claim(2)
    clock.set(AT + LEASE_MS)
    expect(await recover()).toMatchObject([{ error_code: 'stale_lease' }, { error_code: 'stale_lease' }])
    expect(await states()).toEqual({ 0: 'failed', 1: 'failed' })
  })

  it('of a worker that is gone are free soon', async () => {
    const { clock, store, workerId, claim, ask, recover } = await open()
    const other = randomUUID()
    await registerIdleWorker(store, workerId, '4242')
    await registerIdleWorker(store, other, null)
    await ask(upTo(2))
    await claim(2)
    const look = () =>
      lookAfterWorkers(store, { id: other, running: 0, sessionLock: null, unseenMs: 2_000, graceMs: 3_000 })
    clock.set(AT + 2_000)
    expect(await look()).toMatchObject({ lost: [{ id: workerId }], hasExpired: false })
    expect(await msUntilLeaseExpires(store)).toBe(3_000)
    clock.set(AT + 5_000)
    expect(await look()).toMatchObject({ hasExpired: true })
    expect(await recover()).toHaveLength(2)
  })

  it('are taken from it however small their lots are', async () => {
    const { clock, store, claim, ask, lots, rows } = await open()
    await ask(upTo(60))
    for (const _ of upTo(30)) await claim(2)
    expect(await lots()).toHaveLength(30)
    clock.set(AT + LEASE_MS)
    let hasMore = true
    while (hasMore) hasMore = (await recoverExpiredLeases(store, { held: [], limit: 500, rules: [] })).hasMore
    expect([await lots(), await rows()]).toEqual([[], 60])
    expect(await claim(100)).toHaveLength(60)
  })

  it('are given back with no attempt spent, all of a claim or one by one', async () => {
    const { store, claim, ask, lots } = await open()
    await ask(upTo(3))
    const [first] = await claim(2)
    await releaseClaims(store, [first!.leaseToken])
    expect(await lots()).toEqual([2, 1])
    const claimed = await claim(3)
    expect(claimed.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    await releaseLeases(store, claimed.slice(1).map(leaseOf))
    expect(await lots()).toEqual(['1 at work'])
    expect((await claim(3)).map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  it('are seen wherever open runs are: by state, by queue, by age, and who is at work', async () => {
    const { h, clock, store, claim, ask } = await open()
    await ask(upTo(5))
    await claim(2)
    const found = async (state: 'pending' | 'running') =>
      inputsOf((await h.runs.search({ state })).runs as never).sort()
    expect([await found('pending'), await found('running')]).toEqual([
      [2, 3, 4],
      [0, 1],
    ])
    clock.set(AT + 60_000)
    expect(await readDepths(store, 10)).toEqual(
      expect.arrayContaining([
        { queue: 'default', standing: 'ready', runs: 3 },
        { queue: 'default', standing: 'running', runs: 2 },
      ]),
    )
    expect(await listOldestReady(store)).toEqual([{ queue: 'default', seconds: 60 }])
    expect(await msUntilEligible(store, { queues: ['default'], jobs: ['noop'] })).toBe(0)
    expect(await msUntilEligible(store, { queues: ['default'], jobs: ['other'] })).toBeNull()
    expect(await h.escapement.queues()).toMatchObject([{ name: 'default', ready: 3, running: 2 }])
    clock.set(AT + 10_000)
    expect(await listAtWork(store, 5)).toMatchObject([{ job: 'noop', total: 2 }, { total: 2 }])
  })
})

describe('jobs with limits', () => {
  it('count what a worker without them has in hand', async () => {
    const { store, workerId, claim, ask } = await open()
    await ask(upTo(3))
    await claim(2)
    const jobs = [
      {
        name: 'noop',
        leaseMs: LEASE_MS,
        concurrency: 2,
        concurrencyKey: null,
        retry: { attempts: 3 },
        onStale: 'retry' as const,
      },
    ]
    const limited = { workerId, leaseToken: randomUUID(), queues: ['default'], jobs, limit: 5 }
    expect(await claimRuns(store, limited)).toEqual([])
    const [more] = jobs.map((job) => ({ ...job, concurrency: 3 }))
    expect(inputsOf(await claimRuns(store, { ...limited, jobs: [more!] }))).toEqual([2])
  })

  it('hold them against each run of a lot', async () => {
    const h = await openHarness({ at: AT })
    let [atOnce, most] = [0, 0]
    const handler = async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
    }
    h.job('few', { concurrency: 2, handler })
    await h.runs.enqueueMany(
      'few',
      upTo(25).map((input) => ({ input })),
    )
    await h.advance('1 second')
    expect(most).toBe(2)
    const { runs } = await h.runs.search({ state: 'succeeded', limit: 500 })
    expect(runs).toHaveLength(25)
  })

  /** A worker of `noop`, which is free, and of `few`, of which one is at work at a time, or one for each key: it claims five. */
  async function openWithFew(limits: { concurrency?: number; concurrencyKey?: string[] }) {
    const opened = await open()
    const { h, store, workerId } = opened
    h.job('few', { handler: () => {} })
    const common = { leaseMs: LEASE_MS, retry: { attempts: 3 }, onStale: 'retry' as const }
    const jobs = [
      { name: 'noop', ...common, concurrency: null, concurrencyKey: null },
      { name: 'few', ...common, concurrency: null, concurrencyKey: null, ...limits },
    ]
    const claimFive = async () =>
      (
        await claimRuns(store, { workerId, leaseToken: randomUUID(), queues: ['default'], jobs, limit: 5 })
      ).map(({ job, input }) => `${job} ${JSON.stringify(input)}`)
    /** With rows of their own: each is asked for alone. */
    const askFew = async (count: number, input: unknown) => {
      for (let i = 0; i < count; i++) await h.runs.enqueue('few', input)
    }
    return { ...opened, claimFive, askFew }
  }

  it('leave lots of other jobs whole, and all stand in one line', async () => {
    const { h, ask, askFew, claimFive, lots, rows } = await openWithFew({ concurrency: 2 })
    const few = upTo(3).map((n) => ({ input: `few ${n}`, priority: 2 }))
    await askFew(1, 'last')
    await ask(['third', 'fourth', 'fifth'], { priority: 1 })
    await h.runs.enqueueMany('few', few)
    await ask(['first', 'second'], { priority: 3 })
    expect(await claimFive()).toEqual([
      'noop "first"',
      'noop "second"',
      'few "few 0"',
      'few "few 1"',
      'noop "third"',
    ])
    // Of the free ones no run has a row of its own, and the rest of the lot that was cut waits as a lot.
    expect(await lots()).toEqual(expect.arrayContaining(['2 at work', '1 at work', 2]))
    expect(await rows()).toBe(4)
    expect(await claimFive()).toEqual(['noop "fourth"', 'noop "fifth"'])
  })

  it('let nobody wait behind runs of another one of them for which there is no place', async () => {
    const { h, store, workerId } = await open()
    h.job('few', { handler: () => {} })
    const common = { leaseMs: LEASE_MS, retry: { attempts: 3 }, onStale: 'retry' as const }
    const jobs = ['noop', 'few'].map((name) => ({ name, ...common, concurrency: 1, concurrencyKey: null }))
    for (const n of upTo(3)) await h.runs.enqueue('noop', n, { priority: 1 })
    await h.runs.enqueue('few', 0)
    const rows = await claimRuns(store, {
      workerId,
      leaseToken: randomUUID(),
      queues: ['default'],
      jobs,
      limit: 5,
    })
    expect(rows.map(({ job }) => job)).toEqual(['noop', 'few'])
  })

  it('let no lot wait behind runs of theirs for which there is no place', async () => {
    const { ask, askFew, claimFive } = await openWithFew({ concurrency: 1 })
    await askFew(10, 0)
    expect(await claimFive()).toEqual(['few 0'])
    await ask(upTo(2))
    expect(await claimFive()).toEqual(['noop 0', 'noop 1'])
  })

  it('nor behind those of a key that is busy, not even of the same job', async () => {
    const { h, ask, askFew, claimFive } = await openWithFew({ concurrencyKey: ['of'] })
    await askFew(10, { of: 'a' })
    expect(await claimFive()).toEqual(['few {"of":"a"}'])
    await h.runs.enqueueMany('few', [{ input: { of: 'b' } }, { input: { of: 'c' } }])
    await ask(upTo(1))
    expect((await claimFive()).sort()).toEqual(['few {"of":"b"}', 'few {"of":"c"}', 'noop 0'])
  })

  it('nor behind runs that wait for a later time, however high they stand', async () => {
    const { h, ask, claimFive } = await openWithFew({ concurrency: 1 })
    for (let i = 0; i < 10; i++) await h.runs.enqueue('noop', 'later', { priority: 9, at: { in: '1 hour' } })
    await ask(upTo(2))
    expect(await claimFive()).toEqual(['noop 0', 'noop 1'])
  })

  it('leave the lots of a job without a place as they are', async () => {
    const { h, lots, claimFive } = await openWithFew({ concurrency: 1 })
    await h.runs.enqueueMany('few', [{ input: 1 }, { input: 2 }])
    expect(await claimFive()).toEqual(['few 1'])
    await h.runs.enqueueMany('few', [{ input: 5 }, { input: 6 }])
    expect(await claimFive()).toEqual([])
    expect(await lots()).toEqual([2])
  })
})
