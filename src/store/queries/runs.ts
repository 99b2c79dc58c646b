import { RUN_COLUMNS, RUN_TIME, type RunRow } from '../rows.js'
import type { Session } from '../store.js'

export async function findRun(session: Session, id: string): Promise<RunRow | undefined> {
  const [row] = await session.query<RunRow>(`select ${RUN_COLUMNS} from {schema}.runs as r where r.id = $1`, [
    id,
  ])
  return row
}

/** The runs of one schedule, newest first: by plan time, or where a run has none by when it was asked for. */
export function listRunsOfSchedule(
  session: Session,
  { scheduleId, limit }: { scheduleId: string; limit: number },
): Promise<RunRow[]> {
  return session.query<RunRow>(
    `select ${RUN_COLUMNS} from {schema}.runs as r
     where r.schedule_id = $1 order by ${RUN_TIME} desc, r.id desc limit $2`,
    [scheduleId, limit],
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
