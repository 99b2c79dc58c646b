import { expect, it } from 'vitest'
import { defineJob } from '../runs/job.js'
import { createJobRegistry } from '../runs/job-registry.js'
import type { Store } from '../store/store.js'
import { healthOf } from './health.js'

const off = { pulse: () => null }
const silentFor = (silentMs: number) => ({
  running: () => 0,
  pulse: () => ({ silentMs, sincePassMs: silentMs, isWaitingOut: false }),
})

it('where there is one session, a loop is given the time that a transactional handler may hold it', () => {
  const jobs = createJobRegistry()
  jobs.add(defineJob('long', { transactional: true, timeout: '10 minutes', handler: () => {} }))
  jobs.add(defineJob('longer', { timeout: '10 hours', handler: () => {} }))
  const statusOf = (database: object, silentMs: number) =>
    healthOf(
      { scheduler: off, sweeper: off, worker: silentFor(silentMs) },
      { store: { database } as Store, jobs },
    ).status
  const sole = { refuseInsideTransaction() {} }
  expect([statusOf({}, 120_000), statusOf({}, 120_001)]).toEqual(['ok', 'stuck'])
  expect([statusOf(sole, 720_000), statusOf(sole, 720_001)]).toEqual(['ok', 'stuck'])
})
