import type { RunState, RunTrigger } from '../../runs/run.js'
import type { SkipReason } from '../../schedules/catch-up.js'
import type { Instant } from '../../time/instant.js'
import { RUN_TIME } from '../rows.js'
import type { Session } from '../store.js'

export interface RunDisposition {
  id: string
  scope: string
  plan_time: Date
  state: RunState
  trigger: RunTrigger
  schedule_version: number | null
}

export interface SkipDisposition {
  scope: string
  schedule_version: number
  first_plan_time: Date
  last_plan_time: Date
  reason: SkipReason
}

/** Runs of occurrences with plan times from `from` (inclusive) to `to` (exclusive), oldest first. */
export function listRunDispositions(
  session: Session,
  scheduleId: string,
  { from, to }: { from: Instant; to: Instant },
  limit: number,
): Promise<RunDisposition[]> {
  return session.query<RunDisposition>(
    `select r.id, r.scope, r.plan_time, r.state, r.trigger, r.schedule_version from {schema}.runs as r
     where r.schedule_id = $1 and ${RUN_TIME} >= $2 and ${RUN_TIME} < $3 and r.trigger in ('scheduled', 'backfill')
     order by ${RUN_TIME} limit $4`,
    [scheduleId, new Date(from), new Date(to), limit],
  )
}

/** When the newest runs of occurrences with plan times before one were planned, newest first; once for each run. */
export function listRunTimesBefore(
  session: Session,
  scheduleId: string,
  { at, limit }: { at: Instant; limit: number },
): Promise<{ plan_time: Date }[]> {
  return session.query(
    `select r.plan_time from {schema}.runs_asked as r
     where r.schedule_id = $1 and ${RUN_TIME} < $2 and r.trigger in ('scheduled', 'backfill')
     order by ${RUN_TIME} desc limit $3`,
    [scheduleId, new Date(at), limit],
  )
}

/** The same of the oldest from one on, oldest first. */
export function listRunTimesFrom(
  session: Session,
  scheduleId: string,
  { at, limit }: { at: Instant; limit: number },
): Promise<{ plan_time: Date }[]> {
  return session.query(
    `select r.plan_time from {schema}.runs_asked as r
     where r.schedule_id = $1 and ${RUN_TIME} >= $2 and r.trigger in ('scheduled', 'backfill')
     order by ${RUN_TIME} limit $3`,
    [scheduleId, new Date(at), limit],
  )
}

/** Skipped ranges that begin before a plan time, those that end last first. */
export function listSkipsBefore(
  session: Session,
  scheduleId: string,
  { at, limit }: { at: Instant; limit: number },
): Promise<SkipDisposition[]> {
  return session.query<SkipDisposition>(
    `select scope, schedule_version, first_plan_time, last_plan_time, reason from {schema}.skips
     where schedule_id = $1 and first_plan_time < $2
     order by last_plan_time desc, scope desc limit $3`,
    [scheduleId, new Date(at), limit],
  )
}

/**
 * Skipped ranges that touch the plan times from `from` (inclusive) to `to` (exclusive), by their ends, after the one
 * that is given.
 */
export function listSkipDispositions(
  session: Session,
  scheduleId: string,
  {
    from,
    to,
    after,
    limit,
  }: { from: Instant; to: Instant; after: SkipDisposition | undefined; limit: number },
): Promise<SkipDisposition[]> {
  return session.query<SkipDisposition>(
    `select scope, schedule_version, first_plan_time, last_plan_time, reason from {schema}.skips
     where schedule_id = $1 and (last_plan_time, scope) > ($2, $3) and last_plan_time >= $4 and first_plan_time < $5
     order by last_plan_time, scope limit $6`,
    [
      scheduleId,
      after?.last_plan_time ?? new Date(from - 1),
      after?.scope ?? '',
      new Date(from),
      new Date(to),
      limit,
    ],
  )
}

/** Those of these runs that there are. */
export async function listExistingRuns(session: Session, ids: readonly string[]): Promise<Set<string>> {
  const rows = await session.query<{ id: string }>('select id from {schema}.runs_asked where id = any($1)', [
    ids,
  ])
  return new Set(rows.map(({ id }) => id))
}

export interface HistoryRow {
  at: Date
  scope: string
  first_plan_time: Date | null
  last_plan_time: Date | null
  run_id: string | null
  state: RunState | null
  trigger: RunTrigger | null
  attempt: number | null
  totals: Record<string, number> | null
  error_code: string | null
  error_message: string | null
  started_at: Date | null
  finished_at: Date | null
  reason: SkipReason | null
}

/** Where a page of the history begins, in each of its two sources; null for the newest. */
export interface HistoryPage {
  runsBefore: { at: Instant; id: string } | null
  skipsBefore: { at: Instant; scope: string } | null
  limit: number
}

/** Runs and skipped ranges of a schedule, newest first; of the same instant runs come before skips. */
export function listHistory(
  session: Session,
  scheduleId: string,
  { runsBefore, skipsBefore, limit }: HistoryPage,
): Promise<HistoryRow[]> {
  return session.query<HistoryRow>(
    `(select ${RUN_TIME} as at, r.scope, r.plan_time as first_plan_time, r.plan_time as last_plan_time, r.id as run_id,
        r.state, r.trigger, r.attempt, r.totals, r.error_code, r.error_message, r.started_at, r.finished_at, null as reason
      from {schema}.runs as r
      where r.schedule_id = $1 and (${RUN_TIME}, r.id) < (coalesce($2::timestamptz, 'infinity'), $3::uuid)
      order by ${RUN_TIME} desc, r.id desc limit $6)
     union all
     (select last_plan_time, scope, first_plan_time, last_plan_time, null, null, null, null, null, null, null, null, null, reason
      from {schema}.skips
      where schedule_id = $1 and (last_plan_time, scope) < (coalesce($4::timestamptz, 'infinity'), $5::text)
      order by last_plan_time desc, scope desc limit $6)
     order by at desc, run_id desc nulls last, scope desc limit $6`,
    [
      scheduleId,
      runsBefore === null ? null : new Date(runsBefore.at),
      runsBefore?.id ?? FIRST_ID,
      skipsBefore === null ? null : new Date(skipsBefore.at),
      skipsBefore?.scope ?? '',
      limit,
    ],
  )
}

/** Before all others. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** What became of one plan time; a run outranks a skip. */
export async function findDecision(
  session: Session,
  scheduleId: string,
  planTime: Instant,
): Promise<{ runId: string | null; reason: SkipReason | null } | undefined> {
  const [row] = await session.query<{ run_id: string | null; reason: SkipReason | null }>(
    `select r.id as run_id, null as reason from {schema}.runs_asked as r
     where r.schedule_id = $1 and ${RUN_TIME} = $2 and r.trigger in ('scheduled', 'backfill')
     union all
     select null, reason from {schema}.skips where schedule_id = $1 and $2 between first_plan_time and last_plan_time
     limit 1`,
    [scheduleId, new Date(planTime)],
  )
  return row && { runId: row.run_id, reason: row.reason }
}

export interface OccurrenceRun {
  id: string
  scope: string
  planTime: Instant
  eligibleAt: Instant
}

/** Runs that an operator asks for, of plan times that were skipped. Those that exist are left; returns the new ones. */
export async function insertBackfill(
  session: Session,
  schedule: { id: string; version: number },
  runs: readonly OccurrenceRun[],
  { now, traceContext }: { now: Instant; traceContext: string | null },
): Promise<string[]> {
  const rows = await session.query<{ id: string }>(
    `with created as (
       insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
         priority, created_at, trace_context)
       select run.id, s.id, run.scope, run.plan_time, s.version, 'backfill', s.job, s.input, s.queue, s.priority, $6, $7
       from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as run (id, scope, plan_time)
       cross join {schema}.schedules as s
       where s.id = $1
       on conflict (id) do nothing
       returning id, schedule_id, scope, job, queue, priority
     )
     insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at)
     select created.*, 'pending', run.eligible_at
     from created join unnest($2::uuid[], $5::timestamptz[]) as run (id, eligible_at) on run.id = created.id
     returning id`,
    [
      schedule.id,
      runs.map(({ id }) => id),
      runs.map(({ scope }) => scope),
      runs.map(({ planTime }) => new Date(planTime)),
      runs.map(({ eligibleAt }) => new Date(eligibleAt)),
      new Date(now),
      traceContext,
    ],
  )
  return rows.map(({ id }) => id)
}

/** A manual run. Nothing comes back when its lane is taken, or when its id exists already. */
export async function insertManualRun(
  session: Session,
  run: {
    id: string
    scheduleId: string
    scope: string
    lane: 0 | null
    input: string | null
    now: Instant
    traceContext: string | null
  },
): Promise<boolean> {
  const rows = await session.query(
    `with opened as (
       insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, lane)
       select $2, s.id, $3, s.job, s.queue, s.priority, 'pending', $5, $6
       from {schema}.schedules as s
       where s.id = $1 and not exists (select from {schema}.runs_asked where id = $2)
       on conflict do nothing
       returning id, schedule_id, scope
     )
     insert into {schema}.runs_asked (id, schedule_id, scope, schedule_version, trigger, job, input, queue, priority,
       created_at, trace_context)
     select opened.id, opened.schedule_id, opened.scope, s.version, 'manual', s.job, coalesce($4::jsonb, s.input), s.queue,
       s.priority, $5, $7
     from opened join {schema}.schedules as s on s.id = opened.schedule_id
     returning id`,
    [run.scheduleId, run.id, run.scope, run.input, new Date(run.now), run.lane, run.traceContext],
  )
  return rows.length > 0
}
