import type { Chance } from '../chance.js'
import { monotonicMs } from '../clock.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { randomUuid } from '../runs/uuid.js'
import { frontOf, newestOf } from '../store/front.js'
import { isMoved } from '../store/moved.js'
import {
  type ClaimedRow,
  claimRuns,
  type FrontOfRuns,
  msUntilEligible,
  releaseClaims,
} from '../store/queries/claiming.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'

/** How a worker comes by its runs. What a claim took whose answer was lost, nobody works on: it is given back first. */
export interface Claims {
  /**
   * Takes at most `limit` runs whose jobs are here, all under one lease token. Now and then it may miss some that came to stand
   * before those it has taken already, unless it is told to look at the whole line.
   */
  take(
    limit: number,
    options?: { isWhole?: boolean },
  ): Promise<{ rows: readonly ClaimedRow[]; leaseToken: string }>
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
  const front = frontOf(store.database)
  /** Those of the runs that were ever taken here. */
  const priorities = new Set<number>()
  /** Whose turn it is: where places come free one by one, a flood in the first queue would have them all. */
  let turn = 0

  function queuesInTurn(): readonly string[] {
    turn = (turn + 1) % queues.length
    return [...queues.slice(turn), ...queues.slice(0, turn)]
  }

  function frontFrom(since: Instant | null): FrontOfRuns | null {
    return since === null ? null : { since, priorities: [...priorities].sort((a, b) => b - a) }
  }

  async function giveBack(leaseToken?: string): Promise<void> {
    if (leaseToken !== undefined) unanswered.add(leaseToken)
    if (unanswered.size === 0) return
    await releaseClaims(store, [...unanswered])
    unanswered.clear()
  }

  return {
    giveBack,
    async take(limit, { isWhole = false } = {}) {
      await giveBack()
      const leaseToken = randomUuid(chance)
      unanswered.add(leaseToken)
      const claim = { workerId, leaseToken, queues: queuesInTurn(), jobs: jobs.all(), limit, lots }
      const since = isWhole ? null : front.since()
      const startedMs = monotonicMs()
      const rows = await claimRuns(store, { ...claim, from: frontFrom(since) }).catch((error) => {
        // Nothing is claimed there, and nothing can be given back.
        if (isMoved(error)) unanswered.delete(leaseToken)
        throw error
      })
      unanswered.delete(leaseToken)
      const ms = monotonicMs() - startedMs
      front.looked({ since, ms, count: rows.length, newest: newestOf(rows.map((row) => row.eligible_at)) })
      for (const { priority } of rows) priorities.add(priority)
      return { rows, leaseToken }
    },
    async msUntilMore() {
      const from = frontFrom(front.since())
      const ms = await msUntilEligible(store, { queues, jobs: jobs.all().map(({ name }) => name), from })
      return from === null ? ms : Math.min(ms ?? Number.POSITIVE_INFINITY, front.msUntilWhole())
    },
  }
}
