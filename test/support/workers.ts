import { registerWorker } from '../../src/store/queries/workers.js'
import type { Store } from '../../src/store/store.js'

/** A worker that is known by its lock alone: it has no jobs, and nobody runs it. */
export function registerIdleWorker(store: Store, id: string, sessionLock: string | null) {
  return registerWorker(store, {
    id,
    host: 'h',
    pid: 1,
    version: '1',
    queues: [],
    jobs: [],
    concurrency: 1,
    sessionLock,
  })
}
