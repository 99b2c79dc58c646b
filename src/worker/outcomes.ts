import { leaseKey, type Outcome, recordOutcomes } from '../store/queries/runs.js'
import { isRefusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'

/**
 * Writes outcomes down in batches that fill while the previous batch is under way: an idle worker's outcome goes out
 * at once, a busy one's share a statement, and nobody waits for a timer.
 */
export interface OutcomeRecorder {
  /** Resolves once it is durable: true if it counted, false if the lease was lost before. */
  record(outcome: Outcome): Promise<boolean>
  /** Resolves when nothing is left to write. */
  idle(): Promise<void>
}

interface Waiting {
  outcome: Outcome
  resolve(counted: boolean): void
  reject(error: unknown): void
}

export function createOutcomeRecorder(store: Store): OutcomeRecorder {
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await write(batch)
    }
    writing = undefined
  }

  /** A batch that the database refuses is halved, until what it cannot store stands alone. */
  async function write(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = batch.map(({ outcome }) => outcome)
      const counted = await recordOutcomes(store, outcomes)
      for (const { outcome, resolve } of batch) resolve(counted.has(leaseKey(outcome)))
    } catch (error) {
      if (batch.length === 1 || !isRefusal(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const middle = Math.ceil(batch.length / 2)
      await write(batch.slice(0, middle))
      await write(batch.slice(middle))
    }
  }

  return {
    record: (outcome) =>
      new Promise((resolve, reject) => {
        waiting.push({ outcome, resolve, reject })
        writing ??= writeAll()
      }),
    idle: async () => writing,
  }
}
