import { NOW, type Session, type Store } from '../store.js'
import { lockLanes } from './lanes.js'

/** How long ended runs, and the counts of each minute, are kept, in milliseconds. */
export interface Retention {
  succeededMs: number
  failedMs: number
  statsMs: number
}

/**
 * Deletes ended runs that are older than their age, with their attempts; at most `limit`. The ledger of their schedules
 * begins after what is gone, in the same transaction. Occurrences stay safe: a cursor never goes back. Returns how many
 * it deleted.
 */
export async function pruneRuns(store: Store, retention: Retention, limit: number): Promise<number> {
  const old = await store.query<{ id: string; schedule_id: string | null }>(LIST_OLD_RUNS, [
    store.now(),
    retention.succeededMs,
    retention.failedMs,
    limit,
  ])
  if (old.length === 0) return 0
  return store.transaction(async (session) => {
    await lockLanes(session, [...new Set(old.flatMap(({ schedule_id }) => schedule_id ?? []))])
    const rows = await session.query(DELETE_RUNS, [old.map(({ id }) => id)])
    return rows.length
  })
}

const LIST_OLD_RUNS = `
  with clock as materialized (select ${NOW} as now)
  select old.id, r.schedule_id
  from (values ('succeeded', $2::float8), ('cancelled', $2::float8), ('skipped', $2::float8), ('failed', $3::float8))
    as kept (state, ms)
  cross join lateral (
    select e.id from {schema}.runs_ended as e
    where e.state = kept.state and e.finished_at < (select now - kept.ms * interval '1 millisecond' from clock)
    order by e.finished_at, e.id limit $4
  ) as old
  left join {schema}.runs_asked as r on r.id = old.id`

const DELETE_RUNS = `
  with ended as (delete from {schema}.runs_ended where id = any($1) returning id),
  gone as (
    delete from {schema}.runs_asked as r using ended where r.id = ended.id returning r.id, r.schedule_id, r.plan_time
  ),
  ends as (
    select schedule_id, max(plan_time) as through from gone where plan_time is not null group by schedule_id
  ),
  begun as (
    update {schema}.schedules as s set ledger_from = greatest(s.ledger_from, ends.through)
    from ends where s.id = ends.schedule_id
  ),
  -- Of a deleted schedule the first change says where its ledger begins.
  begun_deleted as (
    update {schema}.changes as c set boundary = greatest(c.boundary, ends.through)
    from ends
    where c.id = (select min(id) from {schema}.changes as first where first.schedule_id = ends.schedule_id)
      and not exists (select from {schema}.schedules as s where s.id = ends.schedule_id)
  )
  select id from ended`

/** Deletes skips whose plan times are older than `ms`, of these schedules; their ledgers begin after them. */
export async function pruneSkips(
  session: Session,
  scheduleIds: readonly string[],
  ms: number,
): Promise<void> {
  await session.query(
    `with clock as materialized (select ${NOW} as now),
     gone as (
       delete from {schema}.skips
       where schedule_id = any($2) and last_plan_time < (select now - $3::float8 * interval '1 millisecond' from clock)
       returning schedule_id, last_plan_time
     ),
     ends as (select schedule_id, max(last_plan_time) as through from gone group by schedule_id)
     update {schema}.schedules as s set ledger_from = greatest(s.ledger_from, ends.through)
     from ends where s.id = ends.schedule_id`,
    [session.now(), scheduleIds, ms],
  )
}
