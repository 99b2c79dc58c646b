import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { recoverExpiredLeases, releaseLeases } from '../../src/store/queries/leases.js'
import { claimRuns, leaseKey, recordOutcomes, releaseClaims } from '../../src/store/queries/runs.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { createLeaseKeeper } from '../../src/worker/lease-keeper.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const LEASE_MS = 6_000

/** One run that is claimed under a lease of 6 seconds. */
async function claimed() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', timing: every('1 day') })
  const clock = createManualClock(AT)
  const store = createStore(await sharedDatabase(), h.schema, clock)
  const planner = await openHarness({ at: AT, schema: h.schema })
  await planner.advance('0s')
  const claim = async () => {
    const leaseToken = randomUUID()
    const jobs = [{ name: 'noop', leaseMs: LEASE_MS }]
    const rows = await claimRuns(store, {
      workerId: randomUUID(),
      leaseToken,
      queues: ['default'],
      jobs,
      limit: 5,
    })
    return rows.map(({ id }) => ({ runId: id, leaseToken, leaseMs: LEASE_MS }))
  }
  const recover = (held: string[] = []) =>
    recoverExpiredLeases(store, [{ name: 'noop', attempts: 3 }], { held, limit: 10 })
  const [lease] = await claim()
  const run = async () => (await h.runs.list({ schedule: 's' }))[0]!
  return { h, store, clock, claim, recover, run, lease: lease! }
}

const success = (lease: { runId: string; leaseToken: string }) =>
  ({ ...lease, lanesOf: null, state: 'succeeded', result: '1' }) as const

describe('leases', () => {
  it('last as long as they are renewed', async () => {
    const { store, clock, recover, lease } = await claimed()
    const keeper = createLeaseKeeper(store, silentLogger)
    keeper.hold(lease, new AbortController())
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
    const keeper = createLeaseKeeper(store, silentLogger)
    const first = new AbortController()
    keeper.hold(lease, first)
    clock.set(AT + LEASE_MS)
    await recover()
    const [again] = await claim()
    const second = new AbortController()
    // The same run, in the same process, under another token.
    keeper.hold(again!, second)
    await keeper.renew()
    keeper.stop()
    expect(first.signal.reason).toMatchObject({ code: 'lease_lost' })
    expect(second.signal.aborted).toBe(false)
    keeper.letGo(lease)
    expect(keeper.held()).toEqual([again])
  })

  it('are not recovered by the worker that holds them', async () => {
    const { clock, recover, lease } = await claimed()
    clock.set(AT + LEASE_MS)
    expect(await recover([lease.runId])).toEqual([])
    expect(await recover()).toHaveLength(1)
  })

  it('refuse an outcome under a token that is not the newest, in one batch with the newest too', async () => {
    const { store, clock, recover, claim, run, lease } = await claimed()
    clock.set(AT + LEASE_MS)
    await recover()
    expect(await recordOutcomes(store, [success(lease)])).toEqual(new Set())
    const [again] = await claim()
    expect(await recordOutcomes(store, [success(lease), success(again!)])).toEqual(
      new Set([leaseKey(again!)]),
    )
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 2 })
  })

  it('count an outcome as recorded that was, although its answer was lost', async () => {
    const { store, run, lease } = await claimed()
    await recordOutcomes(store, [success(lease)])
    expect(await recordOutcomes(store, [success(lease)])).toEqual(new Set([leaseKey(lease)]))
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('are given back without spending an attempt, and the token is worth nothing then', async () => {
    const { store, run, claim, lease } = await claimed()
    await releaseLeases(store, [lease])
    expect(await run()).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await recordOutcomes(store, [success(lease)])).toEqual(new Set())
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
})
