import type { Run } from '../runs/run.js'
import { changedFields } from '../schedules/diff.js'
import type { ScheduleContent } from '../schedules/schedule.js'
import { findVersion } from '../store/queries/changes.js'
import { findLease, listAttempts } from '../store/queries/runs.js'
import { findSchedules } from '../store/queries/schedules.js'
import { contentOf, type RunRow, toRun } from '../store/rows.js'
import type { Session } from '../store/store.js'

/** One failed try at a run. */
export interface Attempt {
  number: number
  workerId: string | null
  startedAt: Date | null
  finishedAt: Date
  error: { code: string; message: string; stack: string | null }
}

/** What a schedule was when it asked for a run. */
export interface RunSnapshot extends Omit<ScheduleContent, 'policies'> {
  name: string
  version: number
  policies: ScheduleContent['policies']
}

export interface RunDetails {
  run: Run
  /** Each failed attempt, oldest first. */
  attempts: Attempt[]
  /** The name of its schedule as it is now; null for a direct run, and where the schedule is deleted. */
  schedule: string | null
  /** The version of its schedule that it was asked for under; null for a direct run, and where the change log no longer has it. */
  snapshot: RunSnapshot | null
  /** Fields of the snapshot that the schedule has changed since; null where there are no two to compare. */
  drifted: string[] | null
  /** Who works on it, and until when unless that is renewed; null unless it is running. */
  lease: { workerId: string; expiresAt: Date } | null
}

/** All of one run; the session is of one instant. */
export async function readDetails(session: Session, row: RunRow): Promise<RunDetails> {
  const attempts = await readAttempts(session, row.id)
  const lease = row.state === 'running' ? await findLease(session, row.id) : undefined
  const [schedule] = row.schedule_id === null ? [] : await findSchedules(session, [row.schedule_id])
  const snapshot = await readSnapshot(session, row)
  return {
    run: toRun(row, row),
    attempts,
    schedule: schedule?.name ?? null,
    snapshot,
    drifted: schedule && snapshot ? driftOf(snapshot, { ...contentOf(schedule), name: schedule.name }) : null,
    lease: lease ? { workerId: lease.worker_id, expiresAt: lease.expires_at } : null,
  }
}

export async function readAttempts(session: Session, runId: string): Promise<Attempt[]> {
  return (await listAttempts(session, runId)).map(({ code, message, stack, ...attempt }) => ({
    number: attempt.number,
    workerId: attempt.worker_id,
    startedAt: attempt.started_at,
    finishedAt: attempt.finished_at,
    error: { code, message, stack },
  }))
}

async function readSnapshot(session: Session, row: RunRow): Promise<RunSnapshot | null> {
  if (row.schedule_id === null || row.schedule_version === null) return null
  const found = await findVersion(session, row.schedule_id, row.schedule_version)
  return found ? { ...found.content, name: found.name ?? '', version: row.schedule_version } : null
}

type Compared = ScheduleContent & { name: string }

/** Policies by their own names. */
function driftOf(snapshot: Compared, current: Compared): string[] {
  const flat = ({ policies, ...others }: Compared) => ({ ...others, ...policies })
  const { version: _, ...asked } = flat(snapshot) as ReturnType<typeof flat> & { version?: number }
  return changedFields(asked, flat(current))
}
