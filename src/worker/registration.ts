/**
 * What other processes know of a worker: its row, the jobs that it has with their policies, and, on direct connections, a lock
 * of its session. The database frees that lock when the process dies, and so tells the others.
 */
import { createHash } from 'node:crypto'
import os from 'node:os'
import type { AnyJob } from '../runs/job.js'
import { policiesOf } from '../runs/job-policies.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { publishJobs, registerWorker, removeWorker } from '../store/queries/workers.js'
import type { Store } from '../store/store.js'

export interface Registration {
  /** Takes the lock, where there can be one; `onTaken` hears whenever it was taken, also after its session had broken. */
  holdLock(onTaken: () => void): Promise<void>
  /** Tells others of this worker and its jobs, again whenever jobs were added or the lock was taken or lost. */
  publish(): Promise<void>
  /** The lock by which the others look whether this worker lives; null while it does not hold it. */
  publishedLock(): string | null
  /** Tells the others of this worker once more: they have forgotten it, or took it for lost. */
  publishAgain(): Promise<void>
  /** Takes back all of it. */
  signOff(): Promise<void>
}

export function createRegistration(
  store: Store,
  jobs: JobRegistry,
  worker: {
    id: string
    version: string
    queues: readonly string[]
    concurrency: number
    /** Of which it begins runs that are handed to it. */
    begins(job: AnyJob): boolean
    /** Held while it has nothing to do; null where nothing can be handed to it. */
    restLock: string | null
  },
): Registration {
  /** How many jobs the others know of, and which lock. */
  const published: { jobs: number; lock: string | null } = { jobs: -1, lock: null }
  let lock: string | null = null
  let letGoOfLock: (() => Promise<void>) | null = null

  async function register(all: readonly AnyJob[]): Promise<void> {
    const sessionLock = lock
    const { id, version, queues, concurrency, restLock } = worker
    const begun = restLock === null ? [] : all.filter(worker.begins)
    await registerWorker(store, {
      id,
      host: os.hostname(),
      pid: process.pid,
      version,
      queues,
      jobs: all.map(({ name }) => name),
      concurrency,
      sessionLock,
      begins:
        begun.length === 0
          ? null
          : Object.fromEntries(
              begun.map(({ name, retry: { attempts }, leaseMs }) => [name, { attempts, leaseMs }]),
            ),
      restLock,
    })
    published.lock = sessionLock
  }

  return {
    async holdLock(onTaken) {
      const key = lockOf('worker', worker.id)
      letGoOfLock ??= await store.database.holdLock(key, (isHeld) => {
        lock = isHeld ? key : null
        if (isHeld) onTaken()
      })
    },
    async publish() {
      const all = jobs.all()
      const hasNewJobs = all.length !== published.jobs
      if (!hasNewJobs && lock === published.lock) return
      await register(all)
      if (!hasNewJobs) return
      await publishJobs(
        store,
        all.map((job) => ({ name: job.name, policies: policiesOf(job) })),
      )
      published.jobs = all.length
    },
    publishedLock: () => published.lock,
    publishAgain: () => register(jobs.all()),
    async signOff() {
      await removeWorker(store, worker.id)
      published.jobs = -1
      await letGoOfLock?.()
      letGoOfLock = null
      lock = null
    },
  }
}

/** A number that only this worker uses, and only for this; advisory locks are numbers that all programs of a database share. */
export function lockOf(purpose: 'worker' | 'resting worker', workerId: string): string {
  return createHash('sha256').update(`escapement ${purpose} ${workerId}`).digest().readBigInt64BE().toString()
}
