/**
 * What metrics show of the database. They are asked again and again, by every process, so none of these may cost more where
 * there is more: what cannot be counted cheaply is estimated, and only where there is much of it.
 */
import type { ScheduleState } from '../../schedules/schedule.js'
import { NOW, type Session, type Store } from '../store.js'

/**
 * Where an open run stands: `ready` may be claimed, `waiting` is for later, `blocked` waits for an earlier run of its schedule,
 * `running` and `retrying` are its states.
 */
type Standing = 'ready' | 'waiting' | 'blocked' | 'running' | 'retrying'

export interface Depth {
  /** Null for all queues together that are not among the largest. */
  queue: string | null
  standing: Standing
  runs: number
}

/** Open runs that are counted one by one; of more, a sample of about so many. It takes some 25 ms. */
const COUNTED_RUNS = 50_000
/** Rows in a page, where the server has not counted yet. */
const ROWS_PER_PAGE = 80

/** How many open runs there are, for the `limit` largest queues and the others together. Those that run are always counted. */
export function readDepths(store: Store, limit: number): Promise<Depth[]> {
  return store.query<Depth>(READ_DEPTHS, [store.now(), store.schema, COUNTED_RUNS, ROWS_PER_PAGE, limit])
}

const READ_DEPTHS = `
  with clock as materialized (select ${NOW} as now),
  size as materialized (
    select least(1, $3::float8 / greatest(1,
      case when c.reltuples > 0 then c.reltuples / c.relpages else $4::float8 end
        * pg_relation_size(c.oid) / current_setting('block_size')::int)) as share
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = $2 and c.relname = 'runs_open'
  ),
  counted as materialized (
    select r.queue, case when r.state = 'retrying' then 'retrying' when r.lane > 0 then 'blocked'
        when r.eligible_at <= clock.now then 'ready' else 'waiting' end as standing,
      count(*) / max(size.share) as runs
    from clock, size, lateral (
      select queue, state, lane, eligible_at from {schema}.runs_open tablesample system (100 * size.share)
      where state <> 'running'
    ) as r
    group by 1, 2
    union all
    select queue, 'running', count(*) from {schema}.runs_open where state = 'running' group by 1
    union all
    select queue, case when lease_token is null then 'ready' else 'running' end, sum(cardinality(runs)) from {schema}.lots
    group by 1, 2
  ),
  largest as materialized (select queue from counted group by queue order by sum(runs) desc, queue limit $5::int)
  select case when queue in (select queue from largest) then queue end as queue, standing, round(sum(runs))::float8 as runs
  from counted group by 1, 2`

export interface OldestReady {
  queue: string
  /** Since when its oldest run may be claimed; 0 where none may be yet. */
  seconds: number
}

/** Queues that are looked at, by name: each costs a look into the index for each priority in it, 50 µs. */
const MOST_QUEUES = 1_000

/** How long the oldest run of each queue has been waiting to be claimed. */
export function listOldestReady(session: Session): Promise<OldestReady[]> {
  return session.query<OldestReady>(LIST_OLDEST_READY, [session.now(), MOST_QUEUES])
}

const WAITING = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`

const LIST_OLDEST_READY = `
  with recursive clock as materialized (select ${NOW} as now),
  q (queue) as (
    (select queue from {schema}.runs_open where ${WAITING} order by queue limit 1)
    union all
    select (select queue from {schema}.runs_open where ${WAITING} and queue > q.queue order by queue limit 1)
    from q where q.queue is not null
  )
  select each.queue, max(each.seconds) as seconds from (
  select q.queue, greatest(0, extract(epoch from (select now from clock) - (
    with recursive level (priority) as (
      select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue
      union all
      select (select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue and priority < level.priority)
      from level where level.priority is not null
    )
    select min(first.eligible_at) from level cross join lateral (
      select min(eligible_at) as eligible_at from {schema}.runs_open
      where ${WAITING} and queue = q.queue and priority = level.priority
    ) as first
  )))::float8 as seconds
  from q where q.queue is not null
  union all
  select queue, extract(epoch from (select now from clock) - min(eligible_at))::float8 from {schema}.lots
  where lease_token is null group by queue
  ) as each
  group by each.queue order by each.queue limit $2`

/** Schedules of a state that are counted one by one; of more, the server's own statistics say how many. */
export const COUNTED_SCHEDULES = 10_000

export function countSchedules(store: Store): Promise<{ state: ScheduleState; schedules: number }[]> {
  return store.query(COUNT_SCHEDULES, [store.schema, COUNTED_SCHEDULES])
}

const COUNT_SCHEDULES = `
  select s.state, case when counted.schedules <= $2 then counted.schedules
    else greatest(counted.schedules, round(coalesce(estimated.schedules, 0))) end::float8 as schedules
  from unnest(array['active', 'paused', 'broken', 'finished']) as s (state)
  cross join lateral (
    select count(*) as schedules
    from (select from {schema}.schedules as each where each.state = s.state limit $2 + 1) as first
  ) as counted
  left join lateral (
    select c.reltuples * share.of_all as schedules
    from pg_stats as p
    join pg_namespace as n on n.nspname = p.schemaname
    join pg_class as c on c.relnamespace = n.oid and c.relname = p.tablename
    cross join unnest(p.most_common_vals::text::text[], p.most_common_freqs) as share (state, of_all)
    where p.schemaname = $1 and p.tablename = 'schedules' and p.attname = 'state' and share.state = s.state
  ) as estimated on true`

/** Three times as long as a worker takes to say again that it lives, at most. */
const ALIVE_WITHIN = '15 seconds'

/** Workers of all processes that have said lately that they live. */
export async function countWorkers(session: Session): Promise<number> {
  const [row] = await session.query<{ workers: number }>(
    `select count(*) as workers from {schema}.workers where seen_at > ${NOW} - interval '${ALIVE_WITHIN}'`,
    [session.now()],
  )
  return row!.workers
}
