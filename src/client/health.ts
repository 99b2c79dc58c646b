import type { PulseState } from '../pulse.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { createSharedReading } from '../shared-reading.js'
import { readSchemaState } from '../store/migrate.js'
import { findMove } from '../store/queries/moving.js'
import type { Store } from '../store/store.js'

/** Whether the loops of this process turn. */
export interface Health {
  /** `stuck` is what a restart may mend: an outage of the database is not. */
  status: 'ok' | 'stuck'
  /** Which loop is stuck; null where none is. */
  reason: string | null
  /** How many runs the worker of this process has in hand. */
  running: number
  /** Those that were started. */
  loops: LoopHealth[]
}

export interface LoopHealth {
  loop: LoopName
  /** Since its last whole pass, or before the first since its start. */
  sincePassMs: number
  /** It waits out an outage of the database, trying again every few seconds. */
  isWaitingOut: boolean
  /** It has made no pass, and given no other sign of life, for far longer than it sleeps or waits for an answer. */
  isStuck: boolean
}

/** Whether this process can do what it is asked for. */
export interface Readiness {
  ready: boolean
  /** Why it cannot; null where it can. */
  reason: string | null
}

type LoopName = 'scheduler' | 'worker' | 'sweeper'

/** Eight times as long as a loop waits for an answer of the database, and longer than a hook is waited for. */
const PATIENCE_MS = 120_000
const READY_WITHIN_MS = 2_000
/** Anybody may ask, as often as they like. */
const READY_FOR_MS = 1_000

export function healthOf(
  parts: Readonly<Record<LoopName, { pulse(): PulseState | null }>> & { worker: { running(): number } },
  { store, jobs }: { store: Store; jobs: JobRegistry },
): Health {
  const patienceMs = PATIENCE_MS + longestHoldMs(store, jobs)
  const loops: LoopHealth[] = []
  for (const loop of ['scheduler', 'worker', 'sweeper'] as const) {
    const state = parts[loop].pulse()
    if (state === null) continue
    const { sincePassMs, isWaitingOut, silentMs } = state
    loops.push({ loop, sincePassMs, isWaitingOut, isStuck: silentMs > patienceMs })
  }
  const running = parts.worker.running()
  const stuck = loops.find(({ isStuck }) => isStuck)
  if (!stuck) return { status: 'ok', reason: null, running, loops }
  const seconds = Math.round(stuck.sincePassMs / 1000)
  return { status: 'stuck', reason: `the ${stuck.loop} has made no pass for ${seconds} s`, running, loops }
}

/** Where there is one session, a transactional handler holds up the loops for as long as it may take. */
function longestHoldMs({ database }: Store, jobs: JobRegistry): number {
  if (database.refuseInsideTransaction === undefined) return 0
  return Math.max(0, ...jobs.all().map(({ transactional, timeoutMs }) => (transactional ? timeoutMs : 0)))
}

/** Asks the database, within two seconds, whether it is there and has the schema that this program works with. */
export function createReadiness(store: Store): () => Promise<Readiness> {
  const read = async () => {
    const state = await readSchemaState(store.database, store.schema)
    if (state !== 'current') return `schema ${state}`
    return (await findMove(store)) ? 'moved' : null
  }
  const reasonNot = createSharedReading(read, {
    keepMs: READY_FOR_MS,
    patienceMs: READY_WITHIN_MS,
  })
  return async () => {
    try {
      const reason = await reasonNot()
      return { ready: reason === null, reason }
    } catch {
      return { ready: false, reason: 'database unreachable' }
    }
  }
}
