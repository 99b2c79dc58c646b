/**
 * The statements that write outcomes down, a batch at a time. Each is fenced: it counts only while its run has the lease token that it names.
 *
 * The planner's idea of a table that fills and empties all day is mostly wrong. So the statements name the ids twice, by
 * `= any` beside the join, which leads to the primary key, and ask for nothing else that the planner takes for rare: not for
 * the state, by whose index it would walk past all that was ever running.
 */
import { many, often } from '../often.js'
import { NOW, type Session } from '../store.js'
import { isHeldBy, LEAVE_LOTS } from './lots.js'
import type { Outcome } from './outcomes.js'

export interface WrittenRow {
  /** From 1, in the group. */
  position: number
  lane: number | null
}

/** Nothing to say but that it is done: what most runs say. */
export function isPlain(outcome: Outcome): boolean {
  return outcome.state === 'succeeded' && outcome.result === 'null' && outcome.totals === null
}

/** Those that an earlier statement has written down as they are, under the same token, whose answer did not arrive. */
export async function listWrittenBefore(session: Session, outcomes: readonly Outcome[]): Promise<number[]> {
  if (outcomes.length === 0) return []
  const rows = await session.query<{ position: number }>(
    `with told as (
       select id, lease_token, state, position::int
       from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as o (id, lease_token, state, position)
     )
     select told.position from told join {schema}.runs_ended as r using (id, lease_token, state)
     union all
     select told.position from told join {schema}.runs_open as r on r.id = told.id and r.previous_token = told.lease_token
     where told.state = 'retrying'`,
    [
      outcomes.map(({ runId }) => runId),
      outcomes.map(({ leaseToken }) => leaseToken),
      outcomes.map(({ state }) => state),
    ],
  )
  return rows.map(({ position }) => position)
}

const ENDED =
  '{schema}.runs_ended (id, state, eligible_at, started_at, finished_at, lease_token, worker_id, attempt, progress, progress_note'
/** What `ended` has taken out of the open runs. */
const FROM_ENDED =
  'ended.eligible_at, ended.started_at, clock.now, ended.lease_token, ended.worker_id, ended.attempt, ended.progress, ended.progress_note'

export function writePlainSuccesses(session: Session, outcomes: readonly Outcome[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_PLAIN_SUCCESSES, [
    session.now(),
    outcomes.map(({ runId }) => runId),
    outcomes.map(({ leaseToken }) => leaseToken),
  ])
}

const WRITE_PLAIN_SUCCESSES = often(
  'record successes',
  `
  with clock as materialized (select ${NOW} as now),
  ended as (
    delete from {schema}.runs_open as r using unnest($2::uuid[], $3::uuid[]) with ordinality as o (id, token, position)
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token
    returning r.*, o.position
  ),
  recorded as (
    insert into ${ENDED})
    select ended.id, 'succeeded', ${FROM_ENDED} from ended, clock
  )
  select position::int, lane from ended`,
)

type Success = Extract<Outcome, { state: 'succeeded' }>

/** Those that are over leave their lots; who is last takes the lot away. */
export async function writeLotSuccesses(
  session: Session,
  outcomes: readonly Success[],
): Promise<WrittenRow[]> {
  const lots = new Map(
    outcomes.map(({ lotId, leaseToken }) => [`${lotId} ${leaseToken}`, { lotId, leaseToken }]),
  )
  const held = [...lots.values()]
  const hasWords = outcomes.some((outcome) => !isPlain(outcome))
  const [row] = await session.query<{ positions: number[] | null }>(WRITE_LOT_SUCCESSES, [
    session.now(),
    held.map(({ lotId }) => lotId),
    held.map(({ leaseToken }) => leaseToken),
    outcomes.map(({ runId }) => runId),
    hasWords ? outcomes.map(({ result }) => (result === 'null' ? null : result)) : null,
    hasWords ? outcomes.map(({ totals }) => totals && JSON.stringify(totals)) : null,
  ])
  return (row!.positions ?? outcomes.map((_, index) => index + 1)).map((position) => ({
    position,
    lane: null,
  }))
}

const WRITE_LOT_SUCCESSES = often(
  'record lots',
  `
  with clock as materialized (select ${NOW} as now),
  held as materialized (
    select l.* from {schema}.lots as l, unnest($2::uuid[], $3::uuid[]) as o (id, token)
    where l.id = any($2) and l.id = o.id and ${isHeldBy('o.token')}
    order by l.id for update of l
  ),
  told as materialized (
    select * from ${many('$4::uuid[]', '$5::text[]', '$6::text[]')} as o (id, result, counted, position)
  ),
  run as materialized (
    select held.id as lot_id, run.id, run.place, told.result, told.counted, told.position, held.eligible_at, held.started_at,
      held.lease_token, held.worker_id
    from held cross join lateral unnest(held.runs) with ordinality as run (id, place)
    left join told on told.id = run.id
  ),
  kept as materialized (
    select lot_id, array_agg(id order by place) filter (where position is null) as runs from run group by lot_id
  ),
  ${LEAVE_LOTS},
  recorded as (
    insert into {schema}.runs_ended (id, state, eligible_at, started_at, finished_at, lease_token, worker_id, attempt, result, totals)
    select run.id, 'succeeded', run.eligible_at, run.started_at, clock.now, run.lease_token, run.worker_id, 1,
      run.result::jsonb, run.counted::jsonb
    from run, clock where run.position is not null
  )
  select case when count(position) < cardinality($4::uuid[]) then coalesce(array_agg(position::int), '{}') end as positions
  from run where position is not null`,
)

export function writeSuccesses(session: Session, outcomes: readonly Success[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_SUCCESSES, [
    session.now(),
    outcomes.map(({ runId }) => runId),
    outcomes.map(({ leaseToken }) => leaseToken),
    outcomes.map(({ result }) => (result === 'null' ? null : result)),
    outcomes.map(({ totals }) => totals && JSON.stringify(totals)),
  ])
}

const WRITE_SUCCESSES = often(
  'record results',
  `
  with clock as materialized (select ${NOW} as now),
  ended as (
    delete from {schema}.runs_open as r
    using unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) with ordinality as o (id, token, result, counted, position)
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token
    returning r.*, o.position, o.result, o.counted
  ),
  recorded as (
    insert into ${ENDED}, result, totals)
    select ended.id, 'succeeded', ${FROM_ENDED}, ended.result::jsonb, ended.counted::jsonb from ended, clock
  )
  select position::int, lane from ended`,
)

type Failure = Exclude<Outcome, { state: 'succeeded' }>

export function writeFailures(session: Session, failures: readonly Failure[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_FAILURES, [
    session.now(),
    failures.map(({ runId }) => runId),
    failures.map(({ leaseToken }) => leaseToken),
    failures.map(({ state }) => state),
    failures.map(({ totals }) => totals && JSON.stringify(totals)),
    failures.map(({ delayMs }) => delayMs),
    failures.map(({ code }) => code),
    failures.map(({ message }) => message),
    failures.map(({ stack }) => stack),
  ])
}

/** Carried along, not looked up again: what a statement has written the planner takes for few rows, and would compare each with each. */
const TOLD_OF_FAILURE = 'o.position, o.state as outcome, o.code, o.message, o.stack'

const WRITE_FAILURES = often(
  'record failures',
  `
  with clock as materialized (select ${NOW} as now),
  -- Of a column that is true or false it expects half of the rows; of one state, a handful.
  outcome as materialized (
    select *, state = 'retrying' as is_retried from ${many('$2::uuid[]', '$3::uuid[]', '$4::text[]', '$5::text[]', '$6::float8[]', '$7::text[]', '$8::text[]', '$9::text[]')}
      as o (id, token, state, totals, delay_ms, code, message, stack, position)
  ),
  retried as (
    update {schema}.runs_open as r
    set state = 'retrying', lease_token = null, previous_token = r.lease_token, lease_expires_at = null,
      eligible_at = clock.now + o.delay_ms * interval '1 millisecond',
      totals = o.totals::jsonb, error_code = o.code, error_message = o.message
    from clock, outcome as o
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token and o.is_retried
    returning r.id, r.lane, r.attempt, r.worker_id, r.started_at, ${TOLD_OF_FAILURE}
  ),
  ended as (
    delete from {schema}.runs_open as r using outcome as o
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token and not o.is_retried
    returning r.*, ${TOLD_OF_FAILURE}, o.totals as told_totals
  ),
  recorded as (
    insert into ${ENDED}, totals, error_code, error_message)
    select ended.id, ended.outcome, ${FROM_ENDED}, ended.told_totals::jsonb, ended.code, ended.message from ended, clock
  ),
  tried as (
    select * from retried
    union all
    select id, lane, attempt, worker_id, started_at, position, outcome, code, message, stack from ended
  ),
  failed as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message, stack)
    select tried.id, tried.attempt, tried.worker_id, tried.started_at, clock.now, tried.code, tried.message, tried.stack
    from tried, clock where tried.outcome <> 'skipped'
  )
  select position::int, lane from tried`,
)
