import type { Run, RunState, RunTrigger } from '../runs/run.js'
import type { Plannable } from '../schedules/plan.js'
import type { Schedule, ScheduleState } from '../schedules/schedule.js'
import { compileTiming, type Timing } from '../time/timing.js'

/** Columns of `schedules` as they come back, in the order of `SCHEDULE_COLUMNS`. */
export interface ScheduleRow {
  id: string
  name: string
  version: number
  job: string
  input: unknown
  queue: string
  priority: number
  group: string | null
  scopes: string[]
  timing: Timing
  description: string | null
  metadata: Record<string, unknown> | null
  start_at: Date
  end_at: Date | null
  state: ScheduleState
  next_at: Date | null
  decided_through: Date
  created_at: Date
  updated_at: Date
}

export const SCHEDULE_COLUMNS = `id, name, version, job, input, queue, priority, "group", scopes, timing, description,
  metadata, start_at, end_at, state, next_at, decided_through, created_at, updated_at`

export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    state: row.state,
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    group: row.group,
    scopes: row.scopes,
    timing: row.timing,
    description: row.description,
    metadata: row.metadata,
    startAt: row.start_at,
    endAt: row.end_at,
    nextAt: row.next_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function toPlannable(row: { timing: Timing; next_at: Date; end_at: Date | null }): Plannable {
  return {
    timing: compileTiming(row.timing),
    nextAt: row.next_at.getTime(),
    endAt: row.end_at?.getTime() ?? null,
  }
}

export interface RunRow {
  id: string
  state: RunState
  job: string
  input: unknown
  queue: string
  priority: number
  trigger: RunTrigger
  schedule_id: string | null
  schedule_version: number | null
  scope: string | null
  plan_time: Date | null
  eligible_at: Date
  attempt: number
  worker_id: string | null
  result: unknown
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
  'schedule_id',
  'schedule_version',
  'scope',
  'plan_time',
  'eligible_at',
  'attempt',
  'worker_id',
  'result',
  'error_code',
  'error_message',
  'created_at',
  'started_at',
  'finished_at',
]
/** Qualified, for statements in which another table is joined: `runs as r`. */
export const RUN_COLUMNS = RUN_COLUMN_NAMES.map((name) => `r.${name}`).join(', ')

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    state: row.state,
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    trigger: row.trigger,
    scheduleId: row.schedule_id,
    scheduleVersion: row.schedule_version,
    scope: row.scope,
    planTime: row.plan_time,
    eligibleAt: row.eligible_at,
    attempt: row.attempt,
    workerId: row.worker_id,
    result: row.result,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}
