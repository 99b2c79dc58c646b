import type { DirectBatch } from '../../runs/direct-batches.js'
import type { DirectRun } from '../../runs/direct-run.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import { insertAndHandOver, needNotWait } from './begun-as-enqueued.js'
import { LARGEST_LOT } from './lots.js'

export interface EnqueueTerms {
  /** Where workers are told, once; null where they are told in another way. */
  channel: string | null
  /** For a statement alone: it waits no longer for a transaction that has inserted one of them; absent, that is left to the transaction that it is in. */
  patienceMs?: number
  /** For a statement alone: a worker at rest may begin with a single run at once. */
  mayBegin?: boolean
}

/**
 * Inserts those whose id is new, tells the workers if there are any, and returns the ids that were new. It also
 * runs inside the transactions of other libraries: arrays travel as text, and the answer is one row of text.
 */
export async function insertDirectRuns(
  session: Session,
  { channel, patienceMs, mayBegin = false }: EnqueueTerms,
  { ids, runs }: DirectBatch,
): Promise<readonly string[]> {
  if (isLot(runs)) {
    await insertLots(session, channel, { ids, runs })
    return ids
  }
  if (runs.length === 1 && runs[0]!.key === null) {
    const [id, run] = [ids[0]!, runs[0]!]
    if (mayBegin && channel !== null && needNotWait(run)) await insertAndHandOver(session, channel, id, run)
    else await insertOne(session, channel, id, run)
    return ids
  }
  const [row] = await session.query<{ created: string }>(INSERT_DIRECT_RUNS, [
    session.now(),
    channel,
    ids,
    runs.map(({ job }) => job),
    runs.map(({ input }) => input),
    runs.map(({ queue }) => queue),
    runs.map(({ priority }) => priority),
    runs.map(({ key }) => key),
    runs.map(({ at }) => (at === null ? null : new Date(at))),
    runs.map(({ delayMs }) => delayMs),
    patienceMs === undefined ? null : `${patienceMs}ms`,
    // Mostly there is none, and then nothing travels.
    runs.some(({ traceContext }) => traceContext !== null)
      ? runs.map(({ traceContext }) => traceContext)
      : null,
  ])
  return row!.created === 'all' ? ids : row!.created.split(' ')
}

// In the order of ids, so that two statements with the same keys wait for each other and not in a circle. The clock is read
// before the first row goes in, and so the patience is set before it is needed.
const INSERT_DIRECT_RUNS = often(
  'enqueue runs',
  `
  with clock as materialized (
    select ${NOW} as now, case when $11::text is not null then set_config('lock_timeout', $11, true) end as patience
  ),
  created as (
    insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, key, created_at, trace_context)
    select a.id, 'direct', a.job, a.input, a.queue, a.priority, a.key, clock.now, a.trace_context
    from clock, unnest($3::uuid[], $4::text[], $5::jsonb[], $6::text[], $7::integer[], $8::text[], $12::text[])
      as a (id, job, input, queue, priority, key, trace_context)
    order by a.id
    on conflict (id) do nothing
    returning id, job, queue, priority
  ),
  opened as (
    insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at)
    select created.id, created.job, created.queue, created.priority, 'pending',
      coalesce(a.at, clock.now + a.delay_ms * interval '1 millisecond')
    from clock, created join unnest($3::uuid[], $9::timestamptz[], $10::float8[]) as a (id, at, delay_ms) on a.id = created.id
  ),
  notified as materialized (select pg_notify($2::text, 'runs') from (select from created limit 1) as any_created where $2::text is not null)
  select case count(*) when cardinality($3::uuid[]) then 'all' else coalesce(string_agg(id::text, ' '), '') end as created,
    (select count(*) from notified)::text as notified
  from created`,
)

/** One without a key is new, and nothing has to be compared: what somebody waits for on an idle system is a short statement. */
async function insertOne(
  session: Session,
  channel: string | null,
  id: string,
  run: DirectRun,
): Promise<void> {
  const { job, input, queue, priority, at, delayMs, traceContext } = run
  await session.query(INSERT_ONE, [
    session.now(),
    channel,
    id,
    job,
    input,
    queue,
    priority,
    at === null ? null : new Date(at),
    delayMs,
    traceContext,
  ])
}

const INSERT_ONE = often(
  'enqueue a run',
  `
  with clock as materialized (select ${NOW} as now),
  created as (
    insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, created_at, trace_context)
    select $3::uuid, 'direct', $4::text, $5::jsonb, $6::text, $7::integer, clock.now, $10::text from clock
  ),
  opened as (
    insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at)
    select $3::uuid, $4::text, $6::text, $7::integer, 'pending',
      coalesce($8::timestamptz, clock.now + $9::float8 * interval '1 millisecond')
    from clock
  )
  select case when $2::text is not null then pg_notify($2::text, 'runs')::text end as notified`,
)

/** Whether they are several, alike, new, and may begin at once: then they wait together. */
function isLot(runs: readonly DirectRun[]): boolean {
  const { job, queue, priority, traceContext } = runs[0]!
  const isNow = ({ key, at, delayMs }: DirectRun) => key === null && at === null && delayMs === 0
  const isAlike = (run: DirectRun) =>
    run.job === job && run.queue === queue && run.priority === priority && run.traceContext === traceContext
  return runs.length > 1 && runs.every((run) => isNow(run) && isAlike(run))
}

async function insertLots(
  session: Session,
  channel: string | null,
  { ids, runs }: DirectBatch,
): Promise<void> {
  const { job, queue, priority, traceContext } = runs[0]!
  // One text of JSON: as an array, each input would be escaped here and read twice there.
  const inputs = `[${runs.map(({ input }) => input).join(',')}]`
  await session.query(INSERT_LOTS, [
    session.now(),
    channel,
    ids,
    inputs,
    job,
    queue,
    priority,
    traceContext,
    LARGEST_LOT,
  ])
}

const INSERT_LOTS = often(
  'enqueue lots',
  `
  with clock as materialized (select ${NOW} as now),
  created as (
    insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, created_at, trace_context)
    select a.id, 'direct', $5::text, a.input, $6::text, $7::integer, clock.now, $8::text
    from clock, rows from (unnest($3::uuid[]), jsonb_array_elements($4::jsonb)) as a (id, input)
  ),
  opened as (
    insert into {schema}.lots (id, last_id, job, queue, priority, eligible_at, runs)
    select part.runs[1], part.runs[cardinality(part.runs)], $5::text, $6::text, $7::integer, clock.now, part.runs
    from clock, generate_series(1, cardinality($3::uuid[]), $9::integer) as first
    cross join lateral (select ($3::uuid[])[first:first + $9::integer - 1] as runs) as part
  ),
  notified as materialized (select pg_notify($2::text, 'runs') as sent where $2::text is not null)
  select count(sent)::text as notified from notified`,
)
