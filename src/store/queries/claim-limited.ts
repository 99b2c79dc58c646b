/** Claims where jobs have limits, which are held against single runs; lots of the others stand in line with them. */
import { monotonicMs } from '../../clock.js'
import { sinceParam } from '../front.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import { claimFree } from './claim-free.js'
import {
  BEFORE_ENOUGH,
  BESIDE_ENOUGH,
  beforeEdge,
  type ClaimedInLine,
  FRONTS,
  firstLots,
  freeRuns,
  LEASE_LINE,
  lineParams,
  runsInLine,
} from './claim-line.js'
import {
  AT_WORK,
  CLOCK,
  type Claim,
  type ClaimableJob,
  type ClaimedRow,
  type Counted,
  IN_LINE,
} from './claim-parts.js'
import { frontParams, inLine, levelsFrom, WAITING_LOT } from './fronts.js'
import { UNPACK_GIVEN } from './lots.js'

/** In a transaction of its own. Jobs whose limits another worker is just counting are left to that one. */
export async function claimLimited(
  session: Session,
  schema: string,
  claim: Claim,
  { free, limited }: { free: ClaimableJob[]; limited: ClaimableJob[] },
): Promise<ClaimedRow[]> {
  const locked = await lockLimits(session, schema, limited)
  const counts = await countLimits(session, claim, locked)
  const open = counts.filter(({ places }) => places === null || places > 0)
  if (open.length === 0) return claimFree(session, { ...claim, jobs: free })
  const jobs = [...open.map(({ job }) => job), ...free]
  const limits = limitParams(open, free.length)
  if (open.some(({ has_lots }) => has_lots)) {
    const names = jobs.map(({ name }) => name)
    const fronts = frontParams(claim.from)
    await session.query(UNPACK_WAITING, [
      session.now(),
      claim.queues,
      claim.limit,
      names,
      ...limits,
      ...fronts,
    ])
  }
  const params = [...lineParams(session, { ...claim, jobs }), ...limits]
  return runsInLine(await session.query<ClaimedInLine>(CLAIM_LIMITED, params))
}

/**
 * Those of these jobs whose limits this transaction may count from here on. Its statements keep their plans: planning them anew for what
 * their parameters are took as long as carrying them out.
 */
async function lockLimits(
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

interface LimitCount {
  /** How many more of its runs may be worked on; null for any number. */
  places: number | null
  /** Those of the runs that are worked on, of a job that works on one at a time for each. */
  keys: string[]
  /** Whether any of its runs waits in a lot. */
  has_lots: boolean
  /** When the first of those that are worked on was begun; now where none is. */
  begun: Date
  now: Date
}

/**
 * Counts what is worked on of jobs whose limits this transaction has locked. All that others have begun of them is committed by then, and what
 * will be is begun later: so while lines are littered, the next count begins where this one found the first.
 *
 * A clock that was set back begins runs before that. Where it is seen to have been, all of them are counted.
 */
async function countLimits(
  session: Session,
  { queues, from, counted = new Map() }: Claim,
  jobs: readonly ClaimableJob[],
): Promise<(LimitCount & { job: ClaimableJob })[]> {
  if (jobs.length === 0) return []
  const since = from == null ? [] : jobs.map(({ name }) => counted.get(name))
  const count = (begunSince: readonly (Counted | undefined)[]) =>
    session.query<LimitCount>(COUNT_LIMITS, [
      session.now(),
      jobs.map(({ name }) => name),
      jobs.map(({ concurrency }) => concurrency),
      jobs.map(pathOf),
      queues,
      jobs.map((_, index) => sinceParam(begunSince[index]?.begun)),
      ...frontParams(from),
    ])
  let rows = await count(since)
  const atMs = monotonicMs()
  const wasSetBack = ({ now }: LimitCount, before: Counted | undefined) =>
    before !== undefined && now.getTime() - before.at < Math.max(0, atMs - before.atMs - SET_BACK_MS)
  if (rows.some((row, index) => wasSetBack(row, since[index]))) rows = await count([])
  return rows.map((row, index) => {
    const job = jobs[index]!
    counted.set(job.name, { begun: row.begun.getTime() - SET_BACK_MS, at: row.now.getTime(), atMs })
    return { ...row, job }
  })
}

/** By so little a clock may have been set back that nobody sees it. */
const SET_BACK_MS = 1_000

const pathOf = ({ concurrencyKey }: ClaimableJob) => concurrencyKey && JSON.stringify(concurrencyKey)

const COUNT_LIMITS = often(
  'places under limits',
  `
  with clock as materialized (select ${NOW} as now),
  job as materialized (
    select name, concurrency, array(select jsonb_array_elements_text(path::jsonb)) as path, path is not null as has_key,
      since, number
    from unnest($2::text[], $3::int[], $4::text[], $6::timestamptz[]) with ordinality as job (name, concurrency, path, since, number)
  ),
  -- Each by a look of its own into the index, which has the job in it: what others work on is not read. Who has a lease is worked on, and of lots who has
  -- begun, said as these indexes do: that the state is 'running', or that a lot has a lease, would have others read from end to end.
  busy as materialized (
    select job.name as job, one.id, one.started_at
    from job cross join lateral (
      select id, started_at from {schema}.runs_open where ${AT_WORK} and started_at >= job.since and job = job.name
      offset 0
    ) as one
    union all
    -- Of a worker for which the job has no limit.
    select job.name, unnest(one.runs), one.started_at
    from job cross join lateral (
      select runs, started_at from {schema}.lots where started_at >= job.since and job = job.name
      offset 0
    ) as one
  )
  select (job.concurrency - count(busy.id))::int as places, clock.now, coalesce(min(busy.started_at), clock.now) as begun,
    coalesce(array_agg(asked.input #>> job.path) filter (where asked.input #>> job.path is not null), '{}') as keys,
    exists (
      select from unnest($5::text[]) as q (queue) cross join lateral (
        ${levelsFrom(7, 'lots')}
        select from level cross join lateral (
          select from {schema}.lots as l
          where ${inLine('lots')} and priority = level.priority and eligible_at >= level.limited_since and l.job = job.name limit 1
        ) as one
      ) as one
    ) as has_lots
  from job cross join clock
  left join busy on busy.job = job.name
  left join {schema}.runs_asked as asked on job.has_key and asked.id = busy.id
  group by job.number, job.name, job.concurrency, job.path, clock.now
  order by job.number`,
)

/** Of the jobs of a claim, those with limits first: how many places there are, what tells their runs apart, and the keys that are busy. */
function limitParams(open: readonly (LimitCount & { job: ClaimableJob })[], free: number) {
  const ofFree = Array.from({ length: free }, () => null)
  const busy = open.flatMap(({ job, keys }) => keys.map((key) => ({ name: job.name, key })))
  return [
    [...open.map(({ places }) => places), ...ofFree],
    [...open.map(({ job }) => pathOf(job)), ...ofFree],
    busy.map(({ name }) => name),
    busy.map(({ key }) => key),
  ] as const
}

/** What the four parameters from `$first` on say (`limitParams`), of jobs with these names. */
const limitsFrom = (first: number, names: string) => `
  job as materialized (
    select name, places, array(select jsonb_array_elements_text(path::jsonb)) as path, path is not null as has_key,
      places is not null or path is not null as is_limited
    from unnest(${names}::text[], $${first}::int[], $${first + 1}::text[]) as job (name, places, path)
  ),
  busy as materialized (
    select job, key from unnest($${first + 2}::text[], $${first + 3}::text[]) as busy (job, key)
  )`

const LIMITED = 'array(select name from job where is_limited)'
const FREE = 'array(select name from job where not is_limited)'

/** What a run `o` is told apart by, of a job that works on one at a time for each. */
const KEY = `(select asked.input #>> job.path from {schema}.runs_asked as asked, job
  where asked.id = o.id and job.name = o.job and job.has_key)`

/**
 * The first so many runs of the queue `q` that wait, in their order, of these jobs. A limit only takes candidates away: those of keys that are busy,
 * so that nobody else waits behind them.
 */
const firstInLine = (
  jobs: string,
  count: string,
  { fronts, since, columns = '', lock = '', until = '(select now from clock)' }: FirstInLine,
) => `
  ${levelsFrom(fronts, 'runs_open')}
  select run.*
  from level cross join lateral (
    select o.id, o.priority, o.eligible_at${columns}
    from {schema}.runs_open as o
    where ${inLine('runs_open')} and o.priority = level.priority and o.eligible_at <= ${until} and o.eligible_at >= ${since}
      and o.job = any(${jobs})
      and (o.job <> all(array(select name from job where has_key))
        or not exists (select from busy where busy.job = o.job and busy.key = ${KEY}))
    order by o.eligible_at, o.id
    limit ${count}
    ${lock}
  ) as run
  limit ${count}`

interface FirstInLine {
  /** The first of the parameters that say where to look. */
  fronts: number
  since: string
  columns?: string
  lock?: string
  until?: string
}

/**
 * Gives runs of jobs with limits rows of their own, as limits are held against single runs: those in lots before which fewer than $3 others wait,
 * in lots or not, while anything may be claimed.
 */
const UNPACK_WAITING = often(
  'unpack lots',
  `
  with ${CLOCK}, ${limitsFrom(5, '$4')},
  locked as materialized (
    select l.*
    from clock cross join unnest($2::text[]) as q (queue)
    left join lateral (select * from (${firstInLine('$4', '$3', {
      fronts: 9,
      since: 'least(level.free_since, level.limited_since)',
    })}) as run offset $3 - 1) as edge on true
    cross join lateral (
      select * from {schema}.lots as l
      where ${WAITING_LOT} and id = any(array(
        select id
        from (
          select id, sum(size) over (order by ${IN_LINE}) - size as before_it
          from (
            ${levelsFrom(9, 'lots')}
            select one.*
            from level cross join lateral (
              select id, l.priority, eligible_at, cardinality(runs) as size from {schema}.lots as l
              where ${inLine('lots')} and l.priority = level.priority and job = any(${LIMITED}) and l.eligible_at >= level.limited_since and (
                edge.id is null or l.priority > edge.priority
                or l.priority = edge.priority and (l.eligible_at, l.id) < (edge.eligible_at, edge.id)
              )
              order by l.eligible_at, id limit $3
            ) as one
            limit $3
          ) as first
        ) as each
        where before_it < $3
      ))
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
    select case when bool_or(has_key) or count(*) > 1 then $10 * 10 else least($10, sum(places))::bigint end
    from job where is_limited
  )`

/** Nobody behind these has a place. */
const BEFORE_OTHERS = `least(${beforeEdge('l')}, ${BEFORE_ENOUGH})`

const CLAIM_LIMITED = often(
  'claim runs under limits',
  `
  with ${CLOCK}, ${limitsFrom(16, '$4')},
  ${firstLots(FREE)},
  -- No walk past all of the others for nothing.
  free_run as materialized (${freeRuns(FREE, '(select bool_or(not is_limited) from job)')}),
  -- Where there are as many of them as are wanted, nobody behind the last one is.
  last_free as materialized (
    select distinct on (turn) turn, priority, eligible_at, count(*) over (partition by turn) as runs
    from free_run order by turn, priority, eligible_at desc
  ),
  waiting as materialized (
    select q.turn, run.*
    from unnest($8::text[]) with ordinality as q (queue, turn)
    left join last_free as l on l.turn = q.turn and l.runs >= $10
    ${BESIDE_ENOUGH}
    cross join lateral (${firstInLine(LIMITED, CANDIDATES, {
      fronts: FRONTS,
      since: 'level.limited_since',
      columns: `, o.job, ${KEY} as key`,
      lock: 'for update of o skip locked',
      until: BEFORE_OTHERS,
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
    from of_jobs join job on job.name = of_jobs.job
    where job.places is null or of_jobs.number <= job.places
  ),
  ${LEASE_LINE}`,
)
