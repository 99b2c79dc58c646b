/** Lots and runs with rows of their own in one line, as claims see it. */
import { planTimeOf } from '../../runs/run-id.js'
import type { Session } from '../store.js'
import {
  type Claim,
  type ClaimedRow,
  claimParams,
  HAS_BREAKER,
  IN_LINE,
  JOBS,
  LEASE,
  LEASE_PICKED,
  TIMING_OF_RUN,
} from './claim-parts.js'
import { frontParams, inLine, type LineTable, levelsFrom } from './fronts.js'

/** Of each queue, in one claim: those of full lots are as many as any worker has at hand. */
const MOST_LOTS = 32

interface RunsOfLot {
  run_ids: string[]
  inputs: unknown[]
  /** What they are occurrences of, side by side; null for direct ones. */
  occurrences: { [Name in OccurrenceColumn]: ClaimedRow[Name][] } | null
}

type OccurrenceColumn =
  | 'schedule_id'
  | 'schedule_version'
  | 'scope'
  | 'schedule_name'
  | 'timing'
  | 'has_breaker'

/** What `LEASE_LINE` answers. */
export type ClaimedInLine = ClaimedRow & RunsOfLot

export function isOfLot({ lot_id }: ClaimedRow): boolean {
  return lot_id !== null
}

/** The runs themselves. */
export function runsInLine(rows: readonly ClaimedInLine[]): ClaimedRow[] {
  return rows.flatMap((row) => (isOfLot(row) ? runsOf(row) : row))
}

function runsOf({ run_ids, inputs, occurrences, ...shared }: ClaimedInLine): ClaimedRow[] {
  if (occurrences === null) return run_ids.map((id, index) => ({ ...shared, id, input: inputs[index] }))
  return run_ids.map((id, index) => ({
    ...shared,
    id,
    input: inputs[index],
    schedule_id: occurrences.schedule_id[index]!,
    schedule_version: occurrences.schedule_version[index]!,
    scope: occurrences.scope[index]!,
    plan_time: new Date(planTimeOf(id)),
    schedule_name: occurrences.schedule_name[index]!,
    timing: occurrences.timing[index],
    has_breaker: occurrences.has_breaker[index]!,
  }))
}

/** The first parameters of a claim are `claimParams`; the next is how many lots it looks at, and those from here on where it looks. */
export const FRONTS = 12
export const lineParams = (session: Session, claim: Claim) =>
  [...claimParams(session, claim), MOST_LOTS, ...frontParams(claim.from)] as const

const NOW_OF_CLOCK = '(select now from clock)'

/** Up to when runs of a line are looked at that stand no later than the first of `edge`: null where there is none. */
export const beforeEdge = (edge: string) => `case
        when level.priority = ${edge}.priority then ${edge}.eligible_at when level.priority < ${edge}.priority then '-infinity'
        else ${NOW_OF_CLOCK}
      end`

/** For a queue `q`: nobody has a place who stands behind the lots that fill all of them. */
export const BESIDE_ENOUGH = 'left join enough on enough.turn = q.turn'
export const BEFORE_ENOUGH = beforeEdge('enough')

/** Those of a table that wait, of each queue the first, as they stand in line; what others are just claiming is passed over. */
export const firstIn = (
  table: LineTable,
  { levels, since, jobs, columns, limit, condition = 'true', beside = '', until = NOW_OF_CLOCK }: FirstIn,
) => `
    select q.turn, one.*
    from unnest($8::text[]) with ordinality as q (queue, turn) ${beside} cross join lateral (
      ${levels}
      select one.*
      from level cross join lateral (
        select ${columns}
        from {schema}.${table}
        where ${condition} and ${inLine(table)} and priority = level.priority and job = any(${jobs})
          and eligible_at <= ${until}${since === undefined ? '' : ` and eligible_at >= ${since}`}
        order by eligible_at, id
        limit ${limit}
        for update skip locked
      ) as one
      limit ${limit}
    ) as one`

interface FirstIn {
  levels: string
  since?: string
  jobs: string
  columns: string
  limit: string
  condition?: string
  /** What is joined to the queues, and up to where they are looked at by what it says. */
  beside?: string
  until?: string
}

/** Runs with rows of their own, of jobs without limits, as far as lots leave places. */
export const freeRuns = (jobs: string, condition?: string) =>
  firstIn('runs_open', {
    levels: levelsFrom(FRONTS, 'runs_open'),
    since: 'level.free_since',
    jobs,
    columns: 'id, priority, eligible_at',
    limit: '$10',
    beside: BESIDE_ENOUGH,
    until: BEFORE_ENOUGH,
    ...(condition && { condition }),
  })

const freeLots = (jobs: string) =>
  firstIn('lots', {
    levels: levelsFrom(FRONTS, 'lots'),
    // What is planned while a scheduler is behind comes in lots, and there are few: a second of them is soon walked over.
    since: `level.free_since - interval '1 second'`,
    jobs,
    columns: 'id, last_id, job, queue, priority, eligible_at, is_scheduled, runs, cardinality(runs) as size',
    limit: '$11',
  })

/**
 * Lots of these jobs, which have no limits, and the first lot of each queue by which there are enough. Runs behind that are not even looked at: to lock one
 * that is not taken costs as much as to take it.
 */
export const firstLots = (jobs: string) => `
  lot as materialized (${freeLots(jobs)}),
  enough as materialized (
    select distinct on (turn) turn, priority, eligible_at
    from (
      select turn, priority, eligible_at, id, sum(size) over (partition by turn order by ${IN_LINE}) as through from lot
    ) as each
    where through >= $10
    order by turn, ${IN_LINE}
  )`

/** Leases the lots that are picked; what is left of the last waits on as another. */
const LEASE_LOTS = `
  rest as (
    insert into {schema}.lots (id, last_id, job, queue, priority, eligible_at, is_scheduled, runs)
    select runs[taken + 1], last_id, job, queue, priority, eligible_at, is_scheduled, runs[taken + 1:] from picked_lots
    where taken < size
  ),
  claimed_lots as (
    update {schema}.lots as l set runs = l.runs[1:p.taken], last_id = l.runs[p.taken], ${LEASE}
    from clock, picked_lots as p, ${JOBS}
    where l.id = any(array(select id from picked_lots)) and l.id = p.id and l.job = job.name
    returning l.*
  )`

/** As claims answer of runs with rows of their own; of a lot one row for all of its runs, with what they do not share side by side. */
export const asClaimed = (
  runIds: string,
  {
    inputs = 'null',
    occurrences = 'null',
    trigger = 'direct',
    createdAt = 'l.eligible_at',
    traceContext = 'null',
  } = {},
) => `
  select l.id, ${runIds}, ${inputs}, ${occurrences}, l.id, l.job, null, l.queue, l.priority, '${trigger}', null, null, null, null, null,
    ${createdAt}, l.eligible_at, 1, null, l.started_at, null, null, ${traceContext}, null, null, false`

const ASKED_OF_LOT = `unnest(l.runs) with ordinality as run (id, place)
    left join lateral (select * from {schema}.runs_asked as asked where asked.id = run.id offset 0) as asked on true`
const inPlace = (expression: string) => `json_agg(${expression} order by run.place)`
const OF_LOTS = `
  union all
  ${asClaimed('to_json(l.runs)', { inputs: 'asked.inputs', traceContext: 'asked.trace_context' })}
  from claimed_lots as l cross join lateral (
    select ${inPlace('asked.input')} as inputs, min(asked.trace_context) as trace_context from ${ASKED_OF_LOT}
  ) as asked
  where not l.is_scheduled
  union all
  ${asClaimed('to_json(l.runs)', { inputs: 'asked.inputs', occurrences: 'asked.occurrences', trigger: 'scheduled', createdAt: 'asked.created_at' })}
  from claimed_lots as l cross join lateral (
    select min(asked.created_at) as created_at, ${inPlace('asked.input')} as inputs,
      json_build_object('schedule_id', ${inPlace('asked.schedule_id')},
        'schedule_version', ${inPlace('asked.schedule_version')}, 'scope', ${inPlace('asked.scope')},
        'schedule_name', ${inPlace('s.name')}, 'timing', ${inPlace(TIMING_OF_RUN)},
        'has_breaker', ${inPlace(HAS_BREAKER)}) as occurrences
    from ${ASKED_OF_LOT}
    left join lateral (select * from {schema}.schedules as s where s.id = asked.schedule_id offset 0) as s on true
  ) as asked
  where l.is_scheduled`

/** Leases the first of the line: of the lots in `lot`, and of the runs in `run`. The last lot that is picked may have too many runs, and is cut. */
export const LEASE_LINE = `
  -- Where more lots may wait than were looked at, who stands behind the last of them stands behind those too.
  last_lot as materialized (
    select distinct on (turn) turn, priority, eligible_at, id, count(*) over (partition by turn) as lots
    from lot order by turn, priority, eligible_at desc, id desc
  ),
  -- A lot may have the id of a run that was once its first.
  line as (
    select each.*, sum(size) over (partition by turn order by ${IN_LINE}, is_lot) - size as before_it
    from (
      select turn, priority, eligible_at, id, size, true as is_lot from lot
      union all
      select turn, priority, eligible_at, id, 1, false from run
      where not exists (
        select from last_lot as l
        where l.turn = run.turn and l.lots >= $11
          and (run.priority < l.priority or run.priority = l.priority and (run.eligible_at, run.id) > (l.eligible_at, l.id))
      )
    ) as each
  ),
  share as (
    select line.*, least(size, $10 - before_it) as share from line where before_it < $10
  ),
  merged as materialized (
    select id, is_lot, least(share, $9 - before_it) as taken
    from (
      select id, is_lot, share, sum(share) over (order by turn, ${IN_LINE}, is_lot) - share as before_it from share
    ) as each
    where before_it < $9
  ),
  picked_lots as materialized (
    select lot.*, merged.taken::int from lot join merged on merged.id = lot.id and merged.is_lot
  ),
  picked as materialized (select id from merged where not is_lot),
  ${LEASE_LOTS},
  ${LEASE_PICKED}
  ${OF_LOTS}`
