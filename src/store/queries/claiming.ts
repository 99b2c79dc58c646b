import { msUntil } from '../ms-until.js'
import type { RunRow } from '../rows.js'
import { NOW, type Session, type Store } from '../store.js'

interface ClaimableJob {
  name: string
  leaseMs: number
  retry: { readonly attempts: number }
  onStale: 'retry' | 'fail'
  /** How many of its runs may be worked on at once in all processes; null for any number. */
  concurrency: number | null
  /** The path into the input of which one run is worked on at a time; null for none. */
  concurrencyKey: readonly string[] | null
}

export interface Claim {
  workerId: string
  leaseToken: string
  /** The one whose turn it is first: it has the only place where there is but one. */
  queues: readonly string[]
  /** The jobs that this worker has. */
  jobs: readonly ClaimableJob[]
  limit: number
}

/** What a worker needs to know of a run that it has claimed; the rest follows from that. */
export type ClaimedRow = Pick<RunRow, (typeof ASKED_COLUMNS | typeof OPEN_COLUMNS)[number]> & {
  schedule_name: string | null
  timing: unknown
  has_breaker: boolean
  /** Of the span that asked for it. */
  trace_context: string | null
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
  'key',
  'created_at',
] as const
const OPEN_COLUMNS = ['eligible_at', 'attempt', 'lane', 'started_at', 'error_code', 'error_message'] as const

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

/** That of the version by which it was planned, also where its schedule has been edited or deleted since. */
const TIMING_OF_RUN = `case asked.schedule_version when s.version then s.timing else (
    select c.after->'timing' from {schema}.changes as c
    where c.schedule_id = asked.schedule_id and c.after is not null and c.version <= asked.schedule_version
    order by c.id desc limit 1
  ) end`

/**
 * Leases what `picked` names. By an array, which leads to the primary key however large the table is. The lease says what
 * becomes of the run if its worker is lost: as the code has it that works on it, whatever others have published since.
 */
const LEASE_PICKED = `
  claimed as (
    update {schema}.runs_open as r
    set state = 'running', attempt = r.attempt + 1, worker_id = $2, lease_token = $3, started_at = clock.now,
      lease_expires_at = clock.now + job.lease_ms * interval '1 millisecond', max_attempts = job.attempts,
      fails_when_stale = job.fails, progress = null, progress_note = null, totals = null
    from clock, unnest($4::text[], $5::float8[], $6::int[], $7::boolean[]) as job (name, lease_ms, attempts, fails)
    where r.id = any(array(select id from picked)) and r.job = job.name
    returning r.id, r.has_counted, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')}
  )
  select ${ASKED_COLUMNS.map((name) => `asked.${name}`).join(', ')}, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')},
    asked.trace_context, s.name as schedule_name, ${TIMING_OF_RUN} as timing,
    coalesce(s.policies->'breaker' <> 'null', false) and not r.has_counted as has_breaker
  from claimed as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = asked.schedule_id`

/** An operator has paused claiming, or somebody who is about to move everything waits for what runs. */
const MAY_CLAIM = `claiming_paused_at is null and coalesce(claiming_held_until <= ${NOW}, true)`

/** Nothing is claimed while claiming is paused. */
const CLOCK = `clock as materialized (select ${NOW} as now from {schema}.control where ${MAY_CLAIM})`

/** What a run `o` is told apart by, of a job that works on one at a time for each. */
const KEY = `(select asked.input #>> job.path from {schema}.runs_asked as asked, job
  where asked.id = o.id and job.name = o.job and job.has_key)`

const ORDER = 'turn, priority desc, eligible_at, id'

/**
 * Leases up to `limit` runs: in each queue priority first, then age, and what another worker is just claiming is passed
 * over. Queues share the limit, so that a flood in one does not stop another.
 *
 * Limits are counted under a lock, so that two workers do not both take the last place. Nobody waits for it: jobs of which
 * another worker is just counting are left to that one.
 */
export async function claimRuns(store: Store, claim: Claim): Promise<ClaimedRow[]> {
  const free = claim.jobs.filter((job) => !isLimited(job))
  const rows =
    free.length === claim.jobs.length
      ? await claimFree(store, claim)
      : await store.transaction(async (session) => {
          const locked = await lockLimits(session, store.schema, claim.jobs.filter(isLimited))
          return locked.length === 0
            ? claimFree(session, { ...claim, jobs: free })
            : claimLimited(session, { ...claim, jobs: [...free, ...locked] })
        })
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

function claimParams(session: Session, { workerId, leaseToken, jobs, queues, limit }: Claim) {
  return [
    session.now(),
    workerId,
    leaseToken,
    jobs.map(({ name }) => name),
    jobs.map(({ leaseMs }) => leaseMs),
    jobs.map(({ retry }) => retry.attempts),
    jobs.map(({ onStale }) => onStale === 'fail'),
    queues,
    limit,
    Math.ceil(limit / queues.length),
  ] as const
}

async function claimFree(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  if (claim.jobs.length === 0) return []
  return session.query<ClaimedRow>(CLAIM_FREE, claimParams(session, claim))
}

const CLAIM_FREE = `
  with ${CLOCK},
  picked as materialized (
    select share.id
    from unnest($8::text[]) as q (queue) cross join lateral (
      ${PRIORITIES}
      select run.id
      from level cross join lateral (
        select id
        from {schema}.runs_open
        where ${WAITING} and queue = q.queue and priority = level.priority and job = any($4)
          and eligible_at <= (select now from clock)
        order by eligible_at, id
        limit $10
        for update skip locked
      ) as run
      limit $10
    ) as share
    limit $9
  ),
  ${LEASE_PICKED}`

/** Those of these jobs whose limits this transaction may count from here on. */
async function lockLimits(
  session: Session,
  schema: string,
  limited: readonly ClaimableJob[],
): Promise<ClaimableJob[]> {
  const rows = await session.query<{ is_locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended(lock.name, 0)) as is_locked
     from unnest($1::text[]) with ordinality as lock (name, position) order by lock.position`,
    [limited.map(({ name }) => `${schema} claim ${name}`)],
  )
  return limited.filter((_, index) => rows[index]!.is_locked)
}

function claimLimited(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  return session.query<ClaimedRow>(CLAIM_LIMITED, [
    ...claimParams(session, claim),
    claim.jobs.map(({ concurrency }) => concurrency),
    claim.jobs.map(({ concurrencyKey }) => concurrencyKey && JSON.stringify(concurrencyKey)),
  ])
}

/**
 * A limit only takes candidates away: those of jobs that have no place left and of keys that are busy. Of the first tenfold
 * of the others, which may be of one key, at least one can be picked; the next claim then passes its like over.
 */
const CLAIM_LIMITED = `
  with ${CLOCK},
  job as materialized (
    select name, concurrency, array(select jsonb_array_elements_text(path::jsonb)) as path, path is not null as has_key
    from unnest($4::text[], $11::int[], $12::text[]) as job (name, concurrency, path)
  ),
  busy as materialized (
    select o.job, case when job.has_key then asked.input #>> job.path end as key
    from job
    join {schema}.runs_open as o on o.state = 'running' and o.job = job.name
    join {schema}.runs_asked as asked on asked.id = o.id
    where job.concurrency is not null or job.has_key
  ),
  place as materialized (
    select name, concurrency - (select count(*) from busy where busy.job = job.name) as places from job
    where concurrency is not null
  ),
  waiting as materialized (
    select q.turn, run.*
    from unnest($8::text[]) with ordinality as q (queue, turn) cross join lateral (
      ${PRIORITIES}
      select run.*
      from level cross join lateral (
        select o.id, o.job, o.priority, o.eligible_at, ${KEY} as key
        from {schema}.runs_open as o
        where ${WAITING} and o.queue = q.queue and o.priority = level.priority and o.eligible_at <= (select now from clock)
          and o.job = any(array(select name from job except select name from place where places <= 0))
          and (o.job <> all(array(select name from job where has_key))
            or not exists (select from busy where busy.job = o.job and busy.key = ${KEY}))
        order by o.eligible_at, o.id
        limit $10 * 10
        for update of o skip locked
      ) as run
      limit $10 * 10
    ) as run
  ),
  of_keys as (
    select *, key is null or row_number() over (partition by job, key order by ${ORDER}) = 1 as is_first_of_its_key
    from waiting
  ),
  of_jobs as (
    select of_keys.*, row_number() over (partition by job order by ${ORDER}) as number
    from of_keys where is_first_of_its_key
  ),
  of_queues as (
    select of_jobs.*, row_number() over (partition by turn order by ${ORDER}) as share
    from of_jobs left join place on place.name = of_jobs.job
    where place.places is null or of_jobs.number <= place.places
  ),
  picked as materialized (
    select id from of_queues where share <= $10 order by ${ORDER} limit $9
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
     where (select ${MAY_CLAIM} from {schema}.control)`,
    [queues, jobs],
  )
}
