import { msUntil } from '../ms-until.js'
import type { Session, Store } from '../store.js'
import { claimFree } from './claim-free.js'
import { claimLimited } from './claim-limited.js'
import { type Claim, type ClaimableJob, type ClaimedRow, inOrder, MAY_CLAIM } from './claim-parts.js'
import { type Fronts, frontParams, inLine, type LineTable, levelsFrom } from './fronts.js'

export type { Claim, ClaimedRow, Counted } from './claim-parts.js'

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

export function isLimited({ concurrency, concurrencyKey }: ClaimableJob): boolean {
  return concurrency !== null || concurrencyKey !== null
}

/** Gives back what a claim took whose answer was lost: nobody works on it, and no attempt is spent. Returns whether there was anything. */
export async function releaseClaims(session: Session, leaseTokens: readonly string[]): Promise<boolean> {
  const [row] = await session.query<{ released: boolean }>(
    `with lots as (
       update {schema}.lots
       set worker_id = null, lease_token = null, lease_expires_at = null, started_at = null, max_attempts = null,
         fails_when_stale = null
       where lease_token = any($1)
       returning true
     ),
     runs as (
       update {schema}.runs_open
       set state = case attempt when 1 then 'pending' else 'retrying' end, attempt = attempt - 1, worker_id = null,
         lease_token = null, lease_expires_at = null
       where state = 'running' and lease_token = any($1)
       returning true
     )
     select exists (select from lots) or exists (select from runs) as released`,
    [leaseTokens],
  )
  return row!.released
}

/** Milliseconds until the next run of these queues and jobs may be claimed; null when none waits, or none may be claimed. */
export async function msUntilEligible(session: Session, line: Line): Promise<number | null> {
  const ms = await msUntilNext(session, line)
  return ms === 'paused' ? null : ms
}

interface Line {
  queues: readonly string[]
  jobs: readonly string[]
  from?: Fronts | null
}

/** The same, told apart. */
export async function msUntilNext(
  session: Session,
  { queues, jobs, from }: Line,
): Promise<number | null | 'paused'> {
  const ms = await msUntil(
    session,
    'next run',
    `select case when (select ${MAY_CLAIM} from {schema}.control) then min(eligible_at) else ${NEVER} end from (
       ${earliestIn('runs_open')}
       union all
       ${earliestIn('lots')}
     ) as first`,
    [queues, jobs, ...frontParams(from)],
  )
  return ms !== null && ms > NEVER_MS ? 'paused' : ms
}

const NEVER = `timestamptz '9999-12-31T00:00:00Z'`
const NEVER_MS = 1e14

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
