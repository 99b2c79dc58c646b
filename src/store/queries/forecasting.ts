import type { Timing } from '../../time/timing.js'
import { NOW, type Session } from '../store.js'

export interface ForecastGroup {
  timing: Timing
  until_at: Date | null
  begins_at: Date
  /** Null where queues are counted together, too. */
  queue: string | null
  group: string | null
  /** Runs for each plan time. */
  runs: number
}

export interface ForecastFilter {
  queue: string | null
  group: string | null
  /** Whether queues and groups are counted apart. */
  byQueue: boolean
  byGroup: boolean
}

export interface ScheduleSpace {
  /** How many pages of the disk the schedules fill. */
  blocks: number
  /** About how many schedules those hold, as the server last counted; null where it has not yet. */
  schedules: number | null
}

export async function readScheduleSpace(session: Session, schema: string): Promise<ScheduleSpace> {
  const [row] = await session.query<ScheduleSpace>(
    `select size.blocks::int as blocks, case when c.reltuples >= 0 and c.relpages > 0
       then c.reltuples::float8 / c.relpages * size.blocks end as schedules
     from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     cross join lateral (select pg_relation_size(c.oid) / current_setting('block_size')::int as blocks) as size
     where n.nspname = $1 and c.relname = 'schedules'`,
    [schema],
  )
  return row!
}

// The cursor of an `after` schedule is looked up one by one: joined, the planner would read all cursors.
const groupsIn = (schedules: string) => `
  with clock as materialized (select ${NOW} as now),
  found as materialized (
    select s.id, s.timing, s.timing->>'kind' = 'after' as is_after, s.until_at, greatest(s.start_at, clock.now) as begins_at,
      case when $4::boolean then s.queue end as queue, case when $5::boolean then s."group" end as "group",
      coalesce(cardinality(s.scopes), 1) as runs
    from ${schedules} cross join clock
    where s.state = 'active' and ($2::text is null or s.queue = $2) and ($3::text is null or s."group" = $3)
  )
  select timing, until_at, begins_at, queue, "group", sum(runs)::int as runs
  from found where not is_after group by timing, until_at, begins_at, queue, "group"
  union all
  -- Of these only the plan time that waits is known: as if it were once.
  select jsonb_build_object('kind', 'once', 'at', to_char(next_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'zone', 'UTC'), null, begins_at, queue, "group", sum(runs)::int
  from (
    select f.*, (select c.next_at from {schema}.cursors as c where c.schedule_id = f.id) as next_at
    from found as f where f.is_after
  ) as waiting
  where next_at is not null group by next_at, begins_at, queue, "group"`

// Whoever asks twice gets the same pages.
const SAMPLED = groupsIn('{schema}.schedules as s tablesample system ($6::float8) repeatable (1)')
const OF_GROUP = groupsIn(
  `(select * from {schema}.schedules where "group" = $3 and state = 'active' limit $6) as s`,
)

const paramsOf = (session: Session, { queue, group, byQueue, byGroup }: ForecastFilter) => [
  session.now(),
  queue,
  group,
  byQueue,
  byGroup,
]

/**
 * Active schedules that yield the same plan times, counted together: those on `percent` of the table's pages, which are taken at
 * random. With 100 they are all.
 */
export function readForecastGroups(
  session: Session,
  filter: ForecastFilter,
  percent: number,
): Promise<ForecastGroup[]> {
  return session.query<ForecastGroup>(SAMPLED, [...paramsOf(session, filter), percent])
}

/** The same of a group of schedules that has at most so many. */
export function readForecastOfGroup(
  session: Session,
  filter: ForecastFilter & { group: string },
  most: number,
): Promise<ForecastGroup[]> {
  return session.query<ForecastGroup>(OF_GROUP, [...paramsOf(session, filter), most])
}

/** How many active schedules a group has, up to `most`. */
export async function countInGroup(session: Session, group: string, most: number): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    `select count(*)::int as count from (
       select from {schema}.schedules where "group" = $1 and state = 'active' limit $2
     ) as found`,
    [group, most],
  )
  return row!.count
}
