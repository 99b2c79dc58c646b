import type { ScheduleState } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import type { Timing } from '../../time/timing.js'
import { RUN_TIME } from '../rows.js'
import { NOW, type Session } from '../store.js'

/** What tells whether a cursor is right; null in place of what a cursor that is not there would hold. */
export interface CheckedSchedule {
  id: string
  name: string
  version: number
  state: ScheduleState
  state_until: Date | null
  timing: Timing
  start_at: Date
  until_at: Date | null
  zone_data: string | null
  delete_when_done: boolean
  cursor_version: number | null
  next_at: Date | null
  wake_at: Date | null
  decided_through: Date | null
  now: Date
}

const CHECKED_COLUMNS = `s.id, s.name, s.version, s.state, s.state_until, s.timing, s.start_at, s.until_at, s.zone_data,
    (s.policies->>'deleteWhenDone')::boolean as delete_when_done, c.version as cursor_version, c.next_at, c.wake_at, c.decided_through, ${NOW} as now`
const CHECKED = `select ${CHECKED_COLUMNS}
  from {schema}.schedules as s left join {schema}.cursors as c on c.schedule_id = s.id`

/**
 * The next schedules by id, whatever their state: so a slice costs the same however many are finished. The cursors are
 * bounded as well, or the join would read them from the first one on.
 */
export function readSlice(
  session: Session,
  { after, limit }: { after: string; limit: number },
): Promise<CheckedSchedule[]> {
  return session.query<CheckedSchedule>(
    `select ${CHECKED_COLUMNS}
     from {schema}.schedules as s left join {schema}.cursors as c on c.schedule_id = s.id and c.schedule_id > $2
     where s.id > $2 order by s.id limit $3`,
    [session.now(), after, limit],
  )
}

/**
 * Schedules that ticks ought to have taken and did not: what a damaged cursor comes to that still wakes. Ticks find it
 * first each time, so it must not stand there.
 */
export function readOverdue(session: Session, limit: number): Promise<CheckedSchedule[]> {
  return session.query<CheckedSchedule>(
    `${CHECKED} where s.id = any(array(
       select schedule_id from {schema}.cursors
       where wake_at < (select ${NOW}) - interval '1 minute' order by wake_at, schedule_id limit $2
     ))`,
    [session.now(), limit],
  )
}

/** Ids between which all schedules lie; none where there are none. */
export async function readIdRange(session: Session): Promise<{ first: string; last: string } | undefined> {
  const rows = await session.query<{ first: string; last: string }>(
    `select first.id as first, last.id as last
     from (select id from {schema}.schedules order by id limit 1) as first,
       (select id from {schema}.schedules order by id desc limit 1) as last`,
  )
  return rows[0]
}

/** Locks their cursors, made anew where there were none, and reads them afterwards. */
export async function lockForReconciling(
  session: Session,
  ids: readonly string[],
): Promise<CheckedSchedule[]> {
  await session.query(
    `insert into {schema}.cursors (schedule_id, version, kind, provider, decided_through)
     select s.id, s.version, s.timing->>'kind', case when s.scopes is null then s.job end, greatest(s.ledger_from,
       (select max(${RUN_TIME}) from {schema}.runs_asked as r where r.schedule_id = s.id and r.trigger = 'scheduled'),
       (select max(last_plan_time) from {schema}.skips as k where k.schedule_id = s.id),
       (select max(boundary) from {schema}.changes as h where h.schedule_id = s.id))
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
  return session.query<CheckedSchedule>(`${CHECKED} where s.id = any($2) order by s.id`, [session.now(), ids])
}

export interface Repair {
  id: string
  name: string
  nextAt: Instant | null
  wakeAt: Instant | null
  /** The version of the zone data that computed it; null where no zone can move it. */
  zoneData: string | null
  /** An `after` schedule without a cursor: it is right while a run is open. */
  hangs: boolean
  /** Active without a plan time left: it is finished, or deleted. */
  isDone: boolean
  deleteWhenDone: boolean
}

/** Writes cursors that this transaction has locked. */
export async function repairCursors(session: Session, repairs: readonly Repair[]): Promise<void> {
  const date = (instant: Instant | null) => (instant === null ? null : new Date(instant))
  await session.query(
    `with repair as (
       select * from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::text[]) as r (id, next_at, wake_at, zone_data)
     ),
     marked as (
       update {schema}.schedules as s set zone_data = repair.zone_data, zone_data_from = c.decided_through
       from repair join {schema}.cursors as c on c.schedule_id = repair.id
       where s.id = repair.id and s.zone_data is distinct from repair.zone_data
     )
     update {schema}.cursors as c
     set version = s.version, kind = s.timing->>'kind', provider = case when s.scopes is null then s.job end,
       next_at = repair.next_at, wake_at = repair.wake_at
     from repair join {schema}.schedules as s on s.id = repair.id where c.schedule_id = repair.id`,
    [
      repairs.map(({ id }) => id),
      repairs.map(({ nextAt }) => date(nextAt)),
      repairs.map(({ wakeAt }) => date(wakeAt)),
      repairs.map(({ zoneData }) => zoneData),
    ],
  )
}
