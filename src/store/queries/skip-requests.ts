import type { Instant } from '../../time/instant.js'
import type { Session } from '../store.js'

/** Plan times that operators asked to skip, of schedules whose cursors this transaction has locked. */
export async function readSkipRequests(
  session: Session,
  ids: readonly string[],
): Promise<Map<string, Set<Instant>>> {
  const requests = new Map<string, Set<Instant>>()
  if (ids.length === 0) return requests
  const rows = await session.query<{ schedule_id: string; plan_time: Date }>(
    'select schedule_id, plan_time from {schema}.skip_requests where schedule_id = any($1)',
    [ids],
  )
  for (const { schedule_id, plan_time } of rows) {
    const times = requests.get(schedule_id) ?? new Set()
    requests.set(schedule_id, times.add(plan_time.getTime()))
  }
  return requests
}

export async function addSkipRequest(
  session: Session,
  request: { scheduleId: string; planTime: Instant; by: string | null; now: Instant },
): Promise<boolean> {
  const rows = await session.query(
    `with marked as (update {schema}.cursors set has_requests = true where schedule_id = $1)
     insert into {schema}.skip_requests (schedule_id, plan_time, requested_by, requested_at) values ($1, $2, $3, $4)
     on conflict do nothing returning plan_time`,
    [request.scheduleId, new Date(request.planTime), request.by, new Date(request.now)],
  )
  return rows.length > 0
}

export async function removeSkipRequest(
  session: Session,
  { scheduleId, planTime }: { scheduleId: string; planTime: Instant },
): Promise<boolean> {
  const rows = await session.query(
    'delete from {schema}.skip_requests where schedule_id = $1 and plan_time = $2 returning plan_time',
    [scheduleId, new Date(planTime)],
  )
  return rows.length > 0
}

/** Forgets the wishes about plan times that are decided. */
export async function forgetRequests(session: Session, ids: readonly string[]): Promise<void> {
  await session.query(
    `with forgotten as (
       delete from {schema}.skip_requests as w using {schema}.cursors as c
       where w.schedule_id = any($1) and c.schedule_id = w.schedule_id and w.plan_time <= c.decided_through
     )
     update {schema}.cursors as c
     set has_requests = exists (
       select from {schema}.skip_requests as w where w.schedule_id = c.schedule_id and w.plan_time > c.decided_through
     )
     where c.schedule_id = any($1)`,
    [ids],
  )
}
