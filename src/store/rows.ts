import type { Run, RunState, RunTrigger } from '../runs/run.js'
import type { Plannable } from '../schedules/plan.js'
import type { Policies } from '../schedules/policies.js'
import {
  DEFAULT_SCOPE,
  type Schedule,
  type ScheduleContent,
  type ScheduleState,
} from '../schedules/schedule.js'
import { compileTiming, type Timing } from '../time/timing.js'

/** A schedule and its cursor as they come back, in the order of `SCHEDULE_COLUMNS`. */
export interface ScheduleRow {
  id: string
  name: string
  version: number
  job: string
  input: unknown
  queue: string
  priority: number
  group: string | null
  scopes: string[] | null
  timing: Timing
  policies: Policies
  description: string | null
  metadata: Record<string, unknown> | null
  start_at: Date
  end_at: Date | null
  limit: number | null
  until_at: Date | null
  source: string | null
  state: ScheduleState
  state_reason: string | null
  state_by: string | null
  state_since: Date
  state_until: Date | null
  ledger_from: Date
  /** The version that computed the cursor: '' where it is not known, null where no zone can move it. */
  zone_data: string | null
  created_at: Date
  updated_at: Date
  /** The version that the cursor says it belongs to: the schedule's own, unless it is damaged. */
  cursor_version: number
  next_at: Date | null
  decided_through: Date
  has_requests: boolean
  plan_error: string | null
  /** Plan times of an `after` timing that were decided. */
  counted: number
  /** Scheduled runs that failed in a row. */
  failures: number
}

/** For `schedules as s join cursors as c`. */
export const SCHEDULE_COLUMNS = `s.id, s.name, s.version, s.job, s.input, s.queue, s.priority, s."group", s.scopes, s.timing,
  s.policies, s.description, s.metadata, s.start_at, s.end_at, s."limit", s.until_at, s.source, s.state, s.state_reason,
  s.state_by, s.state_since, s.state_until, s.ledger_from, s.zone_data, s.created_at, s.updated_at,
  c.version as cursor_version, c.next_at, c.decided_through, c.has_requests, c.plan_error, c.counted, c.failures`

export const SCHEDULES_AND_CURSORS =
  '{schema}.schedules as s join {schema}.cursors as c on c.schedule_id = s.id'

export function toSchedule(row: ScheduleRow): Schedule {
  const { policies } = row
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    state: row.state,
    stateNote:
      row.state === 'active'
        ? null
        : { reason: row.state_reason, by: row.state_by, since: row.state_since, until: row.state_until },
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    group: row.group,
    scopes: row.scopes,
    timing: row.timing,
    ...policies,
    description: row.description,
    metadata: row.metadata,
    startAt: row.start_at,
    endAt: row.end_at,
    limit: row.limit,
    nextAt: row.next_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function contentOf(row: ScheduleRow): ScheduleContent {
  const startsAtCreation = row.start_at.getTime() === row.created_at.getTime()
  return {
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    group: row.group,
    scopes: row.scopes,
    // Rows from before there were breakers have none.
    policies: { ...row.policies, breaker: row.policies.breaker ?? null },
    description: row.description,
    metadata: row.metadata,
    startAt: startsAtCreation ? null : row.start_at.toISOString(),
    endAt: row.end_at?.toISOString() ?? null,
    limit: row.limit,
    timing: row.timing,
  }
}

/** `provided` stands in for the scopes of a schedule whose job has a provider. */
export function toPlannable(
  row: Pick<
    ScheduleRow,
    'id' | 'timing' | 'policies' | 'scopes' | 'next_at' | 'until_at' | 'limit' | 'counted'
  >,
  provided: readonly string[] = [DEFAULT_SCOPE],
): Plannable {
  return {
    id: row.id,
    timing: compileTiming(row.timing),
    policies: row.policies,
    scopes: row.scopes ?? provided,
    nextAt: row.next_at?.getTime() ?? null,
    until: row.until_at?.getTime() ?? null,
    left: row.limit === null ? null : row.limit - row.counted,
  }
}

/** Where a run stands in its schedule's history, in `runs as r` or `runs_asked as r`: as the index `runs_history` has it. */
export const RUN_TIME = 'coalesce(r.plan_time, r.created_at)'

export interface RunRow {
  id: string
  state: RunState
  job: string
  input: unknown
  queue: string
  priority: number
  trigger: RunTrigger
  key: string | null
  schedule_id: string | null
  schedule_name: string | null
  schedule_version: number | null
  scope: string | null
  plan_time: Date | null
  eligible_at: Date
  attempt: number
  worker_id: string | null
  lane: number | null
  result: unknown
  progress: number | null
  progress_note: string | null
  totals: Record<string, number> | null
  error_code: string | null
  error_message: string | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
}

const RUN_COLUMN_NAMES = [
  'id',
  'state',
  'job',
  'input',
  'queue',
  'priority',
  'trigger',
  'key',
  'schedule_id',
  'schedule_version',
  'scope',
  'plan_time',
  'eligible_at',
  'attempt',
  'worker_id',
  'lane',
  'result',
  'progress',
  'progress_note',
  'totals',
  'error_code',
  'error_message',
  'created_at',
  'started_at',
  'finished_at',
]
/** Qualified, for statements in which another table is joined: `runs as r`. */
export const RUN_COLUMNS = `${RUN_COLUMN_NAMES.map((name) => `r.${name}`).join(', ')},
  (select s.name from {schema}.schedules as s where s.id = r.schedule_id) as schedule_name`

/** How a run stands; the other columns say what it is. */
export type RunStanding = Pick<
  RunRow,
  'state' | 'worker_id' | 'result' | 'progress' | 'progress_note' | 'totals' | 'finished_at'
>

/** In two parts, which are mostly one row: whoever has but the first need not copy it, which takes Node longer than all of the rest. */
export function toRun(row: Omit<RunRow, keyof RunStanding>, standing: RunStanding): Run {
  return {
    id: row.id,
    state: standing.state,
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    trigger: row.trigger,
    key: row.key,
    scheduleId: row.schedule_id,
    schedule: row.schedule_name,
    scheduleVersion: row.schedule_version,
    scope: row.scope,
    planTime: row.plan_time,
    eligibleAt: row.eligible_at,
    attempt: row.attempt,
    workerId: standing.worker_id,
    result: standing.result,
    progress:
      standing.progress === null ? null : { fraction: standing.progress, note: standing.progress_note },
    totals: standing.totals,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: standing.finished_at,
  }
}
