import { msUntil } from '../ms-until.js'
import { often } from '../often.js'
import type { RunRow } from '../rows.js'
import { NOW, type Session, type Store } from '../store.js'
import { unpackWaiting } from './lots.js'

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
  /** Whether lots were waiting when it was last asked: kept from one claim to the next. */
  lots?: { areWaiting: boolean }
}

/** What a worker needs to know of a run that it has claimed; the rest follows from that. */
export type ClaimedRow = Pick<RunRow, (typeof ASKED_COLUMNS | typeof OPEN_COLUMNS)[number]> & {
  /** The lot that it is in; null for one with a row of its own. */
  lot_id: string | null
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

/** Lots that wait, in the same order. */
const WAITING_LOT = 'lease_token is null'

/**
 * The priorities that wait in a queue, the highest first, each found by one look into the index. Within one of them the
 * index is in the order of eligibility, so that runs of a later time are never walked over.
 */
const prioritiesIn = (table: string, isWaiting: string) => `with recursive level (priority) as (
    select max(priority) from {schema}.${table} where ${isWaiting} and queue = q.queue
    union all
    select (select max(priority) from {schema}.${table} where ${isWaiting} and queue = q.queue and priority < level.priority)
    from level where level.priority is not null
  )`
const PRIORITIES = prioritiesIn('runs_open', WAITING)
const PRIORITIES_OF_LOTS = prioritiesIn('lots', WAITING_LOT)

/** That of the version by which it was planned, also where its schedule has been edited or deleted since. */
const TIMING_OF_RUN = `case asked.schedule_version when s.version then s.timing else (
    select c.after->'timing' from {schema}.changes as c
    where c.schedule_id = asked.schedule_id and c.after is not null and c.version <= asked.schedule_version
    order by c.id desc limit 1
  ) end`

/** What a claim says of the code that works on its runs, as the lease keeps it: whatever others have published since. */
const JOBS =
  'unnest($4::text[], $5::float8[], $6::int[], $7::boolean[]) as job (name, lease_ms, attempts, fails)'
const LEASE = `worker_id = $2, lease_token = $3, started_at = clock.now,
      lease_expires_at = clock.now + job.lease_ms * interval '1 millisecond', max_attempts = job.attempts,
      fails_when_stale = job.fails`

/** Leases the runs that `picked` names. By an array, which leads to the primary key however large the table is. */
const LEASE_PICKED = `
  claimed as (
    update {schema}.runs_open as r
    set state = 'running', attempt = r.attempt + 1, ${LEASE}, progress = null, progress_note = null, totals = null
    from clock, ${JOBS}
    where r.id = any(array(select id from picked)) and r.job = job.name
    returning r.id, r.has_counted, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')}
  )
  select null::uuid as lot_id, null::json as run_ids, null::json as inputs,
    ${ASKED_COLUMNS.map((name) => `asked.${name}`).join(', ')}, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')},
    asked.trace_context, s.name as schedule_name, ${TIMING_OF_RUN} as timing,
    coalesce(s.policies->'breaker' <> 'null', false) and not r.has_counted as has_breaker
  from claimed as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = asked.schedule_id`

/** The same for the lots: one row for all runs of each, with their ids and inputs side by side. */
const LEASE_LOTS = `
  rest as (
    insert into {schema}.lots (id, last_id, job, queue, priority, eligible_at, runs)
    select runs[taken + 1], last_id, job, queue, priority, eligible_at, runs[taken + 1:] from picked_lots where taken < size
  ),
  claimed_lots as (
    update {schema}.lots as l set runs = l.runs[1:p.taken], last_id = l.runs[p.taken], ${LEASE}
    from clock, picked_lots as p, ${JOBS}
    where l.id = any(array(select id from picked_lots)) and l.id = p.id and l.job = job.name
    returning l.*
  )`
const asClaimed = (runIds: string, inputs: string, traceContext: string) => `
  select l.id, ${runIds}, ${inputs}, l.id, l.job, null, l.queue, l.priority, 'direct', null, null, null, null, null,
    l.eligible_at, l.eligible_at, 1, null, l.started_at, null, null, ${traceContext}, null, null, false`
const OF_LOTS = `
  union all
  ${asClaimed('to_json(l.runs)', 'asked.inputs', 'asked.trace_context')}
  from claimed_lots as l cross join lateral (
    select json_agg(asked.input order by run.place) as inputs, min(asked.trace_context) as trace_context
    from unnest(l.runs) with ordinality as run (id, place)
    left join lateral (select * from {schema}.runs_asked as asked where asked.id = run.id offset 0) as asked on true
  ) as asked`

/** An operator has paused claiming, or somebody who is about to move everything waits for what runs. */
const MAY_CLAIM = `claiming_paused_at is null and coalesce(claiming_held_until <= ${NOW}, true)`

/** Nothing is claimed while claiming is paused. */
const CLOCK = `clock as materialized (select ${NOW} as now from {schema}.control where ${MAY_CLAIM})`

/** What a run `o` is told apart by, of a job that works on one at a time for each. */
const KEY = `(select asked.input #>> job.path from {schema}.runs_asked as asked, job
  where asked.id = o.id and job.name = o.job and job.has_key)`

const IN_LINE = 'priority desc, eligible_at, id'
const ORDER = `turn, ${IN_LINE}`

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
  const { lots = { areWaiting: false } } = claim
  const params = claimParams(session, claim)
  if (!lots.areWaiting) {
    const rows = await session.query<ClaimedRow>(CLAIM_RUNS, params)
    lots.areWaiting = rows.some(isOfLot)
    if (!lots.areWaiting) return rows
  }
  const rows = await session.query<ClaimedRow & RunsOfLot>(CLAIM_IN_LINE, [...params, MOST_LOTS])
  lots.areWaiting = rows.some(isOfLot)
  return rows.flatMap((row) => (isOfLot(row) ? runsOf(row) : row))
}

function isOfLot({ lot_id }: ClaimedRow): boolean {
  return lot_id !== null
}

/** Of each queue, in one claim: those of full lots are as many as any worker has at hand. */
const MOST_LOTS = 32

interface RunsOfLot {
  run_ids: string[]
  inputs: unknown[]
}

function runsOf({ run_ids, inputs, ...shared }: ClaimedRow & RunsOfLot): ClaimedRow[] {
  return run_ids.map((id, index) => ({ ...shared, id, input: inputs[index] }))
}

const PICK_RUNS = `
    select q.turn, run.*
    from unnest($8::text[]) with ordinality as q (queue, turn) cross join lateral (
      ${PRIORITIES}
      select run.*
      from level cross join lateral (
        select id, priority, eligible_at
        from {schema}.runs_open
        where ${WAITING} and queue = q.queue and priority = level.priority and job = any($4)
          and eligible_at <= (select now from clock)
        order by eligible_at, id
        limit $10
        for update skip locked
      ) as run
      limit $10
    ) as run`

/** Mostly there are no lots, and this is the shorter way. Where one waits it takes nothing, and says so: all stand in one line. */
const CLAIM_RUNS = often(
  'claim runs',
  `
  with waiting_lot as materialized (
    select * from {schema}.lots where ${WAITING_LOT} and queue = any($8::text[]) and job = any($4) limit 1
  ),
  clock as materialized (
    select ${NOW} as now from {schema}.control where ${MAY_CLAIM} and not exists (select from waiting_lot)
  ),
  run as materialized (${PICK_RUNS}),
  picked as materialized (select id from run limit $9),
  ${LEASE_PICKED}
  union all
  ${asClaimed('null', 'null', 'null')} from waiting_lot as l`,
)

/**
 * Lots and runs with rows of their own in one line; the last lot that is picked may have too many runs, and is cut.
 */
const CLAIM_IN_LINE = often(
  'claim lots',
  `
  with ${CLOCK},
  lot as materialized (
    select q.turn, l.*
    from unnest($8::text[]) with ordinality as q (queue, turn) cross join lateral (
      ${PRIORITIES_OF_LOTS}
      select l.*
      from level cross join lateral (
        select id, last_id, job, queue, priority, eligible_at, runs, cardinality(runs) as size
        from {schema}.lots
        where ${WAITING_LOT} and queue = q.queue and priority = level.priority and job = any($4)
          and eligible_at <= (select now from clock)
        order by eligible_at, id
        limit $11
        for update skip locked
      ) as l
      limit $11
    ) as l
  ),
  run as materialized (${PICK_RUNS}),
  -- Where more lots may wait than were looked at, who stands behind the last of them stands behind those too.
  last_lot as materialized (
    select distinct on (turn) turn, priority, eligible_at, id, count(*) over (partition by turn) as lots
    from lot order by turn, priority, eligible_at desc, id desc
  ),
  line as (
    select each.*, sum(size) over (partition by turn order by ${IN_LINE}) - size as before_it
    from (
      select turn, priority, eligible_at, id, size, true as is_lot from lot
      union all
      select turn, priority, eligible_at, id, 1, false from run
      where not exists (
        select from last_lot as l
        where l.turn = run.turn and l.lots >= $11
          and (run.priority < l.priority or run.priority = l.priority and (run.eligible_at, run.id) > (l.eligible_at, l.id))
      )
    ) as each
  ),
  share as (
    select line.*, least(size, $10 - before_it) as share from line where before_it < $10
  ),
  merged as materialized (
    select id, is_lot, least(share, $9 - before_it) as taken
    from (
      select id, is_lot, share, sum(share) over (order by turn, ${IN_LINE}) - share as before_it from share
    ) as each
    where before_it < $9
  ),
  picked_lots as materialized (
    select lot.*, merged.taken::int from lot join merged on merged.id = lot.id and merged.is_lot
  ),
  picked as materialized (select id from merged where not is_lot),
  ${LEASE_LOTS},
  ${LEASE_PICKED}
  ${OF_LOTS}`,
)

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

async function claimLimited(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  // Limits are held against single runs.
  const jobs = claim.jobs.map(({ name }) => name)
  await unpackWaiting(session, { queues: claim.queues, jobs, limit: claim.limit })
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
const CLAIM_LIMITED = often(
  'claim runs under limits',
  `
  with ${CLOCK},
  job as materialized (
    select name, concurrency, array(select jsonb_array_elements_text(path::jsonb)) as path, path is not null as has_key
    from unnest($4::text[], $11::int[], $12::text[]) as job (name, concurrency, path)
  ),
  busy as materialized (
    select o.job, case when job.has_key then asked.input #>> job.path end as key
    from job
    join (
      select id, job from {schema}.runs_open where state = 'running'
      union all
      -- Of a worker for which the job has no limit.
      select run.id, l.job from {schema}.lots as l cross join lateral unnest(l.runs) as run (id) where l.lease_token is not null
    ) as o on o.job = job.name
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
  ${LEASE_PICKED}`,
)

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
  { queues, jobs }: { queues: readonly string[]; jobs: readonly string[] },
): Promise<number | null> {
  return msUntil(
    session,
    'next run',
    `select min(eligible_at) from (
       select first.eligible_at
       from unnest($2::text[]) as q (queue) cross join lateral (
         ${PRIORITIES}
         select run.eligible_at
         from level cross join lateral (
           select eligible_at from {schema}.runs_open
           where ${WAITING} and queue = q.queue and priority = level.priority and job = any($3)
           order by eligible_at, id limit 1
         ) as run
       ) as first
       union all
       select lot.eligible_at
       from unnest($2::text[]) as q (queue) cross join lateral (
         select eligible_at from {schema}.lots where ${WAITING_LOT} and queue = q.queue and job = any($3) limit 1
       ) as lot
     ) as first
     where (select ${MAY_CLAIM} from {schema}.control)`,
    [queues, jobs],
  )
}
