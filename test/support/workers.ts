import { registerWorker, type WorkerRegistration } from '../../src/store/queries/workers.js'
import type { Store } from '../../src/store/store.js'

/** A worker that is known by its locks alone: nobody runs it. */
export function registerIdleWorker(
  store: Store,
  id: string,
  sessionLock: string | null,
  terms: Partial<WorkerRegistration> = {},
) {
  return registerWorker(store, {
    id,
    host: 'h',
    pid: 1,
    version: '1',
    queues: [],
    jobs: [],
    concurrency: 1,
    sessionLock,
    begins: null,
    restLock: null,
    ...terms,
  })
}
