import { msUntil } from '../ms-until.js'
import type { Session, Store } from '../store.js'
import { claimFree } from './claim-free.js'
import { claimLimited } from './claim-limited.js'
import { type Claim, type ClaimableJob, type ClaimedRow, MAY_CLAIM } from './claim-parts.js'
import { type Fronts, frontParams, inLine, type LineTable, levelsFrom } from './fronts.js'

export type { Claim, ClaimedRow } from './claim-parts.js'

/**
 * Leases up to `limit` runs: in each queue priority first, then age, and what another worker is just claiming is passed
 * over. Queues share the limit, so that a flood in one does not stop another.
 *
 * Limits are counted under a lock, so that two workers do not both take the last place. Nobody waits for it: jobs of which
 * another worker is just counting are left to that one.
 */
export async function claimRuns(store: Store, claim: Claim): Promise<ClaimedRow[]> {
  const free = claim.jobs.filter((job) => !isLimited(job))
  const limited = claim.jobs.filter(isLimited)
  const rows =
    limited.length === 0
      ? await claimFree(store, claim)
      : await store.transaction((session) => claimLimited(session, store.schema, claim, { free, limited }))
  return rows.sort(inOrder)
}

/** Priority first, then age: the order in which they were picked. */
function inOrder(a: ClaimedRow, b: ClaimedRow): number {
  return (
    b.priority - a.priority || a.eligible_at.getTime() - b.eligible_at.getTime() || (a.id < b.id ? -1 : 1)
  )
}

export function isLimited({ concurrency, concurrencyKey }: ClaimableJob): boolean {
  return concurrency !== null || concurrencyKey !== null
}

/** Gives back what a claim took whose answer was lost: nobody works on it, and no attempt is spent. */
export async function releaseClaims(session: Session, leaseTokens: readonly string[]): Promise<void> {
  await session.query(
    `with lots as (
       update {schema}.lots
       set worker_id = null, lease_token = null, lease_expires_at = null, started_at = null, max_attempts = null,
         fails_when_stale = null
       where lease_token = any($1)
     )
     update {schema}.runs_open
     set state = case attempt when 1 then 'pending' else 'retrying' end, attempt = attempt - 1, worker_id = null,
       lease_token = null, lease_expires_at = null
     where state = 'running' and lease_token = any($1)`,
    [leaseTokens],
  )
}

/** Milliseconds until the next run of these queues and jobs may be claimed; null when none waits. */
export function msUntilEligible(
  session: Session,
  { queues, jobs, from }: { queues: readonly string[]; jobs: readonly string[]; from?: Fronts | null },
): Promise<number | null> {
  return msUntil(
    session,
    'next run',
    `select min(eligible_at) from (
       ${earliestIn('runs_open')}
       union all
       ${earliestIn('lots')}
     ) as first
     where (select ${MAY_CLAIM} from {schema}.control)`,
    [queues, jobs, ...frontParams(from)],
  )
}

const earliestIn = (table: LineTable) => `
       select first.eligible_at
       from unnest($2::text[]) as q (queue) cross join lateral (
         ${levelsFrom(4, table)}
         select one.eligible_at
         from level cross join lateral (
           select eligible_at from {schema}.${table}
           where ${inLine(table)} and priority = level.priority and job = any($3)
             and eligible_at >= least(level.free_since, level.limited_since)
           order by eligible_at, id limit 1
         ) as one
       ) as first`
