/** Claims of jobs without limits: runs with rows of their own, and lots. */
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import {
  CLOCK,
  type Claim,
  type ClaimedRow,
  claimParams,
  frontParams,
  HAS_BREAKER,
  IN_LINE,
  JOBS,
  LEASE,
  LEASE_PICKED,
  MAY_CLAIM,
  prioritiesIn,
  prioritiesOr,
  TIMING_OF_RUN,
  WAITING,
  WAITING_LOT,
} from './claim-parts.js'

export async function claimFree(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  if (claim.jobs.length === 0) return []
  const { lots = { areWaiting: false } } = claim
  const params = [...claimParams(session, claim), ...frontParams(claim.from)]
  if (!lots.areWaiting) {
    const rows = await session.query<ClaimedRow>(CLAIM_RUNS, params)
    lots.areWaiting = rows.some(isOfLot)
    if (!lots.areWaiting) return rows
  }
  const rows = await session.query<ClaimedRow & RunsOfLot>(CLAIM_IN_LINE, [...params, MOST_LOTS])
  lots.areWaiting = rows.some(isOfLot)
  return rows.flatMap((row) => (isOfLot(row) ? runsOf(row) : row))
}

function isOfLot({ lot_id }: ClaimedRow): boolean {
  return lot_id !== null
}

/** Of each queue, in one claim: those of full lots are as many as any worker has at hand. */
const MOST_LOTS = 32

interface RunsOfLot {
  run_ids: string[]
  inputs: unknown[]
  /** What each of them is; null for direct ones. */
  occurrences: OccurrenceOfLot[] | null
}

type OccurrenceOfLot = Pick<
  ClaimedRow,
  'schedule_id' | 'schedule_version' | 'scope' | 'schedule_name' | 'timing' | 'has_breaker'
> & { plan_time: number; created_at: number }

function runsOf({ run_ids, inputs, occurrences, ...shared }: ClaimedRow & RunsOfLot): ClaimedRow[] {
  return run_ids.map((id, index) => ({
    ...shared,
    id,
    input: inputs[index],
    ...(occurrences && occurrenceOf(occurrences[index]!)),
  }))
}

function occurrenceOf({ plan_time, created_at, ...occurrence }: OccurrenceOfLot): Partial<ClaimedRow> {
  return { ...occurrence, plan_time: new Date(plan_time), created_at: new Date(created_at) }
}

/** Those of a table that wait, of each queue the first, as they stand in line; what others are just claiming is passed over. */
const firstIn = (
  table: string,
  {
    priorities,
    isWaiting,
    columns,
    since,
    limit,
  }: { priorities: string; isWaiting: string; columns: string; since?: string; limit: string },
) => `
    select q.turn, one.*
    from unnest($8::text[]) with ordinality as q (queue, turn) cross join lateral (
      ${priorities}
      select one.*
      from level cross join lateral (
        select ${columns}
        from {schema}.${table}
        where ${isWaiting} and queue = q.queue and priority = level.priority and job = any($4)
          and eligible_at <= (select now from clock)${since === undefined ? '' : ` and eligible_at >= ${since}`}
        order by eligible_at, id
        limit ${limit}
        for update skip locked
      ) as one
      limit ${limit}
    ) as one`
const PICK_RUNS = firstIn('runs_open', {
  priorities: prioritiesOr('$12'),
  isWaiting: WAITING,
  columns: 'id, priority, eligible_at',
  since: '$11::timestamptz',
  limit: '$10',
})
const PICK_LOTS = firstIn('lots', {
  priorities: prioritiesIn('lots', WAITING_LOT),
  isWaiting: WAITING_LOT,
  columns: 'id, last_id, job, queue, priority, eligible_at, is_scheduled, runs, cardinality(runs) as size',
  limit: '$13',
})

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
/** As claims answer of runs with rows of their own; of a lot one row for all of its runs, with their ids and inputs side by side. */
const asClaimed = (
  runIds: string,
  { inputs = 'null', occurrences = 'null', trigger = 'direct', traceContext = 'null' } = {},
) => `
  select l.id, ${runIds}, ${inputs}, ${occurrences}, l.id, l.job, null, l.queue, l.priority, '${trigger}', null, null, null, null, null,
    l.eligible_at, l.eligible_at, 1, null, l.started_at, null, null, ${traceContext}, null, null, false`
const ASKED_OF_LOT = `unnest(l.runs) with ordinality as run (id, place)
    left join lateral (select * from {schema}.runs_asked as asked where asked.id = run.id offset 0) as asked on true`
const OF_LOTS = `
  union all
  ${asClaimed('to_json(l.runs)', { inputs: 'asked.inputs', traceContext: 'asked.trace_context' })}
  from claimed_lots as l cross join lateral (
    select json_agg(asked.input order by run.place) as inputs, min(asked.trace_context) as trace_context from ${ASKED_OF_LOT}
  ) as asked
  where not l.is_scheduled
  union all
  ${asClaimed('to_json(l.runs)', { inputs: 'asked.inputs', occurrences: 'asked.occurrences', trigger: 'scheduled' })}
  from claimed_lots as l cross join lateral (
    select json_agg(asked.input order by run.place) as inputs,
      json_agg(json_build_object('schedule_id', asked.schedule_id, 'schedule_version', asked.schedule_version,
        'scope', asked.scope, 'plan_time', extract(epoch from asked.plan_time) * 1000,
        'created_at', extract(epoch from asked.created_at) * 1000, 'schedule_name', s.name,
        'timing', ${TIMING_OF_RUN}, 'has_breaker', ${HAS_BREAKER}) order by run.place) as occurrences
    from ${ASKED_OF_LOT}
    left join lateral (select * from {schema}.schedules as s where s.id = asked.schedule_id offset 0) as s on true
  ) as asked
  where l.is_scheduled`

/** Mostly there are no lots, and this is the shorter way. Where one waits it takes nothing, and says so: all stand in one line. */
const CLAIM_RUNS = often(
  'claim runs',
  `
  with waiting_lot as materialized (
    select * from {schema}.lots where ${WAITING_LOT} and queue = any($8::text[]) and job = any($4) limit 1
  ),
  clock as materialized (
    select ${NOW} as now from {schema}.control where ${MAY_CLAIM} and not exists (select from waiting_lot)
  ),
  run as materialized (${PICK_RUNS}),
  picked as materialized (select id from run limit $9),
  ${LEASE_PICKED}
  union all
  ${asClaimed('null')} from waiting_lot as l`,
)

/**
 * Lots and runs with rows of their own in one line; the last lot that is picked may have too many runs, and is cut.
 */
const CLAIM_IN_LINE = often(
  'claim lots',
  `
  with ${CLOCK},
  lot as materialized (${PICK_LOTS}),
  run as materialized (${PICK_RUNS}),
  -- Where more lots may wait than were looked at, who stands behind the last of them stands behind those too.
  last_lot as materialized (
    select distinct on (turn) turn, priority, eligible_at, id, count(*) over (partition by turn) as lots
    from lot order by turn, priority, eligible_at desc, id desc
  ),
  line as (
    select each.*, sum(size) over (partition by turn order by ${IN_LINE}) - size as before_it
    from (
      select turn, priority, eligible_at, id, size, true as is_lot from lot
      union all
      select turn, priority, eligible_at, id, 1, false from run
      where not exists (
        select from last_lot as l
        where l.turn = run.turn and l.lots >= $13
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
      select id, is_lot, share, sum(share) over (order by turn, ${IN_LINE}) - share as before_it from share
    ) as each
    where before_it < $9
  ),
  picked_lots as materialized (
    select lot.*, merged.taken::int from lot join merged on merged.id = lot.id and merged.is_lot
  ),
  picked as materialized (select id from merged where not is_lot),
  ${LEASE_LOTS},
  ${LEASE_PICKED}
  ${OF_LOTS}`,
)
