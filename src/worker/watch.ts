import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { Breakage } from '../schedules/breaker.js'
import { type RecoveredRun, recoverExpiredLeases } from '../store/queries/leases.js'
import { lookAfterWorkers } from '../store/queries/workers.js'
import type { Store } from '../store/store.js'

/** How often a worker says that it lives, and looks whether others do. */
const WATCH_EVERY_MS = 1_500
/**
 * How long a worker whose session is gone keeps its runs: one that lives and has merely lost its connection is back
 * before that, and renews them.
 */
const GRACE_OF_THE_LOST_MS = 3_000
const RECOVERY_BATCH = 500

export interface Watch {
  /** One look. Returns when the next one is due, in milliseconds. */
  look(running: number, held: readonly string[]): Promise<number>
  /** Takes back runs whose leases have expired. */
  recover(held: readonly string[]): Promise<void>
}

/** Looks after the workers of all processes: whoever dies, the others take over. */
export function createWatch(parts: {
  store: Store
  workerId: string
  bus: EventBus
  logger: Logger
  onRecovered(runs: readonly RecoveredRun[]): void
  onBroken(broken: readonly Breakage[]): void
}): Watch {
  const { store, workerId, bus, logger } = parts
  let known: ReadonlySet<string> = new Set()

  async function recover(held: readonly string[]): Promise<void> {
    for (;;) {
      const { recovered, broken } = await recoverExpiredLeases(store, { held, limit: RECOVERY_BATCH })
      parts.onRecovered(recovered)
      if (broken.length > 0) parts.onBroken(broken)
      if (recovered.length < RECOVERY_BATCH) return
    }
  }

  return {
    recover,
    async look(running, held) {
      const { lost, hasExpired } = await lookAfterWorkers(store, {
        id: workerId,
        running,
        graceMs: GRACE_OF_THE_LOST_MS,
      })
      const found = lost.filter(({ id }) => !known.has(id))
      for (const { id, host, pid } of found) {
        logger.warn({ workerId: id, host, pid }, 'a worker is gone: its runs are taken over')
        bus.emit('worker.lost', { workerId: id, host, pid })
      }
      known = new Set(lost.map(({ id }) => id))
      if (hasExpired) await recover(held)
      // Its leases end then: no sooner, and no later, is there something to take over.
      return found.length > 0 ? GRACE_OF_THE_LOST_MS + 10 : WATCH_EVERY_MS
    },
  }
}
