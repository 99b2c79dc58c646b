-- 0009 runs in parts: what a run is to do, where it stands while it is open, and how it ended are three tables.
--
-- Writes all runs anew, and takes about as much disk as they have until it is done: expect fifteen to thirty seconds for
-- each million. Nothing fires, starts, ends or is read meanwhile. Stop the processes of the version before first: they
-- cannot work with this schema.
--
-- In one table each run was written three times, input and all, and every time it entered each index of all history. Now
-- claiming and completing touch indexes of open runs only, and history is appended to: see docs/adr/0009-layout-of-runs.md.

-- What each run is to do: written once. The primary key is the uniqueness of an occurrence, and of a key: those ids are
-- derived. There is no foreign key to schedules: history outlives them.
create table {schema}.runs_asked (
  id uuid not null,
  schedule_id uuid,
  plan_time timestamptz(3),
  created_at timestamptz(3) not null,
  schedule_version integer,
  priority integer not null,
  trigger text not null check (trigger in ('scheduled', 'manual', 'backfill', 'direct')),
  scope text,
  job text not null,
  queue text not null,
  -- Direct runs asked for under a key are one: their id is derived from it.
  key text,
  input jsonb not null,
  constraint occurrences_have_a_plan_time check (
    trigger not in ('scheduled', 'backfill') or (schedule_id is not null and scope is not null and plan_time is not null)
  )
);

-- Where each open run stands: a narrow row, deleted by whoever ends the run.
create table {schema}.runs_open (
  id uuid not null,
  schedule_id uuid,
  eligible_at timestamptz(3) not null,
  lease_expires_at timestamptz(3),
  started_at timestamptz(3),
  -- The fence: whoever writes about a running run must name the token of its lease.
  lease_token uuid,
  -- That of the attempt that failed last, so that an outcome whose answer was lost is known again. Ended runs keep theirs too.
  previous_token uuid,
  worker_id uuid,
  -- The number of the newest attempt, counted when it is claimed.
  attempt integer not null default 0,
  -- What becomes of it if its worker is lost, as of the code that claimed it: it is tried again until it has had so many
  -- attempts, or has failed at once.
  max_attempts integer,
  priority integer not null,
  -- How far a handler says that it has come, from 0 to 1.
  progress real,
  -- Overlap: null for any number at once, 0 may run, 1 waits alone, 2 waits behind it with others: backfilled runs, and
  -- runs that were open when the overlap policy came.
  lane smallint check (lane in (0, 1, 2)),
  fails_when_stale boolean,
  -- Of one that failed and that an operator has tried again: the breaker of its schedule has counted it.
  has_counted boolean not null default false,
  state text not null check (state in ('pending', 'running', 'retrying')),
  job text not null,
  queue text not null,
  scope text,
  progress_note text,
  -- Counters that a handler has added up; `errors` among them counts for the breaker.
  totals jsonb,
  -- How the newest attempt failed, of one that waits for the next.
  error_code text,
  error_message text,
  constraint running_runs_have_a_lease check (
    (state = 'running') = (lease_token is not null) and (state = 'running') = (lease_expires_at is not null)
    and (state <> 'running' or max_attempts is not null and fails_when_stale is not null)
  )
);

-- How each run ended.
create table {schema}.runs_ended (
  id uuid not null,
  eligible_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3) not null,
  lease_token uuid,
  worker_id uuid,
  attempt integer not null,
  progress real,
  state text not null check (state in ('succeeded', 'failed', 'cancelled', 'skipped')),
  progress_note text,
  totals jsonb,
  error_code text,
  error_message text,
  result jsonb
);

lock table {schema}.runs in access exclusive mode;

insert into {schema}.runs_asked (id, schedule_id, plan_time, created_at, schedule_version, priority, trigger, scope, job,
  queue, key, input)
select id, schedule_id, plan_time, created_at, schedule_version, priority, trigger, scope, job, queue, key, input
from {schema}.runs;

insert into {schema}.runs_open (id, schedule_id, eligible_at, lease_expires_at, started_at, lease_token, previous_token,
  worker_id, attempt, max_attempts, fails_when_stale, priority, progress, lane, state, job, queue, scope, progress_note, totals,
  error_code, error_message)
select id, schedule_id, eligible_at, case state when 'running' then lease_expires_at end, started_at,
  case state when 'running' then lease_token end, case when state <> 'running' then lease_token end,
  worker_id, attempt, coalesce(known.attempts, 1), coalesce(known.fails, false), priority, progress, lane, state, job, queue, scope,
  progress_note, totals, error_code, error_message
from {schema}.runs
left join (
  select name, (policies->'retry'->>'attempts')::int as attempts, policies->>'onStale' = 'fail' as fails from {schema}.jobs
) as known on known.name = runs.job
where state in ('pending', 'running', 'retrying');

insert into {schema}.runs_ended (id, eligible_at, started_at, finished_at, lease_token, worker_id, attempt, progress, state,
  progress_note, totals, error_code, error_message, result)
select id, eligible_at, started_at, coalesce(finished_at, eligible_at), lease_token, worker_id, attempt, progress, state,
  progress_note, totals, error_code, error_message, result
from {schema}.runs where state not in ('pending', 'running', 'retrying');

alter table {schema}.attempts drop constraint attempts_run_id_fkey;
drop table {schema}.runs;

alter table {schema}.runs_asked add primary key (id);
alter table {schema}.runs_open add primary key (id);
alter table {schema}.runs_ended add primary key (id);
alter table {schema}.attempts add foreign key (run_id) references {schema}.runs_asked (id) on delete cascade;

-- A manual run has no plan time; its place in the history of its schedule is where it was asked for.
create index runs_history on {schema}.runs_asked (schedule_id, (coalesce(plan_time, created_at)) desc, id desc)
  where schedule_id is not null;
-- A partial index gives the planner no idea of its expression: without these it takes any range for a small one, and sorts.
create statistics {schema}.runs_history_times on (coalesce(plan_time, created_at)) from {schema}.runs_asked;

create index runs_for_claiming on {schema}.runs_open (queue, priority desc, eligible_at, id)
  where state in ('pending', 'retrying') and coalesce(lane, 0) = 0;
create index runs_for_recovery on {schema}.runs_open (lease_expires_at) where state = 'running';
-- Holds the overlap policy: one open run in lane 0 and in lane 1 of a schedule and scope. Lane 2 is told apart by run.
create unique index runs_one_open_per_lane
  on {schema}.runs_open (schedule_id, scope, lane, (case lane when 2 then id end)) nulls not distinct
  where lane is not null;

-- The dead letters in the order in which they came, and what is old enough to be deleted.
create index runs_by_age on {schema}.runs_ended (state, finished_at, id);

-- Rows come and go here all the time: swept often, while it is small.
alter table {schema}.runs_open set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 10000);

-- All about each run, for reading.
create view {schema}.runs as
select a.id, a.schedule_id, a.scope, a.plan_time, a.schedule_version, a.trigger, a.job, a.key, a.input, a.queue, a.priority,
  coalesce(o.state, e.state) as state, coalesce(o.eligible_at, e.eligible_at) as eligible_at,
  coalesce(o.attempt, e.attempt) as attempt, coalesce(o.lease_token, e.lease_token) as lease_token, o.lease_expires_at,
  coalesce(o.worker_id, e.worker_id) as worker_id, o.lane, coalesce(o.progress, e.progress) as progress,
  coalesce(o.progress_note, e.progress_note) as progress_note, coalesce(o.totals, e.totals) as totals, e.result,
  coalesce(o.error_code, e.error_code) as error_code, coalesce(o.error_message, e.error_message) as error_message,
  a.created_at, coalesce(o.started_at, e.started_at) as started_at, e.finished_at
from {schema}.runs_asked as a
left join {schema}.runs_open as o on o.id = a.id
left join {schema}.runs_ended as e on e.id = a.id;

-- As in 0008, with a run in two tables, and with ids that are in the order of time. It runs with the rights of whoever calls it: give those who may enqueue `usage` on the
-- schema, `select, insert` on its table runs_asked and `insert` on runs_open.
create or replace function {schema}.enqueue(
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
      encode(set_byte(set_byte(substring(digest.bytes for 16), 6, get_byte(digest.bytes, 6) & 15 | 128),
        8, get_byte(digest.bytes, 8) & 63 | 128), 'hex')::uuid,
      -- A UUIDv7, which PostgreSQL itself gives from version 18 on.
      encode(overlay(set_byte(random.bytes, 6, get_byte(random.bytes, 6) & 15 | 112)
        placing substring(int8send((extract(epoch from clock.now) * 1000)::bigint) from 3) from 1 for 6), 'hex')::uuid
    ) as id
    from digest, clock, (select uuid_send(gen_random_uuid()) as bytes) as random
  ),
  created as (
    insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, key, created_at)
    select asked.id, 'direct', enqueue.job, coalesce(enqueue.input, 'null'), coalesce(enqueue.queue, 'default'),
      coalesce(enqueue.priority, 0), enqueue.key, clock.now
    from asked, clock
    on conflict (id) do nothing
    returning id, job, queue, priority
  ),
  opened as (
    insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at)
    select created.id, created.job, created.queue, created.priority, 'pending',
      -- Never early: what is finer than our precision becomes eligible with the next millisecond. No worker could sleep
      -- until infinity.
      coalesce(
        least(greatest(date_trunc('milliseconds', enqueue.eligible_at + interval '999 microseconds'),
          timestamptz '1900-01-01T00:00:00Z'), timestamptz '9999-12-31T23:59:59.999Z'),
        clock.now)
    from created, clock
  ),
  notified as materialized (select pg_notify({channel}, 'runs') from created)
  select asked.id from asked where (select count(*) from notified) >= 0
$enqueue$;
