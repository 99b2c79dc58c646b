import { roleNameOf } from '../cast.js'
import type { World } from '../world.js'

/** A run as the tables have it, with instants in milliseconds. */
export interface RunRow {
  id: string
  scheduleId: string | null
  scope: string | null
  planTime: number | null
  trigger: string
  job: string
  key: string | null
  input: unknown
  state: string
  attempt: number
  lease: string | null
  createdAt: number
  finishedAt: number | null
  errorCode: string | null
  result: { nonce?: string; attempt?: number } | null
}

export interface SkipRow {
  scheduleId: string
  scope: string
  first: number
  last: number
  reason: string
  decidedAt: number
}

/** An attempt that came to nothing, as the tables have it. */
export interface AttemptRow {
  run: string
  number: number
  worker: string | null
  /** When it was claimed. */
  startedAt: number
  finishedAt: number
  code: string
}

interface ScheduleRow {
  id: string
  name: string
  state: string
  nextAt: number | null
  wakeAt: number | null
  decidedThrough: number
}

/** What the system says of itself, read past all proxies once everything is whole again. */
export interface Ledger {
  runs: RunRow[]
  skips: SkipRow[]
  schedules: ScheduleRow[]
  /** The names of the roles of all schedules that there ever were, by id. */
  names: Map<string, string>
  attempts: AttemptRow[]
  breaks: { scheduleId: string; changedAt: number }[]
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

export async function readLedger({ query }: Pick<World, 'query'>): Promise<Ledger> {
  const names = await query<{ id: string; name: string }>(
    'select distinct schedule_id as id, name from escapement.changes',
  )
  return {
    runs: await query<RunRow>(
      `select id, schedule_id as "scheduleId", scope, ${ms('plan_time')} as "planTime", trigger, job, key, input, state, attempt,
         lease_token as lease, ${ms('created_at')} as "createdAt", ${ms('finished_at')} as "finishedAt", error_code as "errorCode", result
       from escapement.runs`,
    ),
    skips: await query<SkipRow>(
      `select schedule_id as "scheduleId", scope, ${ms('first_plan_time')} as first, ${ms('last_plan_time')} as last, reason,
         ${ms('decided_at')} as "decidedAt"
       from escapement.skips`,
    ),
    schedules: await query<ScheduleRow>(
      `select s.id, s.name, s.state, ${ms('c.next_at')} as "nextAt", ${ms('c.wake_at')} as "wakeAt",
         ${ms('c.decided_through')} as "decidedThrough"
       from escapement.schedules as s join escapement.cursors as c on c.schedule_id = s.id`,
    ),
    names: new Map(names.map(({ id, name }) => [id, roleNameOf(name)])),
    attempts: await query<AttemptRow>(
      `select run_id as run, number, worker_id as worker, ${ms('started_at')} as "startedAt", ${ms('finished_at')} as "finishedAt", code
       from escapement.attempts`,
    ),
    breaks: await query(
      `select schedule_id as "scheduleId", ${ms('changed_at')} as "changedAt" from escapement.changes where action = 'break'`,
    ),
  }
}
