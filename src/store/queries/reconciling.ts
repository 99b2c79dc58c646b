import type { Instant } from '../../time/instant.js'
import { RUN_TIME, SCHEDULE_COLUMNS, type ScheduleRow } from '../rows.js'
import { NOW, type Session } from '../store.js'

/** Ids of active schedules after `after`; with `suspectsOnly`, those whose cursor cannot be right. */
export async function listForReconciling(
  session: Session,
  {
    after,
    limit,
    suspectsOnly,
    kinds,
  }: { after: string; limit: number; suspectsOnly: boolean; kinds: readonly string[] },
): Promise<string[]> {
  const rows = await session.query<{ id: string }>(
    `select s.id
     from {schema}.schedules as s left join {schema}.cursors as c on c.schedule_id = s.id
     where s.id > $2 and s.state = 'active' and s.timing->>'kind' = any($5) and (
       not $4 or c.schedule_id is null or c.version <> s.version or c.next_at is null or c.wake_at is null
       or c.next_at <= c.decided_through or c.wake_at > greatest(c.next_at, (select ${NOW})) + interval '10 minutes'
     )
     order by s.id limit $3`,
    [session.now(), after, limit, suspectsOnly, kinds],
  )
  return rows.map(({ id }) => id)
}

/** Locks their cursors, made anew where there were none, and reads them afterwards. */
export async function lockForReconciling(
  session: Session,
  ids: readonly string[],
): Promise<(ScheduleRow & { wake_at: Date | null; cursor_version: number })[]> {
  await session.query(
    `insert into {schema}.cursors (schedule_id, version, kind, provider, decided_through)
     select s.id, s.version, s.timing->>'kind', case when s.scopes is null then s.job end, greatest(s.ledger_from,
       (select max(${RUN_TIME}) from {schema}.runs as r where r.schedule_id = s.id and r.trigger = 'scheduled'),
       (select max(last_plan_time) from {schema}.skips as k where k.schedule_id = s.id))
     from {schema}.schedules as s
     where s.id = any($1) and not exists (select from {schema}.cursors as c where c.schedule_id = s.id)
     order by s.id for key share
     on conflict do nothing`,
    [ids],
  )
  await session.query(
    'select from {schema}.cursors where schedule_id = any($1) order by schedule_id for update',
    [ids],
  )
  return session.query(
    `select ${SCHEDULE_COLUMNS}, c.wake_at, c.version as cursor_version
     from {schema}.schedules as s join {schema}.cursors as c on c.schedule_id = s.id where s.id = any($1) order by s.id`,
    [ids],
  )
}

export interface Repair {
  id: string
  name: string
  version: number
  nextAt: Instant | null
}

export async function repairCursors(session: Session, repairs: readonly Repair[]): Promise<void> {
  await session.query(
    `update {schema}.cursors as c set version = r.version, next_at = r.next_at, wake_at = r.next_at
     from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as r (id, version, next_at) where c.schedule_id = r.id`,
    [
      repairs.map(({ id }) => id),
      repairs.map(({ version }) => version),
      repairs.map(({ nextAt }) => (nextAt === null ? null : new Date(nextAt))),
    ],
  )
}
