import { msUntil } from '../ms-until.js'
import { NOW, type Session, type Store } from '../store.js'
import { fillLanes, lockAndFillLanes, lockLanes } from './lanes.js'
import { EMPTIED, leaseKey } from './runs.js'

export interface HeldLease {
  runId: string
  leaseToken: string
  leaseMs: number
}

/** Renews all of a worker's leases at once. Returns those that are still its own, as `leaseKey` writes them. */
export async function renewLeases(session: Session, leases: readonly HeldLease[]): Promise<Set<string>> {
  const rows = await session.query<{ id: string; lease_token: string }>(
    `with clock as materialized (select ${NOW} as now)
     update {schema}.runs as r
     set lease_expires_at = clock.now + held.lease_ms * interval '1 millisecond'
     from clock, unnest($2::uuid[], $3::uuid[], $4::float8[]) as held (id, lease_token, lease_ms)
     where r.id = held.id and r.state = 'running' and r.lease_token = held.lease_token
     returning r.id, r.lease_token`,
    [
      session.now(),
      leases.map(({ runId }) => runId),
      leases.map(({ leaseToken }) => leaseToken),
      leases.map(({ leaseMs }) => leaseMs),
    ],
  )
  return new Set(rows.map(({ id, lease_token }) => leaseKey({ runId: id, leaseToken: lease_token })))
}

/** Gives runs back whose handlers did not finish before a shutdown: claimable at once, and no attempt is spent. */
export async function releaseLeases(session: Session, leases: readonly HeldLease[]): Promise<void> {
  await session.query(
    `update {schema}.runs as r
     set state = case r.attempt when 1 then 'pending' else 'retrying' end, attempt = r.attempt - 1,
       worker_id = null, lease_token = null, lease_expires_at = null
     from unnest($1::uuid[], $2::uuid[]) as held (id, lease_token)
     where r.id = held.id and r.state = 'running' and r.lease_token = held.lease_token`,
    [leases.map(({ runId }) => runId), leases.map(({ leaseToken }) => leaseToken)],
  )
}

export interface RecoveredRun {
  id: string
  state: 'retrying' | 'failed'
  attempt: number
  job: string
  schedule_id: string | null
  schedule_name: string | null
  scope: string | null
  plan_time: Date | null
  error_code: string
  error_message: string
  /** The schedule whose lane 0 it has left. */
  emptied: string | null
}

/**
 * Takes runs away from workers that stopped renewing: the attempt is recorded as `lease_lost`, and the run may be
 * claimed at once, or has failed if that was its last attempt. Only jobs whose retry policy the caller knows, and
 * never what the caller holds itself: its renewal decides about those.
 */
export async function recoverExpiredLeases(
  store: Store,
  jobs: readonly { name: string; attempts: number }[],
  { held, limit }: { held: readonly string[]; limit: number },
): Promise<RecoveredRun[]> {
  const names = jobs.map(({ name }) => name)
  const recover = (session: Session) => {
    const attempts = jobs.map((job) => job.attempts)
    return session.query<RecoveredRun>(RECOVER_EXPIRED_LEASES, [session.now(), names, attempts, limit, held])
  }
  const laned = await store.query<{ schedule_id: string }>(
    `select distinct schedule_id from {schema}.runs
     where state = 'running' and lease_expires_at <= (select ${NOW}) and job = any($2) and lane is not null`,
    [store.now(), names],
  )
  const emptiedBy = (recovered: readonly RecoveredRun[]) => recovered.flatMap(({ emptied }) => emptied ?? [])
  if (laned.length === 0) {
    const recovered = await recover(store)
    const emptied = emptiedBy(recovered)
    if (emptied.length > 0) await lockAndFillLanes(store, emptied)
    return recovered
  }
  return store.transaction(async (session) => {
    await lockLanes(
      session,
      laned.map(({ schedule_id }) => schedule_id),
    )
    const recovered = await recover(session)
    await fillLanes(session, emptiedBy(recovered))
    return recovered
  })
}

const RECOVER_EXPIRED_LEASES = `
  with clock as materialized (select ${NOW} as now),
  expired as materialized (
    select id
    from {schema}.runs
    where state = 'running' and lease_expires_at <= (select now from clock) and job = any($2) and id <> all($5::uuid[])
    order by lease_expires_at
    limit $4
    for update skip locked
  ),
  recovered as (
    update {schema}.runs as r
    set state = case when r.attempt >= job.attempts then 'failed' else 'retrying' end,
      finished_at = case when r.attempt >= job.attempts then clock.now end,
      eligible_at = clock.now, lease_token = null, lease_expires_at = null, error_code = 'lease_lost',
      error_message = 'The worker stopped renewing its lease.'
    from expired, clock, unnest($2::text[], $3::int[]) as job (name, attempts)
    where r.id = expired.id and r.job = job.name
    returning r.id, r.state, r.schedule_id, r.scope, r.lane, r.attempt, r.job, r.plan_time, r.worker_id, r.started_at, clock.now,
      r.error_code, r.error_message
  ),
  lost as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message)
    select id, attempt, worker_id, started_at, now, error_code, error_message from recovered
  )
  select r.id, r.state, r.attempt, r.job, r.schedule_id, s.name as schedule_name, r.scope, r.plan_time, r.error_code,
    r.error_message, r.emptied
  from (select *, ${EMPTIED} from recovered) as r left join {schema}.schedules as s on s.id = r.schedule_id`

/** Milliseconds until a lease of these jobs expires, unless it is renewed; null when none is held. */
export function msUntilLeaseExpires(session: Session, jobs: readonly string[]): Promise<number | null> {
  return msUntil(
    session,
    `select min(lease_expires_at) from {schema}.runs where state = 'running' and job = any($2)`,
    [jobs],
  )
}
