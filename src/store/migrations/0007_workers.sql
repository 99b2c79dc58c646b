-- 0007 workers: what direct runs, limits, cancellation, breakers and completion-relative schedules need.
--
-- Adds columns without rewriting a row, one small table, and two small indexes: of failed runs, and of pauses that end by
-- themselves. Building the first reads all runs: writers wait for about a second for each million.

alter table {schema}.runs
  -- Direct runs asked for under a key are one: their id is derived from it.
  add column key text,
  -- How far a handler says that it has come, from 0 to 1, and where it is.
  add column progress real,
  add column progress_note text,
  -- Counters that a handler has added up; `errors` among them counts for the breaker.
  add column totals jsonb;

alter table {schema}.cursors
  -- The interval of an `after` timing, in milliseconds: whoever ends its run sets the next cursor.
  add column after_ms bigint,
  -- Plan times of an `after` timing that were decided, for its limit: it has no grid on which to count ahead.
  add column counted integer not null default 0,
  -- Scheduled runs that failed in a row.
  add column failures integer not null default 0;

-- The dead letters, in the order in which they came.
create index runs_failed on {schema}.runs (finished_at, id) where state = 'failed';

-- What is old enough to be deleted.
create index runs_by_age on {schema}.runs (finished_at) where state in ('succeeded', 'cancelled', 'skipped');

drop index {schema}.schedules_by_end_of_pause;
create index schedules_by_end_of_pause on {schema}.schedules (state_until)
  where state in ('paused', 'broken') and state_until is not null;

alter table {schema}.workers
  -- How many runs it works on, as of when it was last seen.
  add column running integer not null default 0,
  -- The advisory lock that its session holds while the process lives; null where it has no session of its own.
  add column session_lock bigint;

-- One row: whether claiming is paused in all processes.
create table {schema}.control (
  singleton boolean primary key default true check (singleton),
  claiming_paused_at timestamptz(3),
  claiming_paused_by text,
  claiming_paused_reason text
);

insert into {schema}.control default values;
