import type { RunTrigger } from '../../runs/run.js'
import { RUN_TIME } from '../rows.js'
import { NOW, type Session } from '../store.js'
import type { PlannedSchedule } from './recording.js'

export interface CancelledRun {
  id: string
  job: string
  schedule_id: string | null
  scope: string | null
  plan_time: Date | null
  attempt: number
  lane: number | null
  trigger: RunTrigger
  /** Whether a handler was at work on it. */
  was_running: boolean
}

/**
 * Ends open runs as cancelled. The lease of one that is running is void at once; its handler is told at its next
 * renewal, and what it says then is refused.
 */
const cancelling = (which: string) => `
  with clock as materialized (select ${NOW} as now),
  open as materialized (
    select o.id from {schema}.runs_open as o where ${which} order by o.id for update
  ),
  r as (delete from {schema}.runs_open as r using open where r.id = open.id returning r.*),
  ended as (
    insert into {schema}.runs_ended (id, state, eligible_at, started_at, finished_at, lease_token, worker_id, attempt,
      progress, progress_note, totals, error_code, error_message)
    select r.id, 'cancelled', r.eligible_at, r.started_at, clock.now, r.lease_token, r.worker_id, r.attempt,
      r.progress, r.progress_note, r.totals, 'cancelled', $3
    from r, clock
  )
  select r.id, r.job, r.schedule_id, r.scope, asked.plan_time, r.attempt, r.lane, asked.trigger,
    r.state = 'running' as was_running
  from r join {schema}.runs_asked as asked on asked.id = r.id`

export async function cancelRun(
  session: Session,
  id: string,
  reason: string,
): Promise<CancelledRun | undefined> {
  const [row] = await session.query<CancelledRun>(cancelling('o.id = $2'), [session.now(), id, reason])
  return row
}

/**
 * Cancels what is open where a schedule with `overlap: 'replace'` is about to run anew, in the statement before it does;
 * the cursors are locked. Backfilled runs that wait were asked for by a person, each for its own plan time: they wait on.
 */
export async function replaceOpen(
  session: Session,
  planned: readonly PlannedSchedule[],
): Promise<CancelledRun[]> {
  const lanes = planned
    .filter(({ schedule }) => schedule.policies.overlap === 'replace')
    .flatMap(({ schedule, plan }) => plan.runs.map(({ scope }) => ({ scheduleId: schedule.id, scope })))
  if (lanes.length === 0) return []
  const scheduleIds = lanes.map(({ scheduleId }) => scheduleId)
  const scopes = lanes.map(({ scope }) => scope)
  await session.query(PUT_BACKFILLED_BACK, [scheduleIds, scopes])
  return session.query<CancelledRun>(REPLACE_RUNS, [
    session.now(),
    scheduleIds,
    'Replaced by the next occurrence.',
    scopes,
  ])
}

const IS_BACKFILLED = `exists (
  select from {schema}.runs_asked as asked where asked.id = o.id and asked.trigger = 'backfill'
)`

/** The one whose turn it is, and that nobody has begun. */
const PUT_BACKFILLED_BACK = `
  update {schema}.runs_open as o set lane = 2
  where o.lane = 0 and o.state <> 'running' and (o.schedule_id, o.scope) in (select * from unnest($1::uuid[], $2::text[]))
    and ${IS_BACKFILLED}`

const REPLACE_RUNS = cancelling(
  `o.lane is not null and (o.schedule_id, o.scope) in (select * from unnest($2::uuid[], $4::text[]))
     and not (o.lane = 2 and ${IS_BACKFILLED})`,
)

/**
 * Gives failed runs one more attempt, now. Those of a schedule whose runs must not overlap take lane 0, the oldest of
 * them; where it is taken they stay as they are. The cursors of their schedules are locked. Returns the ids of those that
 * are tried again.
 */
export async function retryRuns(session: Session, ids: readonly string[]): Promise<string[]> {
  const rows = await session.query<{ id: string }>(RETRY_RUNS, [session.now(), ids])
  return rows.map(({ id }) => id)
}

const RETRY_RUNS = `
  with clock as materialized (select ${NOW} as now),
  failed as materialized (
    select r.id, r.schedule_id, r.scope, coalesce(s.policies->>'overlap', 'allow') <> 'allow' as is_laned,
      row_number() over (partition by r.schedule_id, r.scope order by r.plan_time, r.id) as place
    from {schema}.runs_ended as e join {schema}.runs_asked as r on r.id = e.id
    left join {schema}.schedules as s on s.id = r.schedule_id
    where e.id = any($2) and e.state = 'failed'
  ),
  ready as materialized (
    select f.id, f.is_laned from failed as f
    where not f.is_laned or f.place = 1 and not exists (
      select from {schema}.runs_open as open
      where open.schedule_id = f.schedule_id and open.scope = f.scope and open.lane is not null
    )
  ),
  taken as (
    delete from {schema}.runs_ended as e using ready where e.id = ready.id and e.state = 'failed'
    returning e.*, ready.is_laned
  )
  insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, attempt, started_at,
    worker_id, progress, progress_note, totals, error_code, error_message, lane, has_counted)
  select r.id, r.schedule_id, r.scope, r.job, r.queue, r.priority, 'retrying', clock.now, taken.attempt, taken.started_at,
    taken.worker_id, taken.progress, taken.progress_note, taken.totals, taken.error_code, taken.error_message,
    case when taken.is_laned then 0 end, true
  from clock, taken join {schema}.runs_asked as r on r.id = taken.id
  returning id`

export interface FailedFilter {
  job?: string | undefined
  queue?: string | undefined
  scheduleId?: string | undefined
  /** Of schedules of this group. */
  group?: string | undefined
  trigger?: RunTrigger | undefined
  finishedAfter?: Date | undefined
  finishedBefore?: Date | undefined
  plannedAfter?: Date | undefined
  plannedBefore?: Date | undefined
}

export interface FailedRun {
  id: string
  schedule_id: string | null
  finished_at: Date
}

/** Runs that failed up to `through`, the longest ago first, after `after`. */
export async function listFailed(
  session: Session,
  filter: FailedFilter,
  { after, through, limit }: { after: FailedRun | null; through: Date; limit: number },
): Promise<FailedRun[]> {
  return session.query<FailedRun>(
    `select e.id, r.schedule_id, e.finished_at
     from {schema}.runs_ended as e join {schema}.runs_asked as r on r.id = e.id
     where e.state = 'failed' and e.finished_at <= $9 and ($1::timestamptz is null or (e.finished_at, e.id) > ($1, $2))
       and ($4::text is null or r.job = $4) and ($5::text is null or r.queue = $5) and ($6::uuid is null or r.schedule_id = $6)
       and ($10::text is null or (select s."group" from {schema}.schedules as s where s.id = r.schedule_id) = $10)
       and ($7::timestamptz is null or e.finished_at >= $7) and ($8::timestamptz is null or e.finished_at < $8)
       and ($11::timestamptz is null or ${RUN_TIME} >= $11) and ($12::timestamptz is null or ${RUN_TIME} < $12)
       and ($13::text is null or r.trigger = $13)
     order by e.finished_at, e.id limit $3`,
    [
      after?.finished_at ?? null,
      after?.id ?? null,
      limit,
      filter.job ?? null,
      filter.queue ?? null,
      filter.scheduleId ?? null,
      filter.finishedAfter ?? null,
      filter.finishedBefore ?? null,
      through,
      filter.group ?? null,
      filter.plannedAfter ?? null,
      filter.plannedBefore ?? null,
      filter.trigger ?? null,
    ],
  )
}
