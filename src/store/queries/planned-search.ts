/**
 * Candidates for having plan times in a range. What fires in it has its cursor there, or before it: so most of what is asked for is
 * found by the index of cursors. The schedules of a group are looked through by name.
 */
import type { Timing } from '../../time/timing.js'
import { instantAt, NOW, type Session } from '../store.js'

export interface CandidateRow {
  id: string
  name: string
  job: string
  queue: string
  group: string | null
  timing: Timing
  /** Where it can first have a plan time that is not past. */
  begins_at: Date
  until_at: Date | null
  next_at: Date | null
  scopes: number
  wake_at: Date
}

export interface CandidatesFound<Place> {
  rows: CandidateRow[]
  /** The last place that was looked at; null where there are no more. */
  through: Place | null
}

/** A place in the order of cursors. */
export interface WakePlace {
  at: number
  id: string
}

const COLUMNS = `s.id::text, s.name, s.job, s.queue, s."group", s.timing, greatest(s.start_at, (select now from clock)) as begins_at,
  s.until_at, coalesce(cardinality(s.scopes), 1) as scopes`

const BY_WAKING = `
  with clock as materialized (select ${NOW} as now),
  w as materialized (
    select c.schedule_id, c.wake_at, c.next_at from {schema}.cursors as c
    where c.wake_at < ${instantAt('$2::float8')} and (c.wake_at, c.schedule_id) > (${instantAt('$3::float8')}, $4::uuid)
    order by c.wake_at, c.schedule_id limit $5
  ),
  looked as (select w.wake_at, w.schedule_id::text as id from w order by w.wake_at desc, w.schedule_id desc limit 1)
  select s.*, w.wake_at, w.next_at, (select count(*) from w)::int = $5 as is_full, looked.wake_at as through_at, looked.id as through_id
  from looked left join w on true left join lateral (
    select ${COLUMNS} from {schema}.schedules as s
    where s.id = w.schedule_id and s.state = 'active' and ($6::text is null or s.queue = $6) limit 1
  ) as s on true
  where s.id is not null or (w.schedule_id::text = looked.id)
  order by w.wake_at, w.schedule_id`

/** Looks at the first `size` cursors behind a place that are before `until`. */
export async function lookByWaking(
  session: Session,
  queue: string | null,
  { after, until, size }: { after: WakePlace; until: number; size: number },
): Promise<CandidatesFound<WakePlace>> {
  const rows = await session.query<CandidateRow & { is_full: boolean; through_at: Date; through_id: string }>(
    BY_WAKING,
    [session.now(), until, after.at, after.id, size, queue],
  )
  const [first] = rows
  const through = first?.is_full ? { at: first.through_at.getTime(), id: first.through_id } : null
  return { rows: rows.filter(({ id }) => id !== null), through }
}

const IN_GROUP = `
  with clock as materialized (select ${NOW} as now),
  w as materialized (
    select ${COLUMNS} from {schema}.schedules as s
    where s."group" = $2 and s.state = 'active' and s.name > $3 order by s.name limit $4
  )
  select w.*, c.wake_at, c.next_at, (select count(*) from w)::int = $4 as is_full
  from w cross join lateral (
    select c.wake_at, c.next_at from {schema}.cursors as c where c.schedule_id = w.id::uuid limit 1
  ) as c
  order by w.name`

/** Looks at the first `size` active schedules of a group behind a name. */
export async function lookInGroup(
  session: Session,
  { group, queue }: { group: string; queue: string | null },
  { after, size }: { after: string; size: number },
): Promise<CandidatesFound<string>> {
  const rows = await session.query<CandidateRow & { is_full: boolean }>(IN_GROUP, [
    session.now(),
    group,
    after,
    size,
  ])
  return {
    rows: rows.filter((row) => queue === null || row.queue === queue),
    through: rows[0]?.is_full ? rows.at(-1)!.name : null,
  }
}
