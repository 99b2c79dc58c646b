import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { type HeldLease, renewLeases } from '../store/queries/leases.js'
import { leaseKey } from '../store/queries/runs.js'
import type { Store } from '../store/store.js'

/** Keeps the leases of all runs that a worker holds, and tells those apart that it has lost. */
export interface LeaseKeeper {
  hold(lease: HeldLease, abort: AbortController): void
  letGo(lease: HeldLease): void
  held(): HeldLease[]
  /** Lets go of all, aborting their handlers. */
  abandon(reason: Error): void
  /** Returns whether the database answered. */
  renew(): Promise<boolean>
  stop(): void
}

export function createLeaseKeeper(store: Store, logger: Logger): LeaseKeeper {
  const leases = new Map<string, { lease: HeldLease; abort: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let everyMs = Number.POSITIVE_INFINITY
  let renewing: Promise<boolean> | undefined

  async function renewAll(): Promise<boolean> {
    const asked = [...leases.values()]
    if (asked.length === 0) return true
    let kept: Set<string>
    try {
      kept = await renewLeases(
        store,
        asked.map(({ lease }) => lease),
      )
    } catch (error) {
      // The lease still has two thirds of its time; the next renewal may get through.
      logger.warn({ err: error, runs: asked.length }, 'leases could not be renewed')
      return false
    }
    for (const { lease, abort } of asked) {
      // Let go in the meantime: its outcome has been recorded, so there is nothing to lose.
      if (kept.has(leaseKey(lease)) || !leases.delete(leaseKey(lease))) continue
      abort.abort(leaseLost(lease.runId))
    }
    return true
  }

  function renew(): Promise<boolean> {
    renewing ??= renewAll().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  return {
    renew,
    hold(lease, abort) {
      leases.set(leaseKey(lease), { lease, abort })
      // A third of the lease: two renewals may fail before another worker can claim the run.
      if (timer !== undefined && lease.leaseMs / 3 >= everyMs) return
      everyMs = lease.leaseMs / 3
      clearInterval(timer)
      timer = setInterval(renew, everyMs)
    },
    letGo: (lease) => void leases.delete(leaseKey(lease)),
    held: () => [...leases.values()].map(({ lease }) => lease),
    abandon(reason) {
      const abandoned = [...leases.values()]
      leases.clear()
      for (const { abort } of abandoned) abort.abort(reason)
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}

function leaseLost(runId: string): EscapementError {
  return new EscapementError('lease_lost', {
    message: 'The lease was lost: the run belongs to another worker now, and this attempt no longer counts.',
    details: { runId },
  })
}
