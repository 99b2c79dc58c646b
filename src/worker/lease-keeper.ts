import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { type HeldLease, leaseKey, listCancelled, renewLeases } from '../store/queries/leases.js'
import type { Store } from '../store/store.js'
import type { Interrupt } from './interrupt.js'

/** Keeps the leases of all runs that a worker holds, and tells those apart that it has lost. */
export interface LeaseKeeper {
  hold(lease: HeldLease, interrupt: Interrupt): void
  letGo(lease: HeldLease): void
  held(): HeldLease[]
  /** Lets go of all, aborting their handlers. */
  abandon(reason: Error): void
  /** Returns whether the database answered. */
  renew(): Promise<boolean>
  /** Renews one now; rejects if it is lost. */
  renewOne(lease: HeldLease): Promise<void>
  stop(): void
}

export function createLeaseKeeper(store: Store, logger: Logger): LeaseKeeper {
  const leases = new Map<string, { lease: HeldLease; interrupt: Interrupt }>()
  let timer: NodeJS.Timeout | undefined
  let everyMs = Number.POSITIVE_INFINITY
  let renewing: Promise<boolean> | undefined

  async function renewAll(): Promise<boolean> {
    const asked = [...leases.values()]
    if (asked.length === 0) return true
    try {
      const kept = await renewLeases(
        store,
        asked.map(({ lease }) => lease),
      )
      await lose(asked.filter(({ lease }) => !kept.has(leaseKey(lease))))
      return true
    } catch (error) {
      // The lease still has two thirds of its time; the next renewal may get through.
      logger.warn({ err: error, runs: asked.length }, 'leases could not be renewed')
      return false
    }
  }

  /** Tells the handlers whose runs are not theirs any more. Those let go in the meantime have nothing to lose. */
  async function lose(lost: readonly { lease: HeldLease; interrupt: Interrupt }[]): Promise<void> {
    if (lost.length === 0) return
    const cancelled = await listCancelled(
      store,
      lost.map(({ lease }) => lease),
    )
    for (const { lease, interrupt } of lost) {
      if (!leases.delete(leaseKey(lease))) continue
      interrupt.abort(cancelled.has(lease.runId) ? cancelledError(lease.runId) : leaseLost(lease.runId))
    }
  }

  function renew(): Promise<boolean> {
    renewing ??= renewAll().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  return {
    renew,
    async renewOne(lease) {
      const kept = await renewLeases(store, [lease])
      if (kept.has(leaseKey(lease))) return
      const mine = leases.get(leaseKey(lease))
      if (mine) await lose([mine])
      throw mine?.interrupt.reason ?? leaseLost(lease.runId)
    },
    hold(lease, interrupt) {
      leases.set(leaseKey(lease), { lease, interrupt })
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
      for (const { interrupt } of abandoned) interrupt.abort(reason)
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

function cancelledError(runId: string): EscapementError {
  return new EscapementError('cancelled', {
    message: 'The run was cancelled: what this attempt still does no longer counts.',
    details: { runId },
  })
}
