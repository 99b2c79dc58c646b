/**
 * Where lines begin. Runs of one queue and one priority that wait are a line, in the order of eligibility; so are lots. A look for the first
 * of them walks over whatever is littered about there (src/store/front.ts), unless it is told where to begin.
 */
import type { Instant } from '../../time/instant.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'

/** Where a look begins while the fronts of lines are littered. */
export interface Fronts {
  /** The highest priority first. */
  lines: readonly LineFront[]
}

interface Line {
  queue: string
  priority: number
}

interface LineFront extends Line {
  /** Nothing of a job without a limit waits before that, and nothing of one with a limit. */
  freeSince: Instant
  limitedSince: Instant
}

const WAITING = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`

/** Lots that wait. */
export const WAITING_LOT = 'lease_token is null'

const WAITING_IN = { runs_open: WAITING, lots: WAITING_LOT }
export type LineTable = keyof typeof WAITING_IN

/** A row of a table that waits in the queue `q`. */
export const inLine = (table: LineTable) => `${WAITING_IN[table]} and queue = q.queue`

/**
 * The priorities of the lines of a queue `q`, the highest first, each found by one look into the index. Within one of them the
 * index is in the order of eligibility, so that what is of a later time is never walked over.
 */
const priorities = (name: string, table: LineTable, condition = 'true') => `${name} (priority) as (
    select max(priority) from {schema}.${table} where ${inLine(table)} and ${condition}
    union all
    select (select max(priority) from {schema}.${table} where ${inLine(table)} and priority < ${name}.priority)
    from ${name} where ${name}.priority is not null
  )`

/** The lines of a queue `q`, from their beginning. */
export const levelsIn = (table: LineTable) => `with recursive ${priorities('level', table)}`

/** The same, or those that the four parameters from `$first` on name (`frontParams`): even the look for priorities is one at the front. */
export const levelsFrom = (first: number, table: LineTable) => `with recursive
  ${priorities('found', table, areNotGiven(first))},
  level as (
    select priority, '-infinity'::timestamptz as free_since, '-infinity'::timestamptz as limited_since from found
    union all
    ${givenFrom(first)}
  )`

const areNotGiven = (first: number) => `$${first}::text[] is null`
const givenFrom = (first: number) => `
    select priority, free_since, limited_since
    from unnest($${first}::text[], $${first + 1}::int[], $${first + 2}::timestamptz[], $${first + 3}::timestamptz[])
      as given (queue, priority, free_since, limited_since)
    where given.queue = q.queue`

/** The same so much earlier: somebody may come to stand before them. */
export function before({ lines }: Fronts, ms: number): Fronts {
  return {
    lines: lines.map(({ freeSince, limitedSince, ...line }) => ({
      ...line,
      freeSince: freeSince - ms,
      limitedSince: limitedSince - ms,
    })),
  }
}

/** The same, but where these stand no later than they do. */
export function withPlaces({ lines }: Fronts, places: readonly (Line & { eligible_at: Date })[]): Fronts {
  const fronts = new Map(lines.map((line) => [lineOf(line), line]))
  for (const { queue, priority, eligible_at } of places) {
    const at = eligible_at.getTime()
    const { freeSince, limitedSince } = fronts.get(lineOf({ queue, priority })) ?? {
      freeSince: at,
      limitedSince: at,
    }
    fronts.set(lineOf({ queue, priority }), {
      queue,
      priority,
      freeSince: Math.min(freeSince, at),
      limitedSince: Math.min(limitedSince, at),
    })
  }
  return { lines: [...fronts.values()].sort((a, b) => b.priority - a.priority) }
}

export const lineOf = ({ queue, priority }: Line) => `${priority} ${queue}`

export function frontParams(fronts: Fronts | null | undefined) {
  if (fronts == null) return [null, null, null, null] as const
  const { lines } = fronts
  return [
    lines.map(({ queue }) => queue),
    lines.map(({ priority }) => priority),
    lines.map(({ freeSince }) => new Date(freeSince)),
    lines.map(({ limitedSince }) => new Date(limitedSince)),
  ] as const
}

/** Finds where lines begin, looking from there on; or all of them, of these priorities and of whichever others wait. */
export async function findFronts(
  session: Session,
  {
    queues,
    jobs,
    priorities,
    from,
  }: {
    queues: readonly string[]
    jobs: { free: readonly string[]; limited: readonly string[] }
    priorities: readonly number[]
    from: Fronts | null
  },
): Promise<Fronts> {
  const params = [session.now(), queues, jobs.free, jobs.limited, priorities, ...frontParams(from)]
  const rows = await session.query<FrontRow>(FIND_FRONTS, params)
  return {
    lines: rows.map(({ queue, priority, free, limited }) => ({
      queue,
      priority,
      freeSince: free.getTime(),
      limitedSince: limited.getTime(),
    })),
  }
}

interface FrontRow {
  queue: string
  priority: number
  free: Date
  limited: Date
}

/** So many of those who wait does a look pass over for one that it looks for: in front of all that follow, it is looked there the next time. */
const MOST_PASSED_OVER = 1_000

const first = (table: LineTable, jobs: string, since: string) => `(
    select eligible_at
    from (
      select job, eligible_at, id, row_number() over (order by eligible_at, id rows unbounded preceding) as place
      from {schema}.${table}
      where ${inLine(table)} and priority = level.priority and eligible_at between ${since} and clock.now
      order by eligible_at, id
      limit ${MOST_PASSED_OVER} + 1
    ) as waiting
    where cardinality(${jobs}::text[]) > 0 and (job = any(${jobs}) or place > ${MOST_PASSED_OVER})
    order by eligible_at, id limit 1
  )`
const firstOf = (jobs: string, since: string) =>
  `least(clock.now, ${first('runs_open', jobs, since)}, ${first('lots', jobs, since)})`

const FIND_FRONTS = often(
  'fronts of lines',
  `
  with clock as materialized (select ${NOW} as now)
  select line.*
  from clock cross join lateral (
    select q.queue, level.priority, ${firstOf('$3', 'level.free_since')} as free, ${firstOf('$4', 'level.limited_since')} as limited
    from unnest($2::text[]) as q (queue) cross join lateral (
      with recursive ${priorities('of_runs', 'runs_open', areNotGiven(6))}, ${priorities('of_lots', 'lots', areNotGiven(6))}
      select priority, '-infinity'::timestamptz as free_since, '-infinity'::timestamptz as limited_since
      from (select priority from of_runs union select priority from of_lots union select unnest($5::int[])) as found
      where priority is not null and ${areNotGiven(6)}
      union all
      ${givenFrom(6)}
    ) as level
  ) as line
  order by line.priority desc`,
)
