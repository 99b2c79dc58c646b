import { createGatherer } from '../gather.js'
import type { NoticeRule } from '../runs/notification.js'
import type { Followed } from '../store/queries/ends.js'
import { type Outcome, recordOutcomes } from '../store/queries/outcomes.js'
import { isRefusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'

/** Writes outcomes down: an idle worker's goes out at once, a busy one's share a statement. */
export interface OutcomeRecorder {
  /** Resolves once it is durable: true if it counted, false if the lease was lost before. */
  record(outcome: Outcome): Promise<boolean>
  /** Resolves when nothing is left to write. */
  idle(): Promise<void>
}

export function createOutcomeRecorder(
  store: Store,
  rules: readonly NoticeRule[],
  { onFollowed, onLanesFilled }: { onFollowed(followed: Followed): void; onLanesFilled(): void },
): OutcomeRecorder {
  const { write, idle } = createGatherer<Outcome, boolean>({
    async writeBatch(outcomes) {
      const recorded = await recordOutcomes(store, outcomes, rules)
      onFollowed(recorded)
      if (recorded.unlocked.length > 0) onLanesFilled()
      return recorded.counted
    },
    isDivisible: isRefusal,
  })
  return { record: write, idle }
}
