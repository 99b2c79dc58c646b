import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { type HeldLease, renewLeases } from '../store/queries/leases.js'
import type { Store } from '../store/store.js'

/** Keeps the leases of all runs that a worker holds, and tells those apart that it has lost. */
export interface LeaseKeeper {
  hold(lease: HeldLease, abort: AbortController): void
  letGo(runId: string): void
  /** Lets go of all, aborting their handlers, and returns them. */
  abandon(reason: Error): HeldLease[]
  renew(): Promise<void>
  stop(): void
}

export function createLeaseKeeper(store: Store, logger: Logger): LeaseKeeper {
  const leases = new Map<string, { lease: HeldLease; abort: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let everyMs = Number.POSITIVE_INFINITY

  async function renew(): Promise<void> {
    if (leases.size === 0) return
    const asked = [...leases.values()]
    let kept: Set<string>
    try {
      kept = await renewLeases(
        store,
        asked.map(({ lease }) => lease),
      )
    } catch (error) {
      // The lease still has two thirds of its time; the next renewal may get through.
      logger.warn({ err: error, runs: asked.length }, 'leases could not be renewed')
      return
    }
    for (const { lease, abort } of asked) {
      // Let go in the meantime: its outcome has been recorded, so there is nothing to lose.
      if (kept.has(lease.runId) || leases.get(lease.runId)?.lease !== lease) continue
      leases.delete(lease.runId)
      abort.abort(leaseLost(lease.runId))
    }
  }

  return {
    renew,
    hold(lease, abort) {
      leases.set(lease.runId, { lease, abort })
      // A third of the lease: two renewals may fail before another worker can claim the run.
      if (lease.leaseMs / 3 >= everyMs) return
      everyMs = lease.leaseMs / 3
      clearInterval(timer)
      timer = setInterval(renew, everyMs)
    },
    letGo: (runId) => void leases.delete(runId),
    abandon(reason) {
      const abandoned = [...leases.values()]
      leases.clear()
      for (const { abort } of abandoned) abort.abort(reason)
      return abandoned.map(({ lease }) => lease)
    },
    stop() {
      clearInterval(timer)
      everyMs = Number.POSITIVE_INFINITY
    },
  }
}

function leaseLost(runId: string): EscapementError {
  return new EscapementError('lease_lost', {
    message: 'The lease was lost: the run belongs to another worker now, and this attempt no longer counts.',
    details: { runId },
  })
}
