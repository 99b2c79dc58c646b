import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { every, type ScheduleDefinition } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { claimRuns, releaseClaims } from '../../src/store/queries/claiming.js'
import {
  recordProgress,
  recoverExpiredLeases,
  releaseLeases,
  renewLeases,
} from '../../src/store/queries/leases.js'
import { type Outcome, recordOutcomes } from '../../src/store/queries/outcomes.js'
import { publishJobs } from '../../src/store/queries/workers.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { Interrupt } from '../../src/worker/interrupt.js'
import { createLeaseKeeper } from '../../src/worker/lease-keeper.js'
import { alteredDatabase, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const LEASE_MS = 6_000

/** One run that is claimed under a lease of 6 seconds. */
const RETRIED = { retry: { attempts: 3 }, onStale: 'retry' } as const
const AT_MOST_ONCE = { retry: { attempts: 1 }, onStale: 'fail' } as const

async function claimed(fields: Partial<ScheduleDefinition> = {}) {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', timing: every('1 day'), ...fields })
  const clock = createManualClock(AT)
  const store = createStore(await sharedDatabase(), h.schema, clock)
  const planner = await openHarness({ at: AT, schema: h.schema })
  await planner.advance('0s')
  const claim = async (policy: Partial<typeof RETRIED | typeof AT_MOST_ONCE> = RETRIED) => {
    const leaseToken = randomUUID()
    const jobs = [
      { name: 'noop', leaseMs: LEASE_MS, concurrency: null, concurrencyKey: null, ...RETRIED, ...policy },
    ]
    const rows = await claimRuns(store, {
      workerId: randomUUID(),
      leaseToken,
      queues: ['default'],
      jobs,
      limit: 5,
    })
    return rows.map(({ id, lot_id }) => ({ runId: id, lotId: lot_id, leaseToken, leaseMs: LEASE_MS }))
  }
  const recover = async (held: string[] = []) =>
    (await recoverExpiredLeases(store, { held, limit: 10, rules: [] })).recovered
  const [lease] = await claim()
  const run = async () => (await h.runs.list({ schedule: 's' }))[0]!
  const counted = async (...outcomes: Outcome[]) => (await recordOutcomes(store, outcomes, [])).counted
  return { h, store, clock, claim, recover, run, counted, lease: lease! }
}

const success = (lease: { runId: string; lotId: string | null; leaseToken: string }) =>
  ({ ...lease, of: null, totals: null, state: 'succeeded', result: '1' }) as const

describe('leases', () => {
  it('last as long as they are renewed', async () => {
    const { store, clock, recover, lease } = await claimed()
    const keeper = createLeaseKeeper(store, clock, silentLogger, () => {})
    keeper.hold(lease, new Interrupt())
    for (let second = 5; second <= 30; second += 5) {
      clock.set(AT + second * 1000)
      expect(await recover()).toEqual([])
      await keeper.renew()
    }
    keeper.stop()
    clock.set(AT + 36_000)
    expect(await recover()).toMatchObject([{ state: 'retrying', attempt: 1 }])
  })

  it('abort the handler when they are lost, and that of the lost one only', async () => {
    const { store, clock, recover, claim, lease } = await claimed()
    const keeper = createLeaseKeeper(store, clock, silentLogger, () => {})
    const first = new Interrupt()
    keeper.hold(lease, first)
    clock.set(AT + LEASE_MS)
    await recover()
    const [again] = await claim()
    const second = new Interrupt()
    // The same run, in the same process, under another token.
    keeper.hold(again!, second)
    await keeper.renew()
    keeper.stop()
    expect(first.reason).toMatchObject({ code: 'lease_lost' })
    expect(second.reason).toBeUndefined()
    keeper.letGo(lease)
    expect(keeper.held()).toEqual([again])
  })

  it('that are recovered keep their place in the queue the first time, and go behind the others after that', async () => {
    const { clock, recover, claim, run } = await claimed()
    const { eligibleAt } = await run()
    clock.set(AT + LEASE_MS)
    await recover()
    expect((await run()).eligibleAt).toEqual(eligibleAt)
    await claim()
    clock.set(AT + 2 * LEASE_MS)
    await recover()
    expect((await run()).eligibleAt).toEqual(new Date(AT + 2 * LEASE_MS))
  })

  it('are not recovered by the worker that holds them', async () => {
    const { clock, recover, lease } = await claimed()
    clock.set(AT + LEASE_MS)
    expect(await recover([lease.runId])).toEqual([])
    expect(await recover()).toHaveLength(1)
  })

  it('refuse an outcome under a token that is not the newest, in one batch with the newest too', async () => {
    const { clock, recover, claim, run, counted, lease } = await claimed()
    clock.set(AT + LEASE_MS)
    await recover()
    expect(await counted(success(lease))).toEqual([false])
    const [again] = await claim()
    expect(await counted(success(lease), success(again!))).toEqual([false, true])
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 2 })
  })

  it('that expired go to the next one with a new token and the next attempt; the old holder can do nothing any more', async () => {
    const { store, clock, recover, claim, run, counted, lease } = await claimed()
    clock.set(AT + LEASE_MS - 1)
    expect(await recover()).toEqual([])
    expect(await claim()).toEqual([])
    clock.set(AT + LEASE_MS)
    expect(await recover()).toMatchObject([{ state: 'retrying', attempt: 1 }])
    const [again] = await claim()
    expect(again!.leaseToken).not.toBe(lease.leaseToken)
    const before = await run()
    expect(before).toMatchObject({ state: 'running', attempt: 2 })
    const failure = { delayMs: 0, code: 'handler_error', message: 'late', stack: null }
    expect(await renewLeases(store, [lease])).toEqual(new Set())
    expect(await counted(success(lease))).toEqual([false])
    for (const state of ['retrying', 'failed'] as const) {
      expect(await counted({ ...success(lease), ...failure, state })).toEqual([false])
    }
    await releaseLeases(store, [lease])
    await recordProgress(store, [
      { ...lease, scheduleId: null, fraction: 0.5, note: 'late', totals: { rows: 1 } },
    ])
    expect(await run()).toEqual(before)
  })

  it('say what becomes of the run: the policies of the code that claimed it, whatever another version publishes', async () => {
    const { store, clock, claim, recover, run, lease } = await claimed()
    await releaseLeases(store, [lease])
    await claim(AT_MOST_ONCE)
    await publishJobs(store, [{ name: 'noop', policies: { ...RETRIED, retry: { attempts: 2 ** 53 } } }])
    clock.set(AT + LEASE_MS)
    expect(await recover()).toMatchObject([{ state: 'failed', error_code: 'stale_lease' }])
    expect(await run()).toMatchObject({ state: 'failed', attempt: 1 })
  })

  it('of a run that has ended are worth nothing: it is never resurrected', async () => {
    const { store, clock, recover, run, counted, lease } = await claimed()
    await counted(success(lease))
    const before = await run()
    clock.set(AT + LEASE_MS)
    expect(await recover()).toEqual([])
    expect(await renewLeases(store, [lease])).toEqual(new Set())
    await releaseLeases(store, [lease])
    await releaseClaims(store, [lease.leaseToken])
    await counted({
      ...lease,
      of: null,
      totals: null,
      state: 'retrying',
      delayMs: 0,
      code: 'x',
      message: '',
      stack: null,
    })
    expect(await run()).toEqual(before)
  })

  it('count an outcome as recorded that was, although its answer was lost', async () => {
    const { run, counted, lease } = await claimed()
    await counted(success(lease))
    expect(await counted(success(lease))).toEqual([true])
    const failure = { delayMs: 0, code: 'handler_error', message: 'no answer', stack: null }
    for (const state of ['retrying', 'failed'] as const) {
      expect(await counted({ ...success(lease), ...failure, state })).toEqual([false])
    }
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('end in one transaction with what follows: a breaker that cannot be written leaves nothing behind', async () => {
    const { h, store, run, counted, lease } = await claimed({ breaker: { failures: 1 } })
    const { scheduleId, trigger, planTime } = await run()
    const failure = {
      ...lease,
      of: { scheduleId: scheduleId!, trigger, planTime, isLaned: false, hasBreaker: true },
      totals: null,
      state: 'failed',
      delayMs: 0,
      code: 'handler_error',
      message: 'down',
      stack: null,
    } as const
    await store.query(`alter table {schema}.schedules add constraint unbreakable check (state <> 'broken')`)
    await expect(counted(failure)).rejects.toMatchObject({ code: '23514' })
    expect(await run()).toMatchObject({ state: 'running', attempt: 1 })
    expect(await h.runs.attempts(lease.runId)).toEqual([])
    await store.query('alter table {schema}.schedules drop constraint unbreakable')
    expect(await counted(failure)).toEqual([true])
    expect([(await run()).state, (await h.schedules.get('s')).state]).toEqual(['failed', 'broken'])
  })

  it('are given back without spending an attempt, and the token is worth nothing then', async () => {
    const { store, run, claim, counted, lease } = await claimed()
    await releaseLeases(store, [lease])
    expect(await run()).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await counted(success(lease))).toEqual([false])
    const [again] = await claim()
    await releaseClaims(store, [again!.leaseToken])
    expect(await run()).toMatchObject({ state: 'pending', attempt: 0 })
  })
})

describe('stopping', () => {
  it('gives back what does not finish in time, and tells its handler', async () => {
    const h = await openHarness({ at: AT })
    const { escapement } = h
    const started = new Promise<AbortSignal>((resolve) => {
      h.job('hangs', { handler: ({ signal }) => new Promise(() => resolve(signal)) })
    })
    await h.schedules.put('s', { job: 'hangs', timing: every('1 day') })
    await escapement.start()
    const signal = await started
    const stopped = escapement.stop()
    const moving = setInterval(() => h.jump('10 seconds'), 20)
    await stopped
    clearInterval(moving)
    expect(signal.reason).toMatchObject({ code: 'closed' })
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([{ state: 'pending', attempt: 0 }])
  })

  /** A worker at work on one run, on a database that a test can make fail. */
  async function working() {
    const faults = { query: (_text: string) => {}, begin: async () => {} }
    const database = await alteredDatabase((shared) => ({
      async query(text, params) {
        faults.query(text)
        return shared.query(text, params)
      },
      async transaction(work) {
        await faults.begin()
        return shared.transaction(work)
      },
    }))
    const h = await openHarness({ at: AT, database })
    let finish = () => {}
    const started = new Promise<AbortSignal>((resolve) => {
      h.job('work', {
        handler: ({ signal }) =>
          new Promise<void>((end) => {
            finish = end
            resolve(signal)
          }),
      })
    })
    const { id } = await h.runs.enqueue('work', null)
    await h.escapement.start({ roles: ['worker'] })
    return { h, faults, signal: await started, finish: () => finish(), run: () => h.runs.get(id) }
  }

  it('records what ends meanwhile, also when the database fails for a moment', async () => {
    const { h, faults, finish, run } = await working()
    let failed = 0
    faults.query = (text) => {
      if (text.includes("'succeeded'") && failed++ === 0)
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    }
    const stopped = h.escapement.stop()
    finish()
    await stopped
    expect(failed).toBe(2)
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('tells a handler that has not ended in time, also when its run cannot be given back; and its attempt is not spent', async () => {
    const { h, faults, signal, run } = await working()
    faults.query = (text) => {
      if (/^\s*update "\w+"\.runs_open/.test(text)) throw new Error('away')
    }
    const stopped = h.escapement.stop()
    const moving = setInterval(() => h.jump('10 seconds'), 20)
    await stopped
    clearInterval(moving)
    expect(signal.reason).toMatchObject({ code: 'closed' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await run()).toMatchObject({ state: 'running', attempt: 1, error: null })
  })

  it('claims nothing more at once, however long the scheduler takes', async () => {
    const { h, faults, finish } = await working()
    h.job('due', { handler: () => {} })
    await h.schedules.put('due', { job: 'due', timing: every('1 day') })
    const held: (() => void)[] = []
    const begun = new Promise<void>((resolve) => {
      faults.begin = () => {
        resolve()
        return new Promise((go) => {
          held.push(go)
        })
      }
    })
    await h.escapement.start()
    await begun
    faults.begin = async () => {}
    finish()
    const stopped = h.escapement.stop()
    const { id } = await h.runs.enqueue('work', null)
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (const letGo of held) letGo()
    await stopped
    expect(await h.runs.get(id)).toMatchObject({ state: 'pending', attempt: 0 })
  })
})
