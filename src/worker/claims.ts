import type { Chance } from '../chance.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { randomUuid } from '../runs/uuid.js'
import { isMoved } from '../store/moved.js'
import { type ClaimedRow, claimRuns, msUntilEligible, releaseClaims } from '../store/queries/claiming.js'
import type { Store } from '../store/store.js'

/** How a worker comes by its runs. What a claim took whose answer was lost, nobody works on: it is given back first. */
export interface Claims {
  /** Takes at most `limit` runs whose jobs are here, all under one lease token. */
  take(limit: number): Promise<{ rows: readonly ClaimedRow[]; leaseToken: string }>
  /** Gives back what nobody works on: claims whose answer was lost, and this one if it is named. No attempt is spent. */
  giveBack(leaseToken?: string): Promise<void>
  /** When the next run may be claimed, 0 if one may be now; null where none is known of. */
  msUntilMore(): Promise<number | null>
}

export function createClaims(
  store: Store,
  jobs: JobRegistry,
  { workerId, queues, chance }: { workerId: string; queues: readonly string[]; chance: Chance },
): Claims {
  /** Tokens of claims whose answer is awaited, or was lost. */
  const unanswered = new Set<string>()
  const lots = { areWaiting: false }
  /** Whose turn it is: where places come free one by one, a flood in the first queue would have them all. */
  let turn = 0

  function queuesInTurn(): readonly string[] {
    turn = (turn + 1) % queues.length
    return [...queues.slice(turn), ...queues.slice(0, turn)]
  }

  async function giveBack(leaseToken?: string): Promise<void> {
    if (leaseToken !== undefined) unanswered.add(leaseToken)
    if (unanswered.size === 0) return
    await releaseClaims(store, [...unanswered])
    unanswered.clear()
  }

  return {
    giveBack,
    async take(limit) {
      await giveBack()
      const leaseToken = randomUuid(chance)
      unanswered.add(leaseToken)
      const claim = { workerId, leaseToken, queues: queuesInTurn(), jobs: jobs.all(), limit, lots }
      const rows = await claimRuns(store, claim).catch((error) => {
        // Nothing is claimed there, and nothing can be given back.
        if (isMoved(error)) unanswered.delete(leaseToken)
        throw error
      })
      unanswered.delete(leaseToken)
      return { rows, leaseToken }
    },
    msUntilMore: () => msUntilEligible(store, { queues, jobs: jobs.all().map(({ name }) => name) }),
  }
}
