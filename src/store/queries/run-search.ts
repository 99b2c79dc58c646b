/**
 * Pages of runs. Each look takes in a bounded part of an index, newest first, and gives what the filter leaves of it with
 * the place where it ended. What a run's index does not hold is looked up for each run of that part.
 */
import type { RunState, RunTrigger } from '../../runs/run.js'
import type { Instant } from '../../time/instant.js'
import { RUN_COLUMNS, RUN_TIME, type RunRow } from '../rows.js'
import type { Session } from '../store.js'
import { FIRST_ID } from './ledger.js'

export interface RunFilter {
  states?: readonly RunState[] | undefined
  job?: string | undefined
  queue?: string | undefined
  trigger?: RunTrigger | undefined
  /** Of schedules of this group only. */
  group?: string | undefined
  /** Of the time by which they are listed, inclusive. */
  from?: Instant | undefined
}

/** A place in a list of runs; what comes after it is older, or as old with a lesser id. */
export interface RunPosition {
  at: Instant
  id: string
}

export interface RunLook {
  /** Null for the newest. */
  before: RunPosition | null
  size: number
  limit: number
}

export type PlacedRun = RunRow & { at: Date }

export interface RunsFound {
  rows: PlacedRun[]
  /** How far it looked; null where there were no more. */
  end: RunPosition | null
}

const BEFORE = `(coalesce($1::timestamptz, 'infinity'), $2::uuid)`
const FROM = `coalesce($5::timestamptz, '-infinity')`

// Nearly all have ended: of those the open ones need not be asked.
const STATE = `coalesce((select e.state from {schema}.runs_ended as e where e.id = w.id),
  (select o.state from {schema}.runs_open as o where o.id = w.id), (select r.state from {schema}.runs as r where r.id = w.id))`

const IS_WANTED = `($6::text[] is null or ${STATE} = any ($6)) and ($7::text is null or w.job = $7)
  and ($8::text is null or w.queue = $8) and ($9::text is null or w.trigger = $9)
  and ($10::text is null or (select s."group" from {schema}.schedules as s where s.id = w.schedule_id) = $10)`

const ASKED = `r.id, ${RUN_TIME} as at, r.job, r.queue, r.trigger, r.schedule_id`

/** One by one: however the planner takes it, no page reads all runs. */
const ALL_OF_IT = `(select ${RUN_COLUMNS} from {schema}.runs as r where r.id = found.id limit 1) as r`

/** `part` is what is looked at, `last` the end of it. */
const looking = (part: string, last: string) => `
  with w as materialized (${part}),
  last as materialized (${last}),
  found as materialized (
    select w.id, w.at from w
    where ${IS_WANTED} and not exists (select from last where (w.at, w.id) < (last.at, last.id))
    order by w.at desc, w.id desc limit $4
  )
  select r.*, found.at, last.at as end_at, last.id as end_id
  from (select) as always
  left join last on true
  left join found on true
  left join lateral ${ALL_OF_IT} on true
  order by found.at desc, found.id desc`

const LAST_IF_FULL =
  'select w.at, w.id from w where (select count(*) from w) = $3 order by w.at, w.id limit 1'

/** All runs: by plan time, or where there is none by when they were asked for. */
export function lookByTime(session: Session, filter: RunFilter, look: RunLook): Promise<RunsFound> {
  return find(session, LOOK_BY_TIME, parametersOf(filter, look))
}

const LOOK_BY_TIME = looking(
  `select ${ASKED} from {schema}.runs_asked as r
   where (${RUN_TIME}, r.id) < ${BEFORE} and ${RUN_TIME} >= ${FROM}
   order by ${RUN_TIME} desc, r.id desc limit $3`,
  LAST_IF_FULL,
)

/** The same for the runs of some schedules, of each of which it looks at `size`. */
export function lookInSchedules(
  session: Session,
  scheduleIds: readonly string[],
  filter: RunFilter,
  look: RunLook,
): Promise<RunsFound> {
  return find(session, LOOK_IN_SCHEDULES, [...parametersOf(filter, look), scheduleIds])
}

// Of those that were not seen to their end, the newest end counts: what is older may be missing.
const LOOK_IN_SCHEDULES = looking(
  `select r.* from unnest($11::uuid[]) as one (schedule_id)
   cross join lateral (
     select ${ASKED}, row_number() over (order by ${RUN_TIME} desc, r.id desc) as place
     from {schema}.runs_asked as r
     where r.schedule_id = one.schedule_id and (${RUN_TIME}, r.id) < ${BEFORE} and ${RUN_TIME} >= ${FROM}
     order by ${RUN_TIME} desc, r.id desc limit $3
   ) as r`,
  'select w.at, w.id from w where w.place = $3 order by w.at desc, w.id desc limit 1',
)

/** Runs that ended, by when they did: those of the states that the filter must have. */
export function lookByEnd(session: Session, filter: RunFilter, look: RunLook): Promise<RunsFound> {
  return find(session, LOOK_BY_END, parametersOf(filter, look))
}

const LOOK_BY_END = looking(
  `select e.id, e.finished_at as at, r.job, r.queue, r.trigger, r.schedule_id
   from (
     select one.id, one.finished_at from unnest($6::text[]) as wanted (state)
     cross join lateral (
       select e.id, e.finished_at from {schema}.runs_ended as e
       where e.state = wanted.state and (e.finished_at, e.id) < ${BEFORE} and e.finished_at >= ${FROM}
       order by e.finished_at desc, e.id desc limit $3
     ) as one
     order by one.finished_at desc, one.id desc limit $3
   ) as e
   cross join lateral (select r.* from {schema}.runs_asked as r where r.id = e.id limit 1) as r`,
  LAST_IF_FULL,
)

/**
 * The first of the runs that are in one of the states, as by time, where those are at most `size`; else null. Of one schedule
 * only, where one is given.
 */
export async function findInStates(
  session: Session,
  scheduleId: string | undefined,
  filter: RunFilter,
  look: RunLook,
): Promise<PlacedRun[] | null> {
  const rows = await session.query<PlacedRun & { is_all: boolean }>(FIND_IN_STATES, [
    ...parametersOf(filter, look),
    scheduleId ?? null,
  ])
  return rows[0]!.is_all ? rows.filter(isThere) : null
}

// Written out, so that each state is looked for in its own index. Those that wait are nearly all that are open. One by one, as
// the planner takes them for many and would read all runs instead.
const FIND_IN_STATES = `
  with candidates as materialized (
    (select o.id from {schema}.runs_open as o where 'running' = any ($6::text[]) and o.state = 'running' limit $3 + 1)
    union all
    (select o.id from {schema}.runs_open as o where 'retrying' = any ($6) and o.state = 'retrying' limit $3 + 1)
    union all
    (select o.id from {schema}.runs_open as o where 'pending' = any ($6) and o.state = 'pending' limit $3 + 1)
    union all
    (
      select run.id from {schema}.lots as l cross join lateral unnest(l.runs) as run (id)
      where case when l.lease_token is null then 'pending' else 'running' end = any ($6) limit $3 + 1
    )
    union all
    (select e.id from {schema}.runs_ended as e where 'failed' = any ($6) and e.state = 'failed' limit $3 + 1)
    union all
    (select e.id from {schema}.runs_ended as e where 'cancelled' = any ($6) and e.state = 'cancelled' limit $3 + 1)
    union all
    (select e.id from {schema}.runs_ended as e where 'skipped' = any ($6) and e.state = 'skipped' limit $3 + 1)
    union all
    (select e.id from {schema}.runs_ended as e where 'succeeded' = any ($6) and e.state = 'succeeded' limit $3 + 1)
  ),
  counted as materialized (select count(*) <= $3 as is_all from candidates),
  w as materialized (
    select r.* from counted, candidates
    cross join lateral (select ${ASKED} from {schema}.runs_asked as r where r.id = candidates.id limit 1) as r
    where counted.is_all and (r.at, r.id) < ${BEFORE} and r.at >= ${FROM} and ($11::uuid is null or r.schedule_id = $11)
  ),
  found as materialized (select w.id, w.at from w where ${IS_WANTED} order by w.at desc, w.id desc limit $4)
  select r.*, found.at, counted.is_all
  from counted left join found on true left join lateral ${ALL_OF_IT} on true
  order by found.at desc, found.id desc`

/** Ids of a group's schedules, `limit` at most. */
export async function listGroupIds(session: Session, group: string, limit: number): Promise<string[]> {
  const rows = await session.query<{ id: string }>(
    'select id from {schema}.schedules where "group" = $1 limit $2',
    [group, limit],
  )
  return rows.map(({ id }) => id)
}

function parametersOf(filter: RunFilter, { before, size, limit }: RunLook) {
  const { states, job, queue, trigger, group, from } = filter
  return [
    before === null ? null : new Date(before.at),
    before?.id ?? FIRST_ID,
    size,
    limit,
    from === undefined ? null : new Date(from),
    states ?? null,
    job ?? null,
    queue ?? null,
    trigger ?? null,
    group ?? null,
  ]
}

async function find(
  session: Session,
  statement: string,
  params: Parameters<Session['query']>[1],
): Promise<RunsFound> {
  const rows = await session.query<PlacedRun & { end_at: Date | null; end_id: string }>(statement, params)
  const { end_at, end_id } = rows[0]!
  return { rows: rows.filter(isThere), end: end_at === null ? null : { at: end_at.getTime(), id: end_id } }
}

/** Not the row that stands for none. */
function isThere(row: PlacedRun): boolean {
  return row.id !== null
}
