/**
 * Schedules that do not fire as they should. Of each kind at most `limit` are told and `most` are counted, so that a system in
 * which a million are affected is looked at as quickly as any other.
 */
import { NOW, type Session } from '../store.js'

export interface Bounds {
  limit: number
  most: number
}

/** `count` is the same in each row: how many there are, up to the bound. */
interface Counted {
  count: number
}

export interface Unplannable extends Counted {
  name: string
  error: string
}

/** Those that could not be planned when a scheduler last tried, the longest standing first. */
export function listUnplannable(session: Session, { limit, most }: Bounds): Promise<Unplannable[]> {
  return session.query(
    `with found as materialized (
       select schedule_id, next_at, plan_error from {schema}.cursors where plan_error is not null order by next_at limit $2
     )
     select s.name, f.plan_error as error, (select count(*) from found) as count
     from (select * from found order by next_at limit $1) as f join {schema}.schedules as s on s.id = f.schedule_id
     order by f.next_at, s.name`,
    [limit, most],
  )
}

export interface Overdue extends Counted {
  name: string
  since: Date
  /** What plans it must have its code, as that gives its scopes; null where any scheduler will do. */
  provider: string | null
}

/** Those that a scheduler should have looked at more than `lateMs` ago, the longest standing first. */
export function listOverdue(
  session: Session,
  { limit, most, lateMs }: Bounds & { lateMs: number },
): Promise<Overdue[]> {
  return session.query(
    `with found as materialized (
       select schedule_id, wake_at, provider from {schema}.cursors
       where wake_at < (select ${NOW} - $4 * interval '1 millisecond') and plan_error is null
       order by wake_at limit $3
     )
     select s.name, f.wake_at as since, f.provider, (select count(*) from found) as count
     from (select * from found order by wake_at limit $2) as f join {schema}.schedules as s on s.id = f.schedule_id
     order by f.wake_at, s.name`,
    [session.now(), limit, most, lateMs],
  )
}

export interface Broken extends Counted {
  name: string
  reason: string | null
  since: Date
}

/** Those that their breaker took out until a person resumes them; one with a cooldown is tried again by itself. */
export function listBroken(session: Session, { limit, most }: Bounds): Promise<Broken[]> {
  return session.query(
    `with found as materialized (
       select name, state_reason, state_since from {schema}.schedules
       where state = 'broken' and state_until is null order by name limit $2
     )
     select name, state_reason as reason, state_since as since, (select count(*) from found) as count
     from found order by name limit $1`,
    [limit, most],
  )
}
