-- 0020 resting workers: a run that is enqueued alone begins at a worker that has nothing to do, without being claimed.
--
-- Adds columns to a small table, and writes no row: a moment in which no worker can say that it lives.

alter table {schema}.workers
  -- The jobs of which it begins a run as it is enqueued, each with how often it is attempted and how long its lease lasts; null where it begins none.
  add column begins jsonb,
  -- The advisory lock that its session holds while it has nothing to do; null where it has none.
  add column rest_lock bigint;
