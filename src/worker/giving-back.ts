import { leaseKey, releaseLeases } from '../store/queries/leases.js'
import { recordOutcomes } from '../store/queries/outcomes.js'
import type { Store } from '../store/store.js'
import { type Execution, outcomeOf } from './execute.js'
import type { LeaseKeeper } from './lease-keeper.js'

const STALE = {
  state: 'failed',
  delayMs: 0,
  code: 'stale_lease',
  message: 'The worker stopped before the handler had ended, and the job is not to be tried twice.',
  stack: null,
} as const

/**
 * Gives back what a worker that stops still holds, without spending an attempt, but for runs that must not be tried twice and
 * have begun: those have failed. Called before their handlers hear of it: what they say then is refused.
 */
export async function giveBack(
  store: Store,
  leases: LeaseKeeper,
  executions: readonly Execution[],
): Promise<void> {
  for (const execution of executions) execution.isGivenUp = true
  const unfinished = new Map(leases.held().map((lease) => [leaseKey(lease), lease]))
  const stale = executions.filter(({ row, leaseToken, job, isWaiting }) => {
    return job.onStale === 'fail' && !isWaiting && unfinished.delete(leaseKey({ runId: row.id, leaseToken }))
  })
  if (stale.length > 0)
    await recordOutcomes(
      store,
      stale.map((execution) => outcomeOf(execution, STALE)),
    )
  if (unfinished.size > 0) await releaseLeases(store, [...unfinished.values()])
}
