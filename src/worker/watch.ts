import { type Clock, monotonicMs } from '../clock.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { NoticeRule } from '../runs/notification.js'
import { createFront, litterIn } from '../store/front.js'
import type { Followed } from '../store/queries/ends.js'
import { type RecoveredRun, recoverExpiredLeases } from '../store/queries/leases.js'
import { lookAfterWorkers } from '../store/queries/workers.js'
import { hasTakenTooLong } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { TOO_OLD_MS } from './handed.js'
import type { LeaseKeeper } from './lease-keeper.js'
import type { Registration } from './registration.js'

/** How often a worker says that it lives, and looks whether others do. */
const WATCH_EVERY_MS = 1_500
/** The same of one that has nothing to do, and nobody to look after. */
const ALONE_EVERY_MS = 5_000
/** Somewhat longer than that: who lives is seen more often. */
const UNSEEN_MS = 1_800
/**
 * How long a worker that counts as lost keeps its runs: one that lives and was merely cut off is back before that, and
 * renews them. With the time until it counts as lost, those of a killed process are free within 5 seconds.
 */
const GRACE_OF_THE_LOST_MS = 3_000
/** Clocks run in milliseconds, and timers may be one early. */
const SLACK_MS = 10
/** A worker begins nothing of which it hears as late as this: it never heard of it. */
const UNHEARD_MS = 2 * TOO_OLD_MS
/** Longer than the others are remembered. */
const EVER_MS = 2 * 86_400_000
const RECOVERY_BATCH = 500
/** What is committed late was begun before what was looked at already. */
const OVERLAP_MS = 1_000
/** Nobody writes a lease that has ended long ago: one further in front is there by a clock that was set back. */
const REST = 199

export interface Watch {
  /** One look; `mayMiss` says whether runs may have been handed to it. Returns when the next one is due, in milliseconds. */
  look(running: number, held: readonly string[], mayMiss: boolean): Promise<number>
  /** Takes back runs whose leases have expired, all of them or since then. */
  recover(held: readonly string[], since?: Instant | null): Promise<void>
  /** What the clock of the database says by now, or somewhat more. */
  databaseNow(): Instant
}

/** Looks after the workers of all processes: whoever dies, the others take over. */
export function createWatch(parts: {
  store: Store
  clock: Clock
  workerId: string
  registration: Registration
  leases: LeaseKeeper
  bus: EventBus
  logger: Logger
  onRecovered(runs: readonly RecoveredRun[]): void
  /** Runs were handed to it before then of which it will not hear. */
  onUnheard(before: Instant): Promise<void>
  rules: readonly NoticeRule[]
  onFollowed(followed: Followed): void
}): Watch {
  const { store, workerId, registration, leases, bus, logger, rules } = parts
  const { elapsedMs } = parts.clock
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let everyMs = WATCH_EVERY_MS
  /** Of the leases, in the order in which they expire. */
  const front = createFront(litterIn(store.database, { rest: REST }))
  /** Of what was handed over before then it has heard, or has given it back. */
  let heardThrough: Instant | null = null
  let graceEndsAtMs = Number.NEGATIVE_INFINITY
  /** How far its clock is ahead of ours. */
  let aheadMs = Number.POSITIVE_INFINITY

  async function recover(held: readonly string[], since: Instant | null = null): Promise<void> {
    for (;;) {
      const { recovered, hasMore, ...followed } = await recoverExpiredLeases(store, {
        held,
        since,
        limit: RECOVERY_BATCH,
        rules,
      })
      parts.onRecovered(recovered)
      parts.onFollowed(followed)
      if (!hasMore) return
    }
  }

  /** The others took this worker for lost, and shortened its leases; or it was away for so long that they forgot it. */
  async function comeBack(): Promise<void> {
    await registration.publishAgain()
    await leases.renew()
  }

  return {
    recover,
    databaseNow: () => elapsedMs() + aheadMs,
    async look(running, held, mayMiss) {
      // Where this one could not look (an outage, a start), the others could not be seen: that does not count against them.
      const heldUpMs = Math.min(Math.max(elapsedMs() - lookedAtMs - everyMs, 0), EVER_MS)
      const since = front.since()
      const startedMs = monotonicMs()
      const askedAtMs = elapsedMs()
      const { lost, msUntilLost, hasExpired, now, isAlone, isAsTold, hasUnheard } = await lookAfterWorkers(
        store,
        {
          id: workerId,
          running,
          sessionLock: registration.publishedLock(),
          unseenMs: UNSEEN_MS + everyMs - WATCH_EVERY_MS + heldUpMs,
          graceMs: GRACE_OF_THE_LOST_MS,
          since,
          held: mayMiss ? held : null,
          unheardMs: UNHEARD_MS,
          heardThrough,
        },
      ).catch((error) => {
        if (hasTakenTooLong(error))
          front.looked({ since, ms: monotonicMs() - startedMs, count: 0, newest: null })
        throw error
      })
      front.looked({ since, ms: monotonicMs() - startedMs, count: 0, newest: hasExpired ? null : now })
      // Since it was asked: had this process stood still meanwhile, its answer would be old.
      aheadMs = now - askedAtMs
      lookedAtMs = elapsedMs()
      for (const { id, host, pid } of lost) {
        logger.warn({ workerId: id, host, pid }, 'a worker is gone: its runs are taken over')
        bus.emit('worker.lost', { workerId: id, host, pid })
      }
      if (lost.length > 0) graceEndsAtMs = lookedAtMs + GRACE_OF_THE_LOST_MS
      if (!isAsTold) await comeBack()
      if (hasUnheard) await parts.onUnheard(now - UNHEARD_MS)
      // Where nothing may have been missed, nothing was handed over.
      heardThrough = now - UNHEARD_MS - OVERLAP_MS
      if (hasExpired) await recover(held, since)
      if (!store.database.canListen && (await leases.hasCancelled())) await leases.renew()
      everyMs = isAlone && running === 0 ? ALONE_EVERY_MS : WATCH_EVERY_MS
      const untilGraceEndsMs = graceEndsAtMs > elapsedMs() ? graceEndsAtMs - elapsedMs() : everyMs
      // Not left for the next turn: recovery is to take seconds.
      return Math.min(everyMs, untilGraceEndsMs + SLACK_MS, (msUntilLost ?? everyMs) + SLACK_MS)
    },
  }
}
