/** Claims where jobs have limits, which are held against single runs; lots of the others stand in line with them. */
import { often } from '../often.js'
import type { Session } from '../store.js'
import { type ClaimedInLine, firstIn, leaseLine, MOST_LOTS, runsInLine } from './claim-line.js'
import {
  CLOCK,
  type Claim,
  type ClaimableJob,
  type ClaimedRow,
  claimParams,
  IN_LINE,
  PRIORITIES,
  WAITING,
  WAITING_LOT,
} from './claim-parts.js'
import { UNPACK_GIVEN } from './lots.js'

/**
 * Those of these jobs whose limits this transaction may count from here on. Its statements keep their plans: planning them anew for what
 * their parameters are took as long as carrying them out.
 */
export async function lockLimits(
  session: Session,
  schema: string,
  limited: readonly ClaimableJob[],
): Promise<ClaimableJob[]> {
  const rows = await session.query<{ is_locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended(lock.name, 0)) as is_locked,
       set_config('plan_cache_mode', 'force_generic_plan', true) as mode
     from unnest($1::text[]) with ordinality as lock (name, position) order by lock.position`,
    [limited.map(({ name }) => `${schema} claim ${name}`)],
  )
  return limited.filter((_, index) => rows[index]!.is_locked)
}

export async function claimLimited(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  const concurrencies = claim.jobs.map(({ concurrency }) => concurrency)
  const paths = claim.jobs.map(({ concurrencyKey }) => concurrencyKey && JSON.stringify(concurrencyKey))
  const names = claim.jobs.map(({ name }) => name)
  await session.query(UNPACK_WAITING, [session.now(), names, concurrencies, paths, claim.queues, claim.limit])
  const params = [...claimParams(session, claim), concurrencies, paths, MOST_LOTS]
  return runsInLine(await session.query<ClaimedInLine>(CLAIM_LIMITED, params))
}

/** The jobs of a worker, what is busy of those that have limits, and how many places are left. */
const limitsOf = (names: string, concurrencies: string, paths: string) => `
  job as materialized (
    select name, concurrency, array(select jsonb_array_elements_text(path::jsonb)) as path, path is not null as has_key,
      concurrency is not null or path is not null as is_limited
    from unnest(${names}::text[], ${concurrencies}::int[], ${paths}::text[]) as job (name, concurrency, path)
  ),
  busy as materialized (
    select o.job, case when job.has_key then (
        select asked.input #>> job.path from {schema}.runs_asked as asked where asked.id = o.id
      ) end as key
    from job
    join (
      select id, job from {schema}.runs_open where state = 'running'
      union all
      -- Of a worker for which the job has no limit.
      select run.id, l.job from {schema}.lots as l cross join lateral unnest(l.runs) as run (id) where l.lease_token is not null
    ) as o on o.job = job.name
    where job.is_limited
  ),
  place as materialized (
    select name, concurrency - (select count(*) from busy where busy.job = job.name) as places from job
    where concurrency is not null
  )`

const FULL = 'select name from place where places <= 0'
const HAVE_PLACE = `array(select name from job except ${FULL})`
const LIMITED = `array(select name from job where is_limited except ${FULL})`
const FREE = 'array(select name from job where not is_limited)'

/** What a run `o` is told apart by, of a job that works on one at a time for each. */
const KEY = `(select asked.input #>> job.path from {schema}.runs_asked as asked, job
  where asked.id = o.id and job.name = o.job and job.has_key)`

/**
 * The first so many runs of the queue `q` that wait, in their order, of these jobs. A limit only takes candidates away: those of jobs that have no
 * place left and of keys that are busy, so that nobody else waits behind them.
 */
const firstInLine = (
  jobs: string,
  count: string,
  { columns = '', lock = '', until = '(select now from clock)' } = {},
) => `
  ${PRIORITIES}
  select run.*
  from level cross join lateral (
    select o.id, o.priority, o.eligible_at${columns}
    from {schema}.runs_open as o
    where ${WAITING} and o.queue = q.queue and o.priority = level.priority and o.eligible_at <= ${until}
      and o.job = any(${jobs})
      and (o.job <> all(array(select name from job where has_key))
        or not exists (select from busy where busy.job = o.job and busy.key = ${KEY}))
    order by o.eligible_at, o.id
    limit ${count}
    ${lock}
  ) as run
  limit ${count}`

/**
 * Gives runs of jobs with limits rows of their own, as limits are held against single runs: those in lots before which fewer than $6 others wait,
 * in lots or not, while anything may be claimed.
 */
const UNPACK_WAITING = often(
  'unpack lots',
  `
  with ${CLOCK}, ${limitsOf('$2', '$3', '$4')},
  locked as materialized (
    select l.*
    from clock cross join (
      select queue from unnest($5::text[]) as q (queue)
      where exists (
        select from {schema}.lots as l
        where ${WAITING_LOT} and l.queue = q.queue and l.job = any(array(select name from job where is_limited))
      )
    ) as q
    left join lateral (select * from (${firstInLine(HAVE_PLACE, '$6')}) as run offset $6 - 1) as edge on true
    cross join lateral (
      select * from {schema}.lots as l
      where ${WAITING_LOT} and id in (
        select id
        from (
          select id, sum(size) over (order by ${IN_LINE}) - size as before_it
          from (
            select id, priority, eligible_at, cardinality(runs) as size from {schema}.lots as l
            where ${WAITING_LOT} and queue = q.queue and job = any(${LIMITED}) and (
              edge.id is null or l.priority > edge.priority
              or l.priority = edge.priority and (l.eligible_at, l.id) < (edge.eligible_at, edge.id)
            )
            order by ${IN_LINE} limit $6
          ) as first
        ) as each
        where before_it < $6
      )
      order by id for update skip locked
    ) as l
  ),
  given as materialized (select unnest(runs) as id from locked),
  ${UNPACK_GIVEN}`,
)

const ORDER = `turn, ${IN_LINE}`

/**
 * Of the first tenfold of those in line, which may be of one key or of a job with few places, at least one can be picked; the next claim then passes its
 * like over. Of a single job without keys no more than it has places.
 */
const CANDIDATES = `(
    select case when bool_or(has_key) or count(*) > 1 then $10 * 10 else least($10, (select sum(places) from place where places > 0))::bigint end
    from job where name = any(${LIMITED})
  )`

const FREE_RUNS = firstIn('runs_open', {
  priorities: PRIORITIES,
  // No walk past all of the others for nothing.
  isWaiting: `(select bool_or(not is_limited) from job) and ${WAITING}`,
  jobs: FREE,
  columns: 'id, priority, eligible_at',
  limit: '$10',
})

const BEFORE_LAST_FREE = `case
        when level.priority = l.priority then l.eligible_at when level.priority < l.priority then '-infinity' else (select now from clock)
      end`

const CLAIM_LIMITED = often(
  'claim runs under limits',
  `
  with ${CLOCK}, ${limitsOf('$4', '$11', '$12')},
  free_run as materialized (${FREE_RUNS}),
  -- Where there are as many of them as are wanted, nobody behind the last one is.
  last_free as materialized (
    select distinct on (turn) turn, priority, eligible_at, count(*) over (partition by turn) as runs
    from free_run order by turn, priority, eligible_at desc
  ),
  waiting as materialized (
    select q.turn, run.*
    from unnest($8::text[]) with ordinality as q (queue, turn)
    left join last_free as l on l.turn = q.turn and l.runs >= $10
    cross join lateral (${firstInLine(LIMITED, CANDIDATES, {
      columns: `, o.job, ${KEY} as key`,
      lock: 'for update of o skip locked',
      until: BEFORE_LAST_FREE,
    })}) as run
  ),
  of_keys as (
    select *, key is null or row_number() over (partition by job, key order by ${ORDER}) = 1 as is_first_of_its_key
    from waiting
  ),
  of_jobs as (
    select of_keys.*, row_number() over (partition by job order by ${ORDER}) as number
    from of_keys where is_first_of_its_key
  ),
  run as materialized (
    select turn, id, priority, eligible_at from free_run
    union all
    select of_jobs.turn, of_jobs.id, of_jobs.priority, of_jobs.eligible_at
    from of_jobs left join place on place.name = of_jobs.job
    where place.places is null or of_jobs.number <= place.places
  ),
  ${leaseLine(FREE)}`,
)
