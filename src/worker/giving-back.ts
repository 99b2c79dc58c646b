import type { NoticeRule } from '../runs/notification.js'
import type { Followed } from '../store/queries/ends.js'
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
  rules: readonly NoticeRule[],
): Promise<Followed> {
  for (const execution of executions) execution.isGivenUp = true
  const unfinished = new Map(leases.held().map((lease) => [leaseKey(lease), lease]))
  const stale = executions.filter(({ row, leaseToken, job, isWaiting }) => {
    return job.onStale === 'fail' && !isWaiting && unfinished.delete(leaseKey({ runId: row.id, leaseToken }))
  })
  const outcomes = stale.map((execution) => outcomeOf(execution, STALE))
  const { broken, notices } =
    outcomes.length > 0 ? await recordOutcomes(store, outcomes, rules) : { broken: [], notices: [] }
  if (unfinished.size > 0) await releaseLeases(store, [...unfinished.values()])
  return { broken, notices }
}
