import { runIdOf } from '../../runs/run-id.js'
import type { Plan } from '../../schedules/plan.js'
import type { Instant } from '../../time/instant.js'
import type { Timing } from '../../time/timing.js'
import { msUntil } from '../ms-until.js'
import { NOW, type Session } from '../store.js'

/** What a tick reads of a schedule that is due. */
export interface DueSchedule {
  id: string
  name: string
  version: number
  scopes: string[]
  timing: Timing
  next_at: Date
  end_at: Date | null
}

/**
 * Takes up to `limit` schedules that are due, the longest waiting first, and locks them until the transaction ends;
 * those that another scheduler has locked are passed over. `now` is read row by row above the lock, so the last one
 * is an instant at which all locks were held.
 */
export async function lockDueSchedules(
  session: Session,
  limit: number,
): Promise<{ due: DueSchedule[]; now: Instant | null }> {
  const rows = await session.query<DueSchedule & { now: Date }>(
    `select locked.*, ${NOW} as now
     from (
       select id, name, version, scopes, timing, next_at, end_at
       from {schema}.schedules
       where wake_at <= (select ${NOW}) and state = 'active' and next_at is not null
       order by wake_at, id
       limit $2
       for update skip locked
     ) as locked`,
    [session.now(), limit],
  )
  return { due: rows, now: rows.at(-1)?.now.getTime() ?? null }
}

export interface PlannedSchedule {
  schedule: Pick<DueSchedule, 'id' | 'version' | 'scopes' | 'next_at'>
  plan: Plan
}

export interface CreatedRun {
  id: string
  schedule_id: string
  scope: string
  plan_time: Date
  job: string
}

/**
 * Records any number of plans in one statement: every cursor moves by compare-and-set on (id, version, next_at), and
 * runs and skips are inserted only for what that update returned. A schedule that was changed since it was read
 * writes nothing; a run that exists already is left as it is. Returns the runs that are new.
 */
export async function recordPlans(
  session: Session,
  planned: readonly PlannedSchedule[],
  channel: string,
): Promise<CreatedRun[]> {
  const cursors = planned.map(({ schedule, plan }) => ({ ...schedule, ...plan }))
  const runs = planned.flatMap(({ schedule, plan }) =>
    plan.run.flatMap((planTime) =>
      schedule.scopes.map((scope) => ({
        id: runIdOf(schedule.id, scope, planTime),
        scheduleId: schedule.id,
        scope,
        planTime,
      })),
    ),
  )
  const skips = planned.flatMap(({ schedule, plan }) =>
    plan.skip.flatMap((range) =>
      schedule.scopes.map((scope) => ({ ...range, scheduleId: schedule.id, scope })),
    ),
  )
  return session.query<CreatedRun>(RECORD_PLANS, [
    session.now(),
    channel,
    cursors.map(({ id }) => id),
    cursors.map(({ version }) => version),
    cursors.map(({ next_at }) => next_at),
    cursors.map(({ nextAt }) => (nextAt === null ? null : new Date(nextAt))),
    cursors.map(({ decidedThrough }) => new Date(decidedThrough)),
    runs.map(({ id }) => id),
    runs.map(({ scheduleId }) => scheduleId),
    runs.map(({ scope }) => scope),
    runs.map(({ planTime }) => new Date(planTime)),
    skips.map(({ scheduleId }) => scheduleId),
    skips.map(({ scope }) => scope),
    skips.map(({ first }) => new Date(first)),
    skips.map(({ last }) => new Date(last)),
    skips.map(({ reason }) => reason),
  ])
}

const RECORD_PLANS = `
  with moved as (
    update {schema}.schedules as s
    set next_at = plan.next_at, wake_at = plan.next_at, decided_through = plan.decided_through,
      state = case when plan.next_at is null then 'finished' else s.state end
    from unnest($3::uuid[], $4::int[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
      as plan (id, version, cursor, next_at, decided_through)
    where s.id = plan.id and s.version = plan.version and s.next_at = plan.cursor
    returning s.id, s.version, s.job, s.input, s.queue, s.priority
  ),
  created as (
    insert into {schema}.runs (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority,
      state, eligible_at, created_at)
    select planned.id, moved.id, planned.scope, planned.plan_time, moved.version, 'scheduled', moved.job, moved.input,
      moved.queue, moved.priority, 'pending', planned.plan_time, ${NOW}
    from unnest($8::uuid[], $9::uuid[], $10::text[], $11::timestamptz[]) as planned (id, schedule_id, scope, plan_time)
    join moved on moved.id = planned.schedule_id
    on conflict (id) do nothing
    returning id, schedule_id, scope, plan_time, job
  ),
  skipped as (
    insert into {schema}.skips (schedule_id, scope, first_plan_time, last_plan_time, reason, decided_at)
    select moved.id, range.scope, range.first, range.last, range.reason, ${NOW}
    from unnest($12::uuid[], $13::text[], $14::timestamptz[], $15::timestamptz[], $16::text[])
      as range (schedule_id, scope, first, last, reason)
    join moved on moved.id = range.schedule_id
    on conflict do nothing
  ),
  -- Aggregated first, so that a batch sends one notification, and none when it created nothing.
  notified as (select pg_notify($2, 'runs') from (select count(*) as runs from created) as batch where batch.runs > 0)
  select created.* from created left join notified on true`

/** Milliseconds until a scheduler has to look again; null when no schedule waits. */
export function msUntilWake(session: Session): Promise<number | null> {
  return msUntil(session, 'select min(wake_at) from {schema}.schedules where wake_at is not null')
}

/** Looks at these schedules again in `ms`; their cursors stay. */
export async function postponeSchedules(session: Session, ids: readonly string[], ms: number): Promise<void> {
  await session.query(
    `update {schema}.schedules set wake_at = ${NOW} + $3::float8 * interval '1 millisecond' where id = any($2)`,
    [session.now(), ids, ms],
  )
}
