import type { Logger } from '../logger.js'
import { storableJson } from '../runs/storable.js'
import type { Breakage } from '../schedules/breaker.js'
import { followLater } from '../store/queries/ends.js'
import { type Outcome, recordIn } from '../store/queries/outcomes.js'
import { isRefusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { type Execution, execute, failureOf, outcomeOf } from './execute.js'
import type { OutcomeRecorder } from './outcomes.js'

const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000

export interface Performer {
  /** Carries one claimed run through: calls its handler and writes down how it ended. Null if the lease was lost. */
  perform(execution: Execution, onHandled: () => void): Promise<Outcome | null>
}

export function createPerformer(parts: {
  outcomes: OutcomeRecorder
  /** Over connections that handlers may hold for as long as they take. */
  transactions: Store
  logger: Logger
  onBroken(broken: readonly Breakage[]): void
  isStopping(): boolean
}): Performer {
  const { outcomes, transactions, logger } = parts

  async function perform(execution: Execution, onHandled: () => void): Promise<Outcome | null> {
    if (execution.job.transactional) return performInTransaction(execution).finally(onHandled)
    const outcome = await execute(execution, logger)
    onHandled()
    return (await recordUntilHeard(outcome)) ? outcome : null
  }

  /**
   * The handler's writes and the run's success commit together; the fence is part of that transaction. A failure is
   * recorded apart, without waiting for the rollback: a statement of the handler's may hold it up.
   */
  async function performInTransaction(execution: Execution): Promise<Outcome | null> {
    const failed = deferred<Outcome>()
    const committed = transactions.transaction(async (session, tx) => {
      const outcome = await execute(execution, logger, tx)
      if (outcome.state !== 'succeeded') {
        failed.resolve(outcome)
        throw new RolledBack()
      }
      const { counted, broken, unlocked } = await recordIn(session, [outcome])
      if (!counted[0]) throw new LeaseGone()
      return { outcome, broken, unlocked }
    })
    try {
      const ended = await Promise.race([committed, failed.promise])
      if ('broken' in ended) {
        if (ended.broken.length > 0) parts.onBroken(ended.broken)
        await followLater(transactions, ended.unlocked).catch((error) =>
          logger.warn({ err: error }, 'a lane is filled later'),
        )
        return ended.outcome
      }
      committed.catch(() => {})
      return (await recordUntilHeard(ended)) ? ended : null
    } catch (error) {
      if (error instanceof LeaseGone) return null
      if (error instanceof RolledBack) {
        const outcome = await failed.promise
        return (await recordUntilHeard(outcome)) ? outcome : null
      }
      // The commit itself failed, or its answer was lost. If it was done after all, the fence refuses this.
      const outcome = outcomeOf(execution, failureOf(error, execution))
      return (await recordUntilHeard(outcome)) ? outcome : null
    }
  }

  /**
   * The work is done; what is left is to say so. While the database is away the lease keeper goes on too, and if the
   * lease is lost in the end the fence refuses the outcome.
   */
  async function recordUntilHeard(told: Outcome): Promise<boolean> {
    let backoffMs = FIRST_BACKOFF_MS
    let outcome = told
    for (;;) {
      try {
        return await outcomes.record(outcome)
      } catch (error) {
        if (parts.isStopping()) return false
        logger.warn({ err: error, runId: outcome.runId }, 'an outcome could not be recorded yet')
        if (isRefusal(error)) outcome = bare(outcome, error)
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  return { perform }
}

/** What the database refuses cannot be stored as it is, now or later: how the run ended is kept without it. */
function bare(outcome: Outcome, error: unknown): Outcome {
  if (outcome.state !== 'succeeded') return { ...outcome, totals: null }
  return { ...outcome, totals: null, result: storableJson({ $unserializable: String(error) }) }
}

class RolledBack extends Error {}
class LeaseGone extends Error {}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
