import type { JobPolicies } from '../../runs/job-policies.js'
import type { RunState } from '../../runs/run.js'
import { NOW, type Session } from '../store.js'

export interface PublishedPolicies {
  name: string
  policies: JobPolicies
  published_at: Date
}

export function listPublished(session: Session): Promise<PublishedPolicies[]> {
  return session.query('select name, policies, published_at from {schema}.jobs order by name')
}

export interface WorkerRow {
  id: string
  host: string
  pid: number
  version: string
  queues: string[]
  jobs: string[]
  concurrency: number
  running: number
  started_at: Date
  seen_at: Date
  is_alive: boolean
}

/** The newest first; one is alive that was seen in the last `aliveMs`. */
export function listWorkers(session: Session, aliveMs: number): Promise<WorkerRow[]> {
  return session.query<WorkerRow>(
    `with clock as materialized (select ${NOW} - $2::float8 * interval '1 millisecond' as alive_since)
     select id, host, pid, version, queues, jobs, concurrency, running, started_at, seen_at,
       seen_at > clock.alive_since as is_alive
     from {schema}.workers, clock order by started_at desc, id`,
    [session.now(), aliveMs],
  )
}

export interface QueueRow {
  name: string
  ready: number
  waiting: number
  retrying: number
  running: number
  oldest_ready_at: Date | null
}

/** All queues that hold an open run, or that a worker serves. Reads every open run once. */
export function countQueues(session: Session): Promise<QueueRow[]> {
  return session.query<QueueRow>(
    `with clock as materialized (select ${NOW} as now),
     held as (
       select o.queue, count(*) filter (where o.state = 'pending' and o.is_ready) as ready,
         count(*) filter (where o.state = 'pending' and not o.is_ready) as waiting,
         count(*) filter (where o.state = 'retrying') as retrying, count(*) filter (where o.state = 'running') as running,
         min(o.eligible_at) filter (where o.state <> 'running' and o.is_ready) as oldest_ready_at
       from (
         select queue, state, eligible_at, coalesce(lane, 0) = 0 and eligible_at <= (select now from clock) as is_ready
         from {schema}.runs_at_hand
       ) as o
       group by o.queue
     )
     select name, coalesce(held.ready, 0) as ready, coalesce(held.waiting, 0) as waiting,
       coalesce(held.retrying, 0) as retrying, coalesce(held.running, 0) as running, held.oldest_ready_at
     from (select unnest(queues) as name from {schema}.workers union select queue from held) as names
     left join held on held.queue = names.name
     order by name`,
    [session.now()],
  )
}

export interface StatsRow {
  now: Date
  last_hour: Partial<Record<RunState, number>> | null
  last_day: Partial<Record<RunState, number>> | null
  overdue: number
  overdue_since: Date | null
  lateness: number[] | null
  lateness_of: number
  server_version: string
  schema_version: number
}

/** Of what may be any number of rows, at most `most` are counted; lateness is that of the last `sample` that succeeded. */
export async function readStats(
  session: Session,
  { most, sample, overdueMs }: { most: number; sample: number; overdueMs: number },
): Promise<StatsRow> {
  const [row] = await session.query<StatsRow>(READ_STATS, [session.now(), most, sample, overdueMs])
  return row!
}

const READ_STATS = `
  with clock as materialized (select ${NOW} as now),
  overdue as materialized (
    select wake_at from {schema}.cursors
    where wake_at < (select now - $4::float8 * interval '1 millisecond' from clock) order by wake_at limit $2
  ),
  ended as materialized (
    select wanted.state, count(*) as last_day, count(*) filter (where one.finished_at > (select now - interval '1 hour' from clock)) as last_hour
    from unnest(array['succeeded', 'failed', 'cancelled', 'skipped']) as wanted (state)
    cross join lateral (
      select e.finished_at from {schema}.runs_ended as e
      where e.state = wanted.state and e.finished_at > (select now - interval '1 day' from clock)
      order by e.finished_at desc, e.id desc limit $2
    ) as one
    group by wanted.state
  ),
  latest as materialized (
    select extract(epoch from started_at - eligible_at)::float8 * 1000 as ms from {schema}.runs_ended
    where state = 'succeeded' order by finished_at desc, id desc limit $3
  )
  select clock.now,
    (select json_object_agg(state, last_hour) from ended) as last_hour,
    (select json_object_agg(state, last_day) from ended) as last_day,
    (select count(*) from overdue) as overdue, (select min(wake_at) from overdue) as overdue_since,
    (select percentile_disc(array[0.5, 0.95, 0.99]) within group (order by ms) from latest) as lateness,
    (select count(ms) from latest) as lateness_of,
    current_setting('server_version') as server_version,
    (select max(number) from {schema}.migrations) as schema_version
  from clock`
