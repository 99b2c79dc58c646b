/** Runs that nobody works on although their time has come. */
import { NOW, type Session } from '../store.js'
import type { Bounds } from './schedule-symptoms.js'

export interface ExpiredLease {
  id: string
  job: string
  worker_id: string
  since: Date
  count: number
}

/** Leases that ran out more than `lateMs` ago: no worker has taken these runs over. */
export function listExpiredLeases(
  session: Session,
  { limit, most, lateMs }: Bounds & { lateMs: number },
): Promise<ExpiredLease[]> {
  return session.query(
    `with found as materialized (
       select id, job, worker_id, lease_expires_at from {schema}.runs_at_hand
       where state = 'running' and lease_expires_at < (select ${NOW} - $4 * interval '1 millisecond')
       order by lease_expires_at limit $3
     )
     select id, job, worker_id, lease_expires_at as since, (select count(*) from found) as count
     from found order by lease_expires_at, id limit $2`,
    [session.now(), limit, most, lateMs],
  )
}

/** Runs of one job in one queue that no living worker takes. */
export interface Untaken {
  job: string
  queue: string
  runs: number
  /** Whether there may be more of them than were looked at. */
  has_more: boolean
  since: Date
  /** Whether a living worker has the job: then it is the queue that none with it serves. */
  is_known: boolean
  /** Living workers, of any job. */
  workers: number
}

/** Queues, priorities of a queue, and runs in all that are looked at. */
const FRONTS = { queues: 1_000, priorities: 20, runs: 50_000 }

const WAITING = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`

/**
 * Runs that could have been claimed for more than `lateMs` and whose job no living worker has that serves their queue.
 *
 * Workers take what is oldest, queue by queue and priority by priority, so that what nobody takes comes to the front: it is
 * looked for there, in each as deep as their number leaves room for. A worker lives that was seen in the last `aliveMs`.
 */
export function listUntaken(
  session: Session,
  { lateMs, aliveMs }: { lateMs: number; aliveMs: number },
): Promise<Untaken[]> {
  return session.query(LIST_UNTAKEN, [
    session.now(),
    lateMs,
    aliveMs,
    FRONTS.queues,
    FRONTS.priorities,
    FRONTS.runs,
  ])
}

/** Since when waiting is late, and since when a worker must have been seen; and those that were. */
const LIVING = `
  clock as materialized (
    select now - $2 * interval '1 millisecond' as late_since, now - $3 * interval '1 millisecond' as alive_since
    from (select ${NOW} as now) as clock
  ),
  alive as materialized (
    select jobs, queues from {schema}.workers where seen_at > (select alive_since from clock)
  )`

const LIST_UNTAKEN = `
  with recursive ${LIVING},
  q (queue) as (
    (select queue from {schema}.runs_open where ${WAITING} order by queue limit 1)
    union all
    select (select queue from {schema}.runs_open where ${WAITING} and queue > q.queue order by queue limit 1)
    from q where q.queue is not null
  ),
  line as materialized (
    select q.queue, line.priority
    from (select queue from q where queue is not null limit $4) as q cross join lateral (
      with recursive level (priority) as (
        select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue
        union all
        select (select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue and priority < level.priority)
        from level where level.priority is not null
      )
      select priority from level where priority is not null limit $5
    ) as line
  ),
  depth as materialized (select $6::int / greatest(count(*), 1) as runs from line),
  front as materialized (
    select line.queue, run.job, run.eligible_at, run.place
    from line cross join lateral (
      select job, eligible_at, row_number() over (order by eligible_at, id) as place from {schema}.runs_open
      where ${WAITING} and queue = line.queue and priority = line.priority and eligible_at < (select late_since from clock)
      order by eligible_at, id limit (select runs from depth)
    ) as run
  ),
  deeper as materialized (select distinct queue from front where place = (select runs from depth)),
  waiting as materialized (
    select job, queue, sum(runs)::bigint as runs, bool_or(has_more) as has_more, min(since) as since
    from (
      select job, queue, count(*) as runs, queue in (select queue from deeper) as has_more, min(eligible_at) as since
      from front group by job, queue
      union all
      select job, queue, sum(cardinality(runs)), false, min(eligible_at) from {schema}.lots
      where lease_token is null and eligible_at < (select late_since from clock) group by job, queue
    ) as each
    group by job, queue
  )
  select w.*, exists (select from alive where w.job = any(alive.jobs)) as is_known, (select count(*) from alive) as workers
  from waiting as w
  where not exists (select from alive where w.job = any(alive.jobs) and w.queue = any(alive.queues))
  order by w.since, w.job, w.queue`

/** Jobs that schedules ask for, schedules of a job and in all, and runs of a schedule that are looked at. */
const ASKED = { jobs: 1_000, schedules: 1_000, all: 5_000, runs: 5 }

/**
 * Of the jobs of active schedules that no living worker has, those that runs wait for. It finds what is too far behind for the front:
 * by the newest runs of each schedule that are old enough, as nobody has taken these either.
 */
export function listUntakenOfSchedules(
  session: Session,
  { lateMs, aliveMs }: { lateMs: number; aliveMs: number },
): Promise<Untaken[]> {
  return session.query(LIST_UNTAKEN_OF_SCHEDULES, [
    session.now(),
    lateMs,
    aliveMs,
    ASKED.jobs,
    ASKED.schedules,
    ASKED.all,
    ASKED.runs,
  ])
}

const LIST_UNTAKEN_OF_SCHEDULES = `
  with recursive ${LIVING},
  j (job) as (
    (select job from {schema}.schedules order by job limit 1)
    union all
    select (select job from {schema}.schedules where job > j.job order by job limit 1) from j where j.job is not null
  ),
  unknown as materialized (
    select job from (select job from j where job is not null limit $4) as j
    where not exists (select from alive where j.job = any(alive.jobs))
  ),
  asking as materialized (
    select unknown.job, schedule.id
    from unknown cross join lateral (
      select id from {schema}.schedules where job = unknown.job and state = 'active' order by name limit $5
    ) as schedule
    limit $6
  ),
  asked as materialized (
    select asking.job, run.id
    from asking cross join lateral (
      select id from {schema}.runs_asked
      where schedule_id = asking.id and coalesce(plan_time, created_at) < (select late_since from clock)
      order by coalesce(plan_time, created_at) desc, id desc limit $7
    ) as run
  )
  select asked.job, run.queue, count(*) as runs, true as has_more, min(run.eligible_at) as since, false as is_known,
    (select count(*) from alive) as workers
  from asked cross join lateral (
    -- One by one: joined, all open runs would be read.
    select queue, eligible_at from {schema}.runs_open
    where id = asked.id and ${WAITING} and eligible_at < (select late_since from clock) limit 1
  ) as run
  group by asked.job, run.queue
  order by since, asked.job, run.queue`

export interface Failing {
  job: string
  runs: number
  last_failed_at: Date
  /** Whether there are more failed runs of that time than were looked at. */
  has_more: boolean
}

/** Jobs of which `atLeast` runs failed in the last `withinMs`, among the newest `most` that did. */
export function listFailing(
  session: Session,
  { atLeast, withinMs, most, limit }: Bounds & { atLeast: number; withinMs: number },
): Promise<Failing[]> {
  return session.query(
    `with failed as materialized (
       select id, finished_at from {schema}.runs_ended
       where state = 'failed' and finished_at > (select ${NOW} - $2 * interval '1 millisecond')
       order by finished_at desc, id desc limit $3
     )
     select a.job, count(*) as runs, max(f.finished_at) as last_failed_at, (select count(*) from failed) = $3 as has_more
     from failed as f join {schema}.runs_asked as a on a.id = f.id
     group by a.job having count(*) >= $4 order by count(*) desc, a.job limit $5`,
    [session.now(), withinMs, most, atLeast, limit],
  )
}
