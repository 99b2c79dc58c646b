import type { Clock } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { type HeldLease, leaseKey, listCancelled, renewLeases } from '../store/queries/leases.js'
import type { Store } from '../store/store.js'
import type { Interrupt } from './interrupt.js'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 1_000
/** Those that get no answer hold a connection each until its own deadline: the other loops need some too. */
const MAX_UNANSWERED = 2

/**
 * Keeps the leases of all runs that a worker holds, and tells those apart that it has lost. A lease is known by its object: the
 * same run may be held again under another token.
 */
export interface LeaseKeeper {
  hold(lease: HeldLease, interrupt: Interrupt): void
  letGo(lease: HeldLease): void
  held(): HeldLease[]
  /** Lets go of all, aborting their handlers. */
  abandon(reason: Error): void
  /** Renews all, not before this call. Returns whether the database answered. */
  renew(): Promise<boolean>
  /** Whether one of its runs was cancelled, for those whom nobody tells: a renewal finds it too, but only in its turn. */
  hasCancelled(): Promise<boolean>
  /** Renews one now; rejects if it is lost. */
  renewOne(lease: HeldLease): Promise<void>
  stop(): void
}

export function createLeaseKeeper(
  store: Store,
  clock: Clock,
  logger: Logger,
  onLost: (runId: string) => void,
): LeaseKeeper {
  const leases = new Map<HeldLease, Interrupt>()
  let stopTimer: (() => void) | undefined
  let everyMs = Number.POSITIVE_INFINITY
  let renewing: Promise<boolean> | undefined
  let following: Promise<boolean> | undefined
  let stopRetry: (() => void) | undefined
  let unanswered = 0
  /** Since the last renewal that was answered. */
  let failures = 0

  async function renewAll(): Promise<boolean> {
    const asked = [...leases.keys()]
    const isHeard = asked.length === 0 || (unanswered < MAX_UNANSWERED && (await isAnsweredInTime(asked)))
    failures = isHeard ? 0 : failures + 1
    stopRetry?.()
    // Not left for the next turn: the lease has two thirds of its time, and one failure must not cost half of that.
    if (!isHeard && stopTimer !== undefined) {
      stopRetry = clock.after(Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS), renew)
    }
    return isHeard
  }

  /** Half of a turn: a connection that went silent would else use up the lease. An answer that comes later still counts. */
  function isAnsweredInTime(asked: readonly HeldLease[]): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = () => {
        complain({ runs: asked.length }, 'a renewal of leases gets no answer')
        resolve(false)
      }
      const stopWaiting = clock.after(everyMs / 2, giveUp)
      unanswered += 1
      ask(asked).then((isHeard) => {
        unanswered -= 1
        stopWaiting()
        resolve(isHeard)
      })
    })
  }

  function complain(facts: object, message: string): void {
    if (failures === 0) logger.warn(facts, message)
  }

  async function ask(asked: readonly HeldLease[]): Promise<boolean> {
    try {
      const kept = await renewLeases(store, asked)
      await lose(asked.filter((lease) => !kept.has(leaseKey(lease))))
      return true
    } catch (error) {
      complain({ err: error, runs: asked.length }, 'leases could not be renewed')
      return false
    }
  }

  /** Tells the handlers whose runs are not theirs any more. Those let go in the meantime have nothing to lose. */
  async function lose(lost: readonly HeldLease[]): Promise<void> {
    if (lost.length === 0) return
    const cancelled = await listCancelled(store, lost)
    for (const lease of lost) {
      const interrupt = leases.get(lease)
      if (!interrupt) continue
      leases.delete(lease)
      const { runId } = lease
      const isCancelled = cancelled.has(runId)
      if (!isCancelled) onLost(runId)
      interrupt.abort(isCancelled ? cancelledError(runId) : leaseLost(runId))
    }
  }

  /** One that is under way may have passed over what the caller knows of (a cancellation): another follows it. */
  function renew(): Promise<boolean> {
    if (!renewing) {
      renewing = renewAll().finally(() => {
        renewing = undefined
      })
      return renewing
    }
    following ??= renewing.then(() => {
      following = undefined
      return renew()
    })
    return following
  }

  function renewInTurn(): void {
    stopTimer?.()
    stopTimer = clock.after(everyMs, () => {
      stopTimer = undefined
      // With nothing to renew it rests until the next lease is held.
      if (leases.size === 0) return
      renewInTurn()
      void renew()
    })
  }

  return {
    renew,
    async hasCancelled() {
      const held = [...leases.keys()]
      return held.length > 0 && (await listCancelled(store, held)).size > 0
    },
    async renewOne(lease) {
      const kept = await renewLeases(store, [lease])
      if (kept.has(leaseKey(lease))) return
      const interrupt = leases.get(lease)
      if (interrupt) await lose([lease])
      throw interrupt?.reason ?? leaseLost(lease.runId)
    },
    hold(lease, interrupt) {
      leases.set(lease, interrupt)
      // A third of the lease: two renewals may fail before another worker can claim the run.
      if (stopTimer !== undefined && lease.leaseMs / 3 >= everyMs) return
      everyMs = lease.leaseMs / 3
      renewInTurn()
    },
    letGo: (lease) => void leases.delete(lease),
    held: () => [...leases.keys()],
    abandon(reason) {
      const abandoned = [...leases.values()]
      leases.clear()
      for (const interrupt of abandoned) interrupt.abort(reason)
    },
    stop() {
      stopTimer?.()
      stopRetry?.()
      stopTimer = undefined
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
