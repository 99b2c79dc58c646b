import { sinceParam } from '../front.js'
import { NOW, type Session } from '../store.js'
import type { DueLimits } from './planning.js'

/** Looks at schedules again in `ms` that could not be planned, and says why; their cursors stay. */
export async function setAside(
  session: Session,
  unplannable: readonly { id: string; error: string }[],
  ms: number,
): Promise<void> {
  await session.query(
    `update {schema}.cursors as c
     set wake_at = ${NOW} + $4::float8 * interval '1 millisecond', plan_error = aside.error
     from unnest($2::uuid[], $3::text[]) as aside (id, error)
     where c.schedule_id = aside.id`,
    [session.now(), unplannable.map(({ id }) => id), unplannable.map(({ error }) => error), ms],
  )
}

/** The same for all due schedules whose scopes a provider gives, except those that somebody has locked and decides. */
export async function setAsideProvider(
  session: Session,
  job: string,
  error: string,
  ms: number,
): Promise<void> {
  await session.query(
    `update {schema}.cursors
     set wake_at = ${NOW} + $4::float8 * interval '1 millisecond', plan_error = $3
     where schedule_id = any(array(
       select schedule_id from {schema}.cursors where wake_at <= (select ${NOW}) and provider = $2
       order by schedule_id for update skip locked
     ))`,
    [session.now(), job, error, ms],
  )
}

/** The same for the one that a tick would take first. */
export async function setAsideFirst(session: Session, limits: DueLimits, error: string): Promise<void> {
  await session.query(
    `update {schema}.cursors
     set wake_at = ${NOW} + interval '1 minute', plan_error = $4
     where schedule_id = (
       select schedule_id from {schema}.cursors
       where wake_at <= (select ${NOW}) and next_at is not null and kind = any($2)
         and (provider is null or provider = any($3)) and wake_at >= $5::timestamptz
       order by wake_at, schedule_id limit 1
     )`,
    [session.now(), limits.kinds, limits.providers, error, sinceParam(limits.since)],
  )
}
