import { describe, expect, it } from 'vitest'
import { hostChance } from '../../src/chance.js'
import { databaseClock } from '../../src/clock.js'
import { createEventBus } from '../../src/events/bus.js'
import { createWorkerCalls } from '../../src/events/worker-calls.js'
import { every } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { defineJob } from '../../src/runs/job.js'
import { createJobRegistry } from '../../src/runs/job-registry.js'
import { createScheduler } from '../../src/scheduler/scheduler.js'
import type { Database, Param, Transaction } from '../../src/store/database.js'
import { createStore } from '../../src/store/store.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'
import { openHarness } from '../support/harness.js'
import { noWorker } from '../support/no-worker.js'

const names = Array.from({ length: 10 }, (_, n) => `s${n}`)
const cutOff = () =>
  Object.assign(new Error('terminating connection due to idle-in-transaction timeout'), { code: '25P03' })

/** Ten due schedules, and a scheduler whose transactions are cut off where they take more than `most` of them. */
async function open(most: number, error: () => Error = cutOff) {
  const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
  h.job('noop', { handler: () => {} })
  for (const name of names) await h.schedules.put(name, { job: 'noop', timing: every('1 hour') })
  h.jump('1 hour')
  const { database } = h.escapement
  const tried: number[] = []
  const failing = (tx: Transaction): Transaction => ({
    async query<Row>(text: string, params?: readonly Param[]) {
      const limit = text.includes('skip locked') ? Number(params![1]) : 0
      if (limit > 0) tried.push(limit)
      if (limit > most) throw error()
      return tx.query<Row>(text, params)
    },
    script: (text) => tx.script(text),
  })
  const transaction: Database['transaction'] = (work) => database.transaction((tx) => work(failing(tx)))
  const clock = { ...databaseClock, now: () => h.now().getTime() }
  const jobs = createJobRegistry()
  jobs.add(defineJob('noop', { handler: () => {} }))
  const store = createStore({ ...database, transaction }, h.schema, clock)
  const scheduler = createScheduler({
    store,
    calls: createWorkerCalls(store),
    worker: noWorker,
    clock,
    chance: hostChance,
    bus: createEventBus(silentLogger),
    logger: silentLogger,
    jobs,
    zoneData: ZONE_DATA,
    batch: 8,
    retention: null,
  })
  return { h, scheduler, tried }
}

describe('a batch that is cut off', () => {
  it('is halved until it gets through, and so is what follows: all that is due fires', async () => {
    const { h, scheduler, tried } = await open(3)
    await scheduler.tickWhileDue()
    for (const name of names) expect(await h.planTimes(name)).toEqual(['2026-03-01T01:00:00.000Z'])
    expect(tried.slice(0, 3)).toEqual([8, 4, 2])
    // What got through tells how much the next ones try.
    expect(Math.max(...tried.slice(3))).toBeLessThan(8)
  })

  it('is given up where a single schedule is too much, and nothing is set aside for it', async () => {
    const { h, scheduler, tried } = await open(0)
    await expect(scheduler.tick()).rejects.toMatchObject({ code: '25P03' })
    expect(tried).toEqual([8, 4, 2, 1])
    expect(await h.escapement.doctor()).toEqual([])
  })

  it('is tried as it is where the database is away', async () => {
    const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const { scheduler, tried } = await open(0, away)
    await expect(scheduler.tick()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(tried).toEqual([8])
  })
})

describe('more skips than one transaction makes', () => {
  it('are made by several ticks, and by several transactions of a verb', async () => {
    const h = await openHarness({ at: '2026-03-01T09:30:00Z' })
    const scopes = Array.from({ length: 7_000 }, (_, index) => `tenant-${index}`)
    h.job('tenants', { scopes: () => scopes, handler: () => {} })
    const hourly = { job: 'tenants', timing: every('1 hour'), catchUp: 'none', grace: '1 second' } as const
    for (const group of ['ticked', 'settled']) {
      for (const n of [1, 2, 3, 4]) await h.schedules.put(`${group}-${n}`, { ...hourly, group })
    }
    const made = async () =>
      (
        await h.escapement.database.query(
          `select count(*) as skips, count(distinct xmin::text) as transactions from "${h.schema}".skips`,
        )
      )[0]
    h.jump('1 hour')
    expect(await h.schedules.pauseGroup('settled')).toBe(4)
    expect(await made()).toEqual({ skips: 28_000, transactions: 2 })
    await h.advance('0s')
    expect(await made()).toEqual({ skips: 56_000, transactions: 4 })
  }, 60_000)
})
