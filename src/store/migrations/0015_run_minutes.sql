-- 0015 run minutes: how many runs ended in each minute, and how late those were that started in it.
--
-- Creates one empty table: it locks nothing and takes no time. Schedulers fill it from now on, with a statement a minute each; those of
-- the version before do not know it and work on.

-- A minute in which nothing happened has no row.
create table {schema}.run_minutes (
  -- Where it begins.
  minute timestamptz(3) primary key,
  -- Runs that ended in it.
  succeeded integer not null,
  failed integer not null,
  cancelled integer not null,
  skipped integer not null,
  -- Runs that started in it.
  started integer not null,
  -- How many of those started how late: one number for each bucket of src/runs/lateness.ts, up to the last that is not 0.
  lateness integer[] not null,
  -- The latest of them, in milliseconds; null where none started.
  latest_ms float8
);
