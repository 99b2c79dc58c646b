import { type DirectBatch, toBatches } from '../../runs/direct-batches.js'
import {
  isNotice,
  minuteAfter,
  minuteOf,
  type NoticeEvent,
  noticeRuns,
  noticesOf,
} from '../../runs/notice.js'
import type { NoticeEventName, NoticeRule } from '../../runs/notification.js'
import type { Breakage } from '../../schedules/breaker.js'
import { NOW, type Session } from '../store.js'
import { insertDirectRuns } from './enqueueing.js'

/** What a transaction has done that somebody may have to be told of. */
export interface Happened {
  /** Runs that have failed. */
  failed: readonly string[]
  broken: readonly Breakage[]
}

/** Whom to tell, and the channel on which workers hear of it. */
export interface Noticing {
  rules: readonly NoticeRule[]
  channel: string
}

/** A notice that was inserted. */
export interface InsertedNotice {
  id: string
  job: string
}

export function isTold(rules: readonly NoticeRule[], name: NoticeEventName): boolean {
  return rules.some(({ on }) => on.includes(name))
}

/**
 * Inserts the notices of what happened in this transaction, as the last that it does. Whoever has inserted the same notice and
 * not committed yet is waited for: were that rolled back, this one must tell. It has nothing left to wait for but later
 * notices, as all insert them in the order of their minutes and ids: so nobody waits in a circle, nor for more than a commit.
 *
 * A schedule that is broken is told of even if this minute has its notice: when the next one begins, in that one's place.
 */
export async function insertNotices(
  session: Session,
  { rules, channel }: Noticing,
  { failed, broken }: Happened,
): Promise<InsertedNotice[]> {
  const isWanted =
    (failed.length > 0 && isTold(rules, 'run.failed')) ||
    (broken.length > 0 && isTold(rules, 'schedule.broken'))
  if (!isWanted) return []
  const rows = await listEvents(session, { failed, broken })
  const notices = noticesOf(rules, rows.filter(({ key }) => !isNotice(key)).map(toEvent))
  if (notices.length === 0) return []
  const minute = minuteOf(rows[0]!.now.getTime())
  const next = minuteAfter(minute)
  const now = await insertIn(session, channel, noticeRuns(notices, minute, null))
  const late = notices.filter(({ event }, index) => event.name === 'schedule.broken' && !now[index])
  const later = await insertIn(session, channel, noticeRuns(late, next, next))
  return [...now, ...later].filter((notice) => notice !== null)
}

/** Each that was new, in its place; null for the others. */
async function insertIn(
  session: Session,
  channel: string,
  { ids, runs }: DirectBatch,
): Promise<(InsertedNotice | null)[]> {
  const created = new Set<string>()
  for (const batch of toBatches({ ids, runs })) {
    for (const id of await insertDirectRuns(session, { channel }, batch)) created.add(id)
  }
  return ids.map((id, index) => (created.has(id) ? { id, job: runs[index]!.job } : null))
}

interface EventRow {
  now: Date
  name: NoticeEventName
  at: Date
  schedule_id: string | null
  schedule: string | null
  group: string | null
  job: string
  key: string | null
  reason: string | null
  until: Date | null
  run_id: string | null
  attempt: number | null
  scope: string | null
  plan_time: Date | null
  error_code: string | null
  error_message: string | null
}

function listEvents(session: Session, { failed, broken }: Happened): Promise<EventRow[]> {
  const brokenIds = broken.map(({ scheduleId }) => scheduleId)
  return session.query<EventRow>(LIST_EVENTS, [session.now(), failed, brokenIds])
}

function toEvent(row: EventRow): NoticeEvent {
  return {
    name: row.name,
    at: row.at.toISOString(),
    scheduleId: row.schedule_id,
    schedule: row.schedule,
    group: row.group,
    job: row.job,
    reason: row.reason,
    until: row.until?.toISOString() ?? null,
    runId: row.run_id,
    attempt: row.attempt,
    scope: row.scope,
    planTime: row.plan_time?.toISOString() ?? null,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  }
}

/** A schedule that is gone is told of by the name and the group that it had last. */
const LIST_EVENTS = `
  with clock as materialized (select ${NOW} as now)
  select clock.now, 'run.failed' as name, e.finished_at as at, asked.schedule_id, coalesce(s.name, gone.name) as schedule,
    case when s.id is null then gone."group" else s."group" end as "group", asked.job, asked.key, null as reason,
    null::timestamptz as until, e.id as run_id, e.attempt, asked.scope, asked.plan_time, e.error_code, e.error_message
  from clock, {schema}.runs_ended as e join {schema}.runs_asked as asked on asked.id = e.id
  left join {schema}.schedules as s on s.id = asked.schedule_id
  left join lateral (
    select name, before->>'group' as "group" from {schema}.changes
    where s.id is null and schedule_id = asked.schedule_id and before is not null order by id desc limit 1
  ) as gone on true
  where e.id = any($2)
  union all
  select clock.now, 'schedule.broken', s.state_since, s.id, s.name, s."group", s.job, null, s.state_reason, s.state_until,
    null, null, null, null, null, null
  from clock, {schema}.schedules as s where s.id = any($3)`
