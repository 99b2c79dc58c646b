import type { ScheduleContent } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import { SCHEDULE_COLUMNS, type ScheduleRow } from '../rows.js'
import { NOW, type Session } from '../store.js'

export async function findSchedule(session: Session, name: string): Promise<ScheduleRow | undefined> {
  const [row] = await session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from {schema}.schedules where name = $1`,
    [name],
  )
  return row
}

/** By name, after the name `after`; `limit` rows at most. */
export function listSchedules(
  session: Session,
  { after, limit }: { after: string; limit: number },
): Promise<ScheduleRow[]> {
  return session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from {schema}.schedules where name > $1 order by name limit $2`,
    [after, limit],
  )
}

/** The schedule's row, locked until the transaction ends, and the time after the lock was held. */
export async function lockSchedule(
  session: Session,
  name: string,
): Promise<{ row: ScheduleRow | undefined; now: Instant }> {
  const [row] = await session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from {schema}.schedules where name = $1 for update`,
    [name],
  )
  return { row, now: await readNow(session) }
}

async function readNow(session: Session): Promise<Instant> {
  const [row] = await session.query<{ now: Date }>(`select ${NOW} as now`, [session.now()])
  return row!.now.getTime()
}

export interface Cursor {
  nextAt: Instant | null
  decidedThrough: Instant
  now: Instant
}

/** Whether the row is new; another process may have created one of the same name in between. */
export async function insertSchedule(
  session: Session,
  schedule: { id: string; name: string; content: ScheduleContent },
  { nextAt, decidedThrough, now }: Cursor,
): Promise<ScheduleRow | undefined> {
  const { content } = schedule
  const [row] = await session.query<ScheduleRow>(
    `insert into {schema}.schedules (id, name, version, job, input, queue, priority, "group", scopes, timing, policies,
       description, metadata, start_at, end_at, state, next_at, wake_at, decided_through, ledger_from, created_at,
       updated_at)
     values ($1, $2, 1, $3, $4::jsonb, $5, $6, $7, $8::text[], $9::jsonb, '{}', $10, $11::jsonb,
       coalesce($12::timestamptz, $15), $13, case when $14::timestamptz is null then 'finished' else 'active' end, $14,
       $14, $16, $16, $15, $15)
     on conflict (name) do nothing
     returning ${SCHEDULE_COLUMNS}`,
    [
      schedule.id,
      schedule.name,
      ...contentParams(content),
      toDate(nextAt),
      new Date(now),
      new Date(decidedThrough),
    ],
  )
  return row
}

/** Replaces the content of a row that this transaction has locked. */
export async function updateSchedule(
  session: Session,
  id: string,
  content: ScheduleContent,
  { nextAt, decidedThrough, now }: Cursor,
): Promise<ScheduleRow> {
  const [row] = await session.query<ScheduleRow>(
    `update {schema}.schedules
     set version = version + 1, job = $2, input = $3::jsonb, queue = $4, priority = $5, "group" = $6,
       scopes = $7::text[], timing = $8::jsonb, description = $9, metadata = $10::jsonb,
       start_at = coalesce($11::timestamptz, created_at), end_at = $12,
       state = case when $13::timestamptz is null then 'finished' else 'active' end, next_at = $13, wake_at = $13,
       decided_through = $15, updated_at = $14
     where id = $1
     returning ${SCHEDULE_COLUMNS}`,
    [id, ...contentParams(content), toDate(nextAt), new Date(now), new Date(decidedThrough)],
  )
  return row!
}

function contentParams(content: ScheduleContent) {
  return [
    content.job,
    JSON.stringify(content.input),
    content.queue,
    content.priority,
    content.group,
    content.scopes,
    JSON.stringify(content.timing),
    content.description,
    content.metadata === null ? null : JSON.stringify(content.metadata),
    content.startAt,
    content.endAt,
  ] as const
}

function toDate(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}

export async function insertChange(
  session: Session,
  change: {
    scheduleId: string
    version: number
    action: string
    actor: string | null
    before: ScheduleContent | null
    after: ScheduleContent | null
    boundary: Instant
    now: Instant
  },
): Promise<void> {
  await session.query(
    `insert into {schema}.changes (schedule_id, version, action, actor, before, after, boundary, changed_at)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8)`,
    [
      change.scheduleId,
      change.version,
      change.action,
      change.actor,
      change.before === null ? null : JSON.stringify(change.before),
      change.after === null ? null : JSON.stringify(change.after),
      new Date(change.boundary),
      new Date(change.now),
    ],
  )
}

/** Tells other processes to look for `what`. Sent at commit; PostgreSQL folds repeats of one transaction into one. */
export async function notify(session: Session, channel: string, what: 'schedules' | 'runs'): Promise<void> {
  await session.query('select pg_notify($1, $2)', [channel, what])
}
