-- 0008 enqueue: direct runs from SQL, so that a trigger or a program in any language can ask for one in its transaction.
--
-- Creates one function: it takes no lock on anything that exists. It runs with the rights of whoever calls it: give those
-- who may enqueue `usage` on the schema and `select, insert` on its table runs.

-- Asks for a run of a job and returns its id. The same job and key again give the same run, for as long as it is kept.
-- The job is not checked: what a trigger asks for must not depend on which workers have ever started. A run that waits for
-- a job that no worker has is reported by doctor.
create function {schema}.enqueue(
  job text,
  input jsonb default null,
  queue text default 'default',
  priority integer default 0,
  -- The earliest time at which it may run; null for now.
  eligible_at timestamptz default null,
  key text default null
) returns uuid
language sql
volatile
set search_path = pg_catalog, pg_temp
as $enqueue$
  with clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now),
  digest as materialized (
    select sha256(convert_to('escapement|direct|' || enqueue.job, 'UTF8') || '\x00'::bytea || convert_to(enqueue.key, 'UTF8'))
      as bytes
  ),
  -- The same id as the library derives from job and key: see docs/reference/run-ids.md.
  asked as materialized (
    select coalesce(
      encode(set_byte(set_byte(substring(bytes for 16), 6, get_byte(bytes, 6) & 15 | 128), 8, get_byte(bytes, 8) & 63 | 128),
        'hex')::uuid,
      gen_random_uuid()
    ) as id
    from digest
  ),
  created as (
    insert into {schema}.runs (id, trigger, job, input, queue, priority, state, eligible_at, key, created_at)
    select asked.id, 'direct', enqueue.job, coalesce(enqueue.input, 'null'), coalesce(enqueue.queue, 'default'),
      coalesce(enqueue.priority, 0), 'pending',
      -- Never early: what is finer than our precision becomes eligible with the next millisecond. No worker could sleep
      -- until infinity.
      coalesce(
        least(greatest(date_trunc('milliseconds', enqueue.eligible_at + interval '999 microseconds'),
          timestamptz '1900-01-01T00:00:00Z'), timestamptz '9999-12-31T23:59:59.999Z'),
        clock.now),
      enqueue.key, clock.now
    from asked, clock
    on conflict (id) do nothing
    returning id
  ),
  notified as materialized (select pg_notify({channel}, 'runs') from created)
  select asked.id from asked where (select count(*) from notified) >= 0
$enqueue$;
