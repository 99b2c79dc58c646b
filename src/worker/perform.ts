import type { Clock } from '../clock.js'
import type { Logger } from '../logger.js'
import type { NoticeRule } from '../runs/notification.js'
import { storableJson } from '../runs/storable.js'
import type { Transaction } from '../store/database.js'
import { type Followed, followLater } from '../store/queries/ends.js'
import { unpackRuns } from '../store/queries/lots.js'
import { type Outcome, type Recorded, recordIn, wasRecorded } from '../store/queries/outcomes.js'
import { isRefusal } from '../store/refusal.js'
import type { Session, Store } from '../store/store.js'
import { type Execution, execute, failureOf, outcomeOf } from './execute.js'
import type { OutcomeRecorder } from './outcomes.js'
import { runFacts } from './run-facts.js'

const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000

export interface Performer {
  /** Carries one claimed run through: calls its handler and writes down how it ended. Null if the lease was lost. */
  perform(execution: Execution): Promise<Outcome | null>
}

export function createPerformer(parts: {
  outcomes: OutcomeRecorder
  /** Over connections that handlers may hold for as long as they take. */
  transactions: Store
  clock: Clock
  logger: Logger
  rules: readonly NoticeRule[]
  /** Its handler has ended; how is still to be written down. */
  onHandled(execution: Execution): void
  onFollowed(followed: Followed): void
}): Performer {
  const { outcomes, transactions, clock, logger, rules, onHandled, onFollowed } = parts
  const { channel } = transactions
  const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))

  function perform(execution: Execution): Promise<Outcome | null> {
    if (execution.job.transactional)
      return performInTransaction(execution).finally(() => onHandled(execution))
    const outcome = execute(execution, parts)
    return 'then' in outcome
      ? outcome.then((settled) => handled(execution, settled))
      : handled(execution, outcome)
  }

  function handled(execution: Execution, outcome: Outcome): Promise<Outcome | null> {
    onHandled(execution)
    return recordUntilHeard(execution, outcome)
  }

  /**
   * The handler's writes and the run's success commit together; the fence is part of that transaction. A failure is
   * recorded apart, without waiting for the rollback: a statement of the handler's may hold it up.
   */
  async function performInTransaction(execution: Execution): Promise<Outcome | null> {
    const failed = deferred<Outcome>()
    let done: { outcome: Outcome; recorded: Recorded } | undefined
    const committed = beginWhenPossible(execution, async (session, tx) => {
      const outcome = await execute(execution, parts, tx)
      if (outcome.state !== 'succeeded') {
        failed.resolve(outcome)
        throw new RolledBack()
      }
      const recorded = await recordIn(session, [outcome], { channel, rules })
      if (!recorded.counted[0]) throw new LeaseGone()
      done = { outcome, recorded }
    })
    try {
      const failure = await Promise.race([committed, failed.promise])
      if (failure) {
        committed.catch(() => {})
        return await recordUntilHeard(execution, failure)
      }
    } catch (error) {
      if (error instanceof LeaseGone || error instanceof NotBegun) return null
      if (error instanceof RolledBack) return recordUntilHeard(execution, await failed.promise)
      // The commit failed, or its answer was lost: if it was done after all, the fence refuses this.
      const failure = await recordUntilHeard(execution, outcomeOf(execution, failureOf(error, execution)))
      if (failure || !done || !(await wasRecorded(transactions, done.outcome).catch(() => false)))
        return failure
    }
    const { outcome, recorded } = done!
    onFollowed(recorded)
    await followLater(transactions, recorded.unlocked, rules).then(onFollowed, (error) =>
      logger.warn({ err: error }, 'a lane is filled later'),
    )
    return outcome
  }

  /**
   * Waits until there is a connection for it, which is no failure of its handler, and costs it neither an attempt nor its
   * timeout. What is lost, cancelled or given back by then is not begun.
   */
  async function beginWhenPossible(
    execution: Execution,
    work: (session: Session, tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { interrupt, job } = execution
    execution.isWaiting = true
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
      try {
        await takeOutOfLot(execution)
        return await transactions.database.longTransaction(
          async (tx) => {
            if (interrupt.reason || execution.isGivenUp) throw new NotBegun()
            execution.isWaiting = false
            await work(transactions.over(tx), tx)
          },
          { silentMs: job.leaseMs },
        )
      } catch (error) {
        if (!execution.isWaiting || error instanceof NotBegun) throw error
        logger.warn({ ...runFacts(execution.row), err: error }, 'a transactional run waits for a connection')
        await pause(backoffMs)
        if (interrupt.reason || execution.isGivenUp) throw new NotBegun()
      }
    }
  }

  /** Its transaction would share the row of its lot with those of the others: they would wait for each other, or fail. */
  async function takeOutOfLot({ row, lease }: Execution): Promise<void> {
    if (row.lot_id === null) return
    await unpackRuns(transactions, [row.id])
    row.lot_id = null
    lease.lotId = null
  }

  /**
   * The work is done; what is left is to say so. While the database is away the lease keeper goes on too, and if the
   * lease is lost in the end the fence refuses the outcome. Returns what was recorded.
   */
  async function recordUntilHeard(execution: Execution, told: Outcome): Promise<Outcome | null> {
    let outcome = told
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
      // What fails because it was cut off is given back instead.
      if (execution.isGivenUp && outcome.state !== 'succeeded') return null
      try {
        return (await outcomes.record(outcome)) ? outcome : null
      } catch (error) {
        if (execution.isGivenUp) return null
        logger.warn({ ...runFacts(execution.row), err: error }, 'an outcome could not be recorded yet')
        if (isRefusal(error)) outcome = bare(outcome, error)
        await pause(backoffMs)
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
class NotBegun extends Error {}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
