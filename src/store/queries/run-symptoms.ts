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
       select id, job, worker_id, lease_expires_at from {schema}.runs_open
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

/** Queues, priorities of a queue, runs of a priority, and runs in all that are looked at. */
const FRONTS = { queues: 1_000, priorities: 20, runs: 100, all: 10_000 }

const WAITING = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`

/**
 * Runs that could have been claimed for more than `lateMs` and whose job no living worker has that serves their queue.
 *
 * Workers take what is oldest, queue by queue and priority by priority, so that what nobody takes is left at the front: it is
 * enough to look there, however many wait behind. A worker lives that was seen in the last `aliveMs`.
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
    FRONTS.all,
  ])
}

const LIST_UNTAKEN = `
  with recursive clock as materialized (
    select now - $2 * interval '1 millisecond' as late_since, now - $3 * interval '1 millisecond' as alive_since
    from (select ${NOW} as now) as clock
  ),
  alive as materialized (
    select jobs, queues from {schema}.workers where seen_at > (select alive_since from clock)
  ),
  q (queue) as (
    (select queue from {schema}.runs_open where ${WAITING} order by queue limit 1)
    union all
    select (select queue from {schema}.runs_open where ${WAITING} and queue > q.queue order by queue limit 1)
    from q where q.queue is not null
  ),
  front as materialized (
    select q.queue, run.job, run.eligible_at, run.place
    from (select queue from q where queue is not null limit $4) as q cross join lateral (
      with recursive level (priority) as (
        select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue
        union all
        select (select max(priority) from {schema}.runs_open where ${WAITING} and queue = q.queue and priority < level.priority)
        from level where level.priority is not null
      )
      select run.*
      from (select priority from level where priority is not null limit $5) as level cross join lateral (
        select job, eligible_at, row_number() over (order by eligible_at, id) as place from {schema}.runs_open
        where ${WAITING} and queue = q.queue and priority = level.priority and eligible_at < (select late_since from clock)
        order by eligible_at, id limit $6
      ) as run
    ) as run
    limit $7
  ),
  waiting as materialized (
    select job, queue, count(*) as runs, bool_or(place = $6) or (select count(*) from front) = $7 as has_more,
      min(eligible_at) as since
    from front group by job, queue
  )
  select w.*, exists (select from alive where w.job = any(alive.jobs)) as is_known, (select count(*) from alive) as workers
  from waiting as w
  where not exists (select from alive where w.job = any(alive.jobs) and w.queue = any(alive.queues))
  order by w.since, w.job, w.queue`

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
