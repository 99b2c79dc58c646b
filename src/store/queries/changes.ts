import type { ScheduleContent, ScheduleState } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import type { Session } from '../store.js'

export interface ChangeWrite {
  action: string
  actor: string | null
  before: ScheduleContent | null
  after: ScheduleContent | null
}

export async function insertChanges(
  session: Session,
  changes: readonly (ChangeWrite & {
    id: string
    name: string
    version: number
    state: ScheduleState
    boundary: Instant
  })[],
  now: Instant,
): Promise<void> {
  await session.query(
    `insert into {schema}.changes (schedule_id, name, version, action, actor, before, after, state, boundary, changed_at)
     select id, name, version, action, actor, before, after, state, boundary, $2
     from jsonb_to_recordset($1::jsonb)
       as w (id uuid, name text, version int, action text, actor text, before jsonb, after jsonb, state text, boundary timestamptz)`,
    [
      JSON.stringify(
        changes.map((change) => ({ ...change, boundary: new Date(change.boundary).toISOString() })),
      ),
      new Date(now),
    ],
  )
}

export interface ChangeRow {
  /** Its place in the log. */
  position: string
  /** Null in rows from before names were kept here. */
  name: string | null
  version: number
  action: string
  actor: string | null
  before: ScheduleContent | null
  after: ScheduleContent | null
  state: ScheduleState
  boundary: Date
  changed_at: Date
}

/** Newest first, before the position `before`, or from the newest on where that is null. */
export function listChanges(
  session: Session,
  scheduleId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<ChangeRow[]> {
  return session.query<ChangeRow>(
    `select id::text as position, name, version, action, actor, before, after, state, boundary, changed_at
     from {schema}.changes where schedule_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [scheduleId, before, limit],
  )
}

/** What one version of a schedule held, and what it was called. */
export async function findVersion(
  session: Session,
  scheduleId: string,
  version: number,
): Promise<{ name: string | null; content: ScheduleContent } | undefined> {
  const [row] = await session.query<{ name: string | null; content: ScheduleContent }>(
    `select name, after as content from {schema}.changes
     where schedule_id = $1 and after is not null and version = $2 order by id desc limit 1`,
    [scheduleId, version],
  )
  return row
}

/** What these versions of a schedule held. */
export function listContents(
  session: Session,
  scheduleId: string,
  versions: readonly number[],
): Promise<{ version: number; content: ScheduleContent }[]> {
  return session.query(
    `select distinct on (version) version, after as content from {schema}.changes
     where schedule_id = $1 and after is not null and version = any($2) order by version, id desc`,
    [scheduleId, versions],
  )
}
