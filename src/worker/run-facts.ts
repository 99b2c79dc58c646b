import type { ClaimedRow } from '../store/queries/claiming.js'

/** What a line of the log says of the run that it is about: what it has not got is left out. */
export function runFacts(
  row: Pick<ClaimedRow, 'id' | 'job' | 'attempt' | 'scope' | 'plan_time'> & { schedule_name?: string | null },
): object {
  return {
    runId: row.id,
    job: row.job,
    attempt: row.attempt,
    ...(row.schedule_name && { schedule: row.schedule_name }),
    ...(row.scope !== null && { scope: row.scope }),
    ...(row.plan_time && { planTime: row.plan_time.toISOString() }),
  }
}
