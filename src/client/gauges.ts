import type { ScheduleState } from '../schedules/schedule.js'
import { createSharedReading } from '../shared-reading.js'
import type { PoolUse } from '../store/database.js'
import { readClaiming } from '../store/queries/control.js'
import {
  countSchedules,
  countWorkers,
  type Depth,
  listOldestReady,
  type OldestReady,
  readDepths,
} from '../store/queries/depths.js'
import type { Store } from '../store/store.js'

/** How things stand, for metrics. What concerns the database is the same in every process. */
export interface Gauges {
  /** Null where the database has not answered in time. */
  database: DatabaseGauges | null
  pools: PoolUse[]
}

export interface DatabaseGauges {
  /** Open runs by queue and by where they stand; counted up to 50,000 in all, beyond that estimated from a sample. */
  depths: Depth[]
  oldestReady: OldestReady[]
  /** Counted up to 10,000 of a state; beyond that as the server's statistics have them. */
  schedules: { state: ScheduleState; schedules: number }[]
  isClaimingPaused: boolean
  /** Of all processes. */
  workers: number
}

/** As many queues have a name of their own in metrics. */
export const NAMED_QUEUES = 200

const KEEP_MS = 5_000
/** Half of what Prometheus waits for by default. */
const PATIENCE_MS = 5_000

export function createGauges(store: Store, use: () => PoolUse[]): () => Promise<Gauges> {
  const readDatabase = createSharedReading(() => read(store), { keepMs: KEEP_MS, patienceMs: PATIENCE_MS })
  return async () => ({ database: await readDatabase().catch(() => null), pools: use() })
}

/** One after the other: what is only looked at takes no more than one connection from what works. */
async function read(store: Store): Promise<DatabaseGauges> {
  return {
    depths: await readDepths(store, NAMED_QUEUES),
    oldestReady: await listOldestReady(store),
    schedules: await countSchedules(store),
    isClaimingPaused: (await readClaiming(store)).paused_at !== null,
    workers: await countWorkers(store),
  }
}
