import { msUntil } from '../ms-until.js'
import type { RunRow } from '../rows.js'
import { NOW, type Session, type Store } from '../store.js'

interface ClaimableJob {
  name: string
  leaseMs: number
  /** How many of its runs may be worked on at once in all processes; null for any number. */
  concurrency: number | null
  /** The path into the input of which one run is worked on at a time; null for none. */
  concurrencyKey: readonly string[] | null
}

export interface Claim {
  workerId: string
  leaseToken: string
  queues: readonly string[]
  /** The jobs that this worker has, and for how long it leases a run of each. */
  jobs: readonly ClaimableJob[]
  limit: number
}

/** What a worker needs to know of a run that it has claimed; the rest follows from that. */
export type ClaimedRow = Pick<RunRow, (typeof ASKED_COLUMNS | typeof OPEN_COLUMNS)[number]> & {
  schedule_name: string | null
  timing: unknown
  has_breaker: boolean
}

const ASKED_COLUMNS = [
  'id',
  'job',
  'input',
  'queue',
  'priority',
  'trigger',
  'schedule_id',
  'schedule_version',
  'scope',
  'plan_time',
  'created_at',
] as const
const OPEN_COLUMNS = ['eligible_at', 'attempt', 'lane', 'started_at'] as const

const WAITING = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`

/**
 * The priorities that wait in a queue, the highest first, each found by one look into the index. Within one of them the
 * index is in the order of eligibility, so that runs of a later time are never walked over.
 */
const PRIORITIES = `with recursive level (priority) as (
    select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue
    union all
    select (select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue and priority < level.priority)
    from level where level.priority is not null
  )`

/** Leases what `picked` names. By an array, which leads to the primary key however large the table is. */
const LEASE_PICKED = `
  claimed as (
    update {schema}.runs_open as r
    set state = 'running', attempt = r.attempt + 1, worker_id = $2, lease_token = $3, started_at = clock.now,
      lease_expires_at = clock.now + job.lease_ms * interval '1 millisecond', progress = null, progress_note = null,
      totals = null
    from clock, unnest($4::text[], $5::float8[]) as job (name, lease_ms)
    where r.id = any(array(select id from picked)) and r.job = job.name
    returning r.id, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')}
  )
  select ${ASKED_COLUMNS.map((name) => `asked.${name}`).join(', ')}, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')},
    s.name as schedule_name, s.timing, coalesce(s.policies->'breaker' <> 'null', false) as has_breaker
  from claimed as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = asked.schedule_id`

/** Nothing is claimed while claiming is paused. */
const CLOCK = `clock as materialized (
    select ${NOW} as now from {schema}.control where claiming_paused_at is null
  )`

/**
 * Leases up to `limit` runs: in each queue priority first, then age, and what another worker is just claiming is passed
 * over. Queues share the limit, so that a flood in one does not stop another.
 */
export async function claimRuns(store: Store, claim: Claim): Promise<ClaimedRow[]> {
  const limited = claim.jobs.filter(isLimited)
  const free = claim.jobs.filter((job) => !isLimited(job))
  const rows: ClaimedRow[] = []
  // Each of them has its share, and all others together have the rest: none can fill the worker alone.
  const share = Math.ceil(claim.limit / (limited.length + 1))
  for (const job of limited) {
    const limit = Math.min(share, claim.limit - rows.length)
    if (limit > 0) rows.push(...(await claimLimited(store, { ...claim, limit }, job)))
  }
  const limit = claim.limit - rows.length
  if (free.length > 0 && limit > 0) rows.push(...(await claimFree(store, { ...claim, jobs: free, limit })))
  return rows.sort(inOrder)
}

/** Priority first, then age: the order in which they were picked. */
function inOrder(a: ClaimedRow, b: ClaimedRow): number {
  return (
    b.priority - a.priority || a.eligible_at.getTime() - b.eligible_at.getTime() || (a.id < b.id ? -1 : 1)
  )
}

function isLimited({ concurrency, concurrencyKey }: ClaimableJob): boolean {
  return concurrency !== null || concurrencyKey !== null
}

function claimFree(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  return session.query<ClaimedRow>(CLAIM_RUNS, [
    ...claimParams(session, claim),
    claim.queues,
    claim.limit,
    Math.ceil(claim.limit / claim.queues.length),
  ])
}

function claimParams(session: Session, { workerId, leaseToken, jobs }: Claim) {
  return [
    session.now(),
    workerId,
    leaseToken,
    jobs.map(({ name }) => name),
    jobs.map(({ leaseMs }) => leaseMs),
  ] as const
}

const CLAIM_RUNS = `
  with ${CLOCK},
  picked as materialized (
    select share.id
    from unnest($6::text[]) as q (queue) cross join lateral (
      ${PRIORITIES}
      select run.id
      from level cross join lateral (
        select id
        from {schema}.runs_open
        where ${WAITING} and queue = q.queue and priority = level.priority and job = any($4)
          and eligible_at <= (select now from clock)
        order by eligible_at, id
        limit $8
        for update skip locked
      ) as run
      limit $8
    ) as share
    limit $7
  ),
  ${LEASE_PICKED}`

/**
 * The same for one job of which only so many may run at once: counted under a lock, so that two workers do not both
 * take the last place.
 */
function claimLimited(store: Store, claim: Claim, job: ClaimableJob): Promise<ClaimedRow[]> {
  return store.transaction(async (session) => {
    await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${store.schema} claim ${job.name}`,
    ])
    return session.query<ClaimedRow>(CLAIM_LIMITED, [
      ...claimParams(session, { ...claim, jobs: [job] }),
      claim.queues,
      claim.limit,
      job.concurrency,
      job.concurrencyKey,
    ])
  })
}

const CLAIM_LIMITED = `
  with ${CLOCK},
  busy as materialized (
    select asked.input #>> $9::text[] as key
    from {schema}.runs_open as o join {schema}.runs_asked as asked on asked.id = o.id
    where o.state = 'running' and o.job = any($4)
  ),
  waiting as materialized (
    select run.id, run.priority, run.eligible_at, run.key
    from unnest($6::text[]) as q (queue) cross join lateral (
      select o.id, o.priority, o.eligible_at, asked.input #>> $9::text[] as key
      from {schema}.runs_open as o join {schema}.runs_asked as asked on asked.id = o.id
      where o.state in ('pending', 'retrying') and coalesce(o.lane, 0) = 0 and o.queue = q.queue and o.job = any($4)
        and o.eligible_at <= (select now from clock)
        and not exists (select from busy where busy.key = asked.input #>> $9::text[])
      order by o.priority desc, o.eligible_at, o.id
      limit $7 * 10
      for update of o skip locked
    ) as run
  ),
  ranked as (
    select id, priority, eligible_at, key is null
      or row_number() over (partition by key order by priority desc, eligible_at, id) = 1 as is_first_of_its_key
    from waiting
  ),
  picked as materialized (
    select id from ranked where is_first_of_its_key
    order by priority desc, eligible_at, id
    limit least($7::bigint, greatest(coalesce($8::bigint - (select count(*) from busy), $7::bigint), 0))
  ),
  ${LEASE_PICKED}`

/** Gives back what a claim took whose answer was lost: nobody works on it, and no attempt is spent. */
export async function releaseClaims(session: Session, leaseTokens: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.runs_open
     set state = case attempt when 1 then 'pending' else 'retrying' end, attempt = attempt - 1, worker_id = null,
       lease_token = null, lease_expires_at = null
     where state = 'running' and lease_token = any($1)`,
    [leaseTokens],
  )
}

/** Milliseconds until the next run of these queues and jobs may be claimed; null when none waits. */
export function msUntilEligible(
  session: Session,
  { queues, jobs }: { queues: readonly string[]; jobs: readonly string[] },
): Promise<number | null> {
  return msUntil(
    session,
    `select min(first.eligible_at)
     from unnest($2::text[]) as q (queue) cross join lateral (
       ${PRIORITIES}
       select run.eligible_at
       from level cross join lateral (
         select eligible_at from {schema}.runs_open
         where ${WAITING} and queue = q.queue and priority = level.priority and job = any($3)
         order by eligible_at, id limit 1
       ) as run
     ) as first
     where (select claiming_paused_at is null from {schema}.control)`,
    [queues, jobs],
  )
}
