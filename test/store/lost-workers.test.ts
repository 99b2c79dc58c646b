import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { claimRuns } from '../../src/store/queries/claiming.js'
import { lookAfterWorkers } from '../../src/store/queries/workers.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { registerIdleWorker } from '../support/workers.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const [UNSEEN_MS, GRACE_MS, LEASE_MS] = [2_000, 3_000, 60_000]
/** The advisory lock of a session that is gone. */
const FREE = '4242'

/** A worker with a run of each kind under a lease of a minute, and a second one that looks. */
async function opened({ sessionLock = FREE as string | null } = {}) {
  const h = await openHarness({ at: AT })
  const clock = createManualClock(AT)
  const store = createStore(await sharedDatabase(), h.schema, clock)
  const jobs = (['retry', 'fail'] as const).map((onStale) => ({
    name: onStale,
    leaseMs: LEASE_MS,
    concurrency: null,
    concurrencyKey: null,
    retry: { attempts: 3 },
    onStale,
  }))
  for (const { name } of jobs) {
    h.job(name, { handler: () => {} })
    await h.runs.enqueue(name, null)
  }
  const register = (id: string, lock: string | null) => registerIdleWorker(store, id, lock)
  const [first, second] = [randomUUID(), randomUUID()]
  await register(first, sessionLock)
  await register(second, null)
  await claimRuns(store, {
    workerId: first,
    leaseToken: randomUUID(),
    queues: ['default'],
    jobs,
    limit: 2,
  })
  const look = (id: string, lock: string | null = null) =>
    lookAfterWorkers(store, { id, running: 0, sessionLock: lock, unseenMs: UNSEEN_MS, graceMs: GRACE_MS })
  const leases = async () => {
    const rows = await store.query<{ job: string; lease_expires_at: Date }>(
      'select job, lease_expires_at from {schema}.runs_open order by job',
    )
    return Object.fromEntries(rows.map((row) => [row.job, row.lease_expires_at.getTime() - clock.now()]))
  }
  return { store, clock, first, second, look, leases, register }
}

describe('a worker whose lock is free', () => {
  it('and which was not seen is lost: its leases end soon, but for runs that must not be tried again', async () => {
    const { clock, first, second, look, leases } = await opened()
    clock.set(AT + UNSEEN_MS)
    expect(await look(second)).toMatchObject({ lost: [{ id: first, host: 'h', pid: 1 }] })
    expect(await leases()).toEqual({ retry: GRACE_MS, fail: LEASE_MS - UNSEEN_MS })
  })

  it('is told as lost once, whoever looks then', async () => {
    const { clock, second, look, register } = await opened()
    clock.set(AT + UNSEEN_MS)
    expect((await look(second)).lost).toHaveLength(1)
    expect((await look(second)).lost).toEqual([])
    const third = randomUUID()
    await register(third, null)
    expect((await look(third)).lost).toEqual([])
  })

  it('lives as long as it is seen, and it is said when it may count as lost', async () => {
    const { clock, first, second, look, leases } = await opened()
    for (let step = 1; step <= 5; step++) {
      clock.set(AT + step * 1_500)
      expect(await look(second)).toMatchObject({ lost: [], msUntilLost: UNSEEN_MS - 1_500 })
      expect(await look(first, FREE)).toMatchObject({ lost: [], isAsTold: true })
    }
    expect(await leases()).toEqual({ retry: LEASE_MS - 7_500, fail: LEASE_MS - 7_500 })
  })

  it('and which was taken for lost, or forgotten, learns it when it looks itself', async () => {
    const { store, clock, first, second, look, register } = await opened()
    clock.set(AT + UNSEEN_MS)
    await look(second)
    expect(await look(first, FREE)).toMatchObject({ isAsTold: false })
    await register(first, FREE)
    expect(await look(first, FREE)).toMatchObject({ isAsTold: true })
    await store.query('delete from {schema}.workers where id = $1', [first])
    expect(await look(first, FREE)).toMatchObject({ isAsTold: false })
  })
})

it('a worker without such a lock is never lost: its leases end when they end', async () => {
  const { clock, second, look, leases } = await opened({ sessionLock: null })
  clock.set(AT + LEASE_MS - 1)
  expect(await look(second)).toMatchObject({ lost: [], msUntilLost: null })
  expect(await leases()).toEqual({ retry: 1, fail: 1 })
})

it('a worker whose lock is held is not lost, however long it was not seen', async () => {
  const database = await sharedDatabase()
  const letGo = await database.holdLock('4243', () => {})
  const { clock, second, look } = await opened({ sessionLock: '4243' })
  clock.set(AT + LEASE_MS)
  expect(await look(second)).toMatchObject({ lost: [], msUntilLost: null })
  await letGo!()
  expect((await look(second)).lost).toHaveLength(1)
})
