/**
 * What other processes know of a worker: its row, the jobs that it has with their policies, and, on direct connections, a lock
 * of its session. The database frees that lock when the process dies, and so tells the others.
 */
import { createHash } from 'node:crypto'
import os from 'node:os'
import type { AnyJob } from '../runs/job.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { publishJobs, registerWorker, removeWorker } from '../store/queries/workers.js'
import type { Store } from '../store/store.js'

export interface Registration {
  /** Takes the lock, where there can be one; `onLost` hears when the session that held it is gone. */
  holdLock(onLost: () => void): Promise<void>
  /** Tells others of this worker and its jobs, again whenever jobs were added. */
  publish(): Promise<void>
  /** Takes back all of it. */
  signOff(): Promise<void>
}

export function createRegistration(
  store: Store,
  jobs: JobRegistry,
  worker: { id: string; version: string; queues: readonly string[]; concurrency: number },
): Registration {
  /** How many jobs the others know of. */
  let published = -1
  let sessionLock: string | null = null
  let letGoOfLock: (() => Promise<void>) | null = null

  return {
    async holdLock(onLost) {
      const key = lockKeyOf(worker.id)
      letGoOfLock ??= await store.database.holdLock(key, onLost)
      sessionLock = letGoOfLock === null ? null : key
    },
    async publish() {
      const all = jobs.all()
      if (all.length === published) return
      const names = all.map(({ name }) => name)
      const { id, version, queues, concurrency } = worker
      await registerWorker(store, {
        id,
        host: os.hostname(),
        pid: process.pid,
        version,
        queues,
        jobs: names,
        concurrency,
        sessionLock,
      })
      await publishJobs(
        store,
        all.map((job) => ({ name: job.name, policies: policiesOf(job) })),
      )
      published = all.length
    },
    async signOff() {
      await removeWorker(store, worker.id)
      published = -1
      await letGoOfLock?.()
      letGoOfLock = null
    },
  }
}

function policiesOf({ retry, timeoutMs, leaseMs, onStale, concurrency, concurrencyKey, ...job }: AnyJob) {
  return {
    retry,
    timeoutMs,
    leaseMs,
    onStale,
    concurrency,
    concurrencyKey,
    transactional: job.transactional,
    gate: job.gate !== undefined,
    provider: job.scopes !== undefined,
  }
}

/** A number that only this worker uses; advisory locks are numbers that all programs of a database share. */
function lockKeyOf(workerId: string): string {
  return createHash('sha256').update(`escapement worker ${workerId}`).digest().readBigInt64BE().toString()
}
