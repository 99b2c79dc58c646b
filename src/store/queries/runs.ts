import { RUN_COLUMNS, RUN_TIME, type RunRow } from '../rows.js'
import type { Session } from '../store.js'

/** Of a schedule of this group, where one is given. */
export async function findRun(session: Session, id: string, group?: string): Promise<RunRow | undefined> {
  const [row] = await session.query<RunRow>(
    `select ${RUN_COLUMNS} from {schema}.runs as r
     where r.id = $1 and ($2::text is null or (select s."group" from {schema}.schedules as s where s.id = r.schedule_id) = $2)`,
    [id, group ?? null],
  )
  return row
}

/** Who works on a running run. */
export async function findLease(
  session: Session,
  runId: string,
): Promise<{ worker_id: string; expires_at: Date } | undefined> {
  const [row] = await session.query<{ worker_id: string; expires_at: Date }>(
    `select worker_id, lease_expires_at as expires_at from {schema}.runs where id = $1 and state = 'running'`,
    [runId],
  )
  return row
}

/** The runs of one schedule, newest first: by plan time, or where a run has none by when it was asked for. */
export function listRunsOfSchedule(
  session: Session,
  { scheduleId, group, limit }: { scheduleId: string; group?: string | undefined; limit: number },
): Promise<RunRow[]> {
  return session.query<RunRow>(
    `select ${RUN_COLUMNS} from {schema}.runs as r
     where r.schedule_id = $1
       and ($3::text is null or exists (select from {schema}.schedules as s where s.id = $1 and s."group" = $3))
     order by ${RUN_TIME} desc, r.id desc limit $2`,
    [scheduleId, limit, group ?? null],
  )
}

export interface AttemptRow {
  number: number
  worker_id: string | null
  started_at: Date | null
  finished_at: Date
  code: string
  message: string
  stack: string | null
}

export function listAttempts(session: Session, runId: string): Promise<AttemptRow[]> {
  return session.query<AttemptRow>(
    `select number, worker_id, started_at, finished_at, code, message, stack
     from {schema}.attempts where run_id = $1 order by number`,
    [runId],
  )
}
