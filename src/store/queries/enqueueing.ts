import type { DirectBatch } from '../../runs/direct-batches.js'
import { NOW, type Session } from '../store.js'

/**
 * Inserts those whose id is new, tells the workers once if there are any, and returns the ids that were new. It also
 * runs inside the transactions of other libraries: arrays travel as text, and the answer is one row of text. With
 * `patienceMs`, for a statement alone, it waits no longer for a transaction that has inserted one of them; null leaves
 * that to the transaction that it is in.
 */
export async function insertDirectRuns(
  session: Session,
  channel: string,
  { ids, runs }: DirectBatch,
  patienceMs: number | null = null,
): Promise<readonly string[]> {
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
    patienceMs === null ? null : `${patienceMs}ms`,
    // Mostly there is none, and then nothing travels.
    runs.some(({ traceContext }) => traceContext !== null)
      ? runs.map(({ traceContext }) => traceContext)
      : null,
  ])
  return row!.created === 'all' ? ids : row!.created.split(' ')
}

// In the order of ids, so that two statements with the same keys wait for each other and not in a circle. The clock is read
// before the first row goes in, and so the patience is set before it is needed.
const INSERT_DIRECT_RUNS = `
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
  notified as materialized (select pg_notify($2::text, 'runs') from (select from created limit 1) as any_created)
  select case count(*) when cardinality($3::uuid[]) then 'all' else coalesce(string_agg(id::text, ' '), '') end as created,
    (select count(*) from notified)::text as notified
  from created`
