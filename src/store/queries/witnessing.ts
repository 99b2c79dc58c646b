/** What somebody who has watched handlers from outside compares with what he saw: all of it, in no pages. */
import type { Overlap } from '../../schedules/policies.js'
import type { Timing } from '../../time/timing.js'
import type { Session } from '../store.js'

/** The lanes of open runs: null where they may overlap. */
export function listLanes(session: Session): Promise<{ id: string; lane: number | null }[]> {
  return session.query('select id, lane from {schema}.runs_open')
}

export interface FailedAttempt {
  run_id: string
  number: number
  started_at: Date | null
  finished_at: Date
  code: string
}

export function listFailedAttempts(session: Session): Promise<FailedAttempt[]> {
  return session.query<FailedAttempt>(
    'select run_id, number, started_at, finished_at, code from {schema}.attempts',
  )
}

export interface ScheduleVersion {
  schedule_id: string
  version: number
  timing: Timing
  overlap: Overlap
}

/** Each version that a schedule has had, also of those that are deleted, oldest first. */
export function listVersions(session: Session): Promise<ScheduleVersion[]> {
  return session.query<ScheduleVersion>(
    `select schedule_id, version, after->'timing' as timing, after->'policies'->>'overlap' as overlap
     from {schema}.changes where after is not null order by id`,
  )
}
