/**
 * The cursor of an `after` timing: it hangs on the end of the run that is open, and is set by whoever ends it.
 */
import type { Instant } from '../../time/instant.js'
import { RUN_TIME } from '../rows.js'
import { NOW, type Session } from '../store.js'
import { finishSchedules } from './finishing.js'

/**
 * Gives `after` schedules whose cursors are locked their next plan time: the interval from now on, unless a run is
 * open or they are not active. Those whose end lies before that have none: they are finished.
 */
export async function restartAfter(session: Session, scheduleIds: readonly string[]): Promise<Set<string>> {
  if (scheduleIds.length === 0) return new Set()
  const rows = await session.query<{ id: string; is_done: boolean; delete_when_done: boolean }>(
    RESTART_AFTER,
    [session.now(), scheduleIds],
  )
  const done = rows.filter(({ is_done }) => is_done)
  if (done.length > 0) {
    await finishSchedules(
      session,
      done.map(({ id, delete_when_done }) => ({ id, deleteWhenDone: delete_when_done })),
    )
  }
  return new Set(rows.map(({ id }) => id))
}

const RESTART_AFTER = `
  with clock as materialized (select ${NOW} as now),
  ready as (
    select s.id, s.until_at, (s.policies->>'deleteWhenDone')::boolean as delete_when_done, c.counted >= s."limit" as is_full,
      greatest(clock.now + c.after_ms * interval '1 millisecond', c.decided_through + interval '1 millisecond', s.start_at)
        as next_at
    from clock, {schema}.cursors as c join {schema}.schedules as s on s.id = c.schedule_id
    where c.schedule_id = any($2) and c.after_ms is not null and c.next_at is null and s.state = 'active'
      and not exists (
        select from {schema}.runs_open as r where r.schedule_id = c.schedule_id and r.lane is not null
      )
  ),
  judged as (
    select *, coalesce(is_full, false) or coalesce(next_at >= until_at, false) as is_done from ready
  ),
  started as (
    update {schema}.cursors as c set next_at = judged.next_at, wake_at = judged.next_at
    from judged where c.schedule_id = judged.id and not judged.is_done
  )
  select id, is_done, delete_when_done from judged`

/** Where a run of an `after` timing was opened: the next plan time hangs on its end. */
export async function clearCursorsOfAfter(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.cursors as c set next_at = null, wake_at = null
     where c.schedule_id = any($1) and c.kind = 'after' and exists (
       select from {schema}.runs_open as r where r.schedule_id = c.schedule_id and r.lane is not null
     )`,
    [scheduleIds],
  )
}

/** When the last run of each of these schedules ended, of the newest hundred of each. */
export async function listLastEnds(
  session: Session,
  scheduleIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (scheduleIds.length === 0) return new Map()
  const rows = await session.query<{ id: string; ended_at: Date }>(
    `select s.id, max(e.finished_at) as ended_at
     from unnest($1::uuid[]) as s (id)
     cross join lateral (
       select r.id from {schema}.runs_asked as r where r.schedule_id = s.id order by ${RUN_TIME} desc, r.id desc limit 100
     ) as r
     join {schema}.runs_ended as e on e.id = r.id
     group by s.id`,
    [scheduleIds],
  )
  return new Map(rows.map(({ id, ended_at }) => [id, ended_at.getTime()]))
}
