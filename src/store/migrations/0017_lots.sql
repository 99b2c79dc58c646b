-- 0017 lots: direct runs that are asked for together wait together, are claimed together and end together.
--
-- Adds a table and makes the view of all runs anew: no row is written, and nothing waits for longer than a moment. Workers of the
-- version before do not see lots: upgrade them before, or together with, what enqueues.
--
-- Each run had a row of its own while it was open, which was written, found and deleted again: more than half of what a run that does
-- little costs the database. Now those of one call share a row of at most a hundred: see docs/adr/0020-lots.md. Whatever is to
-- be said of a single one of them (it failed, it was cancelled, how far it has come) gives it a row of its own first.

create table {schema}.lots (
  -- That of the first run that it began with. Ids of such runs are in the order of time: its own are none before this, and
  -- none after the last.
  id uuid not null primary key,
  last_id uuid not null,
  eligible_at timestamptz(3) not null,
  -- Of all its runs at once; null while they wait.
  lease_expires_at timestamptz(3),
  started_at timestamptz(3),
  lease_token uuid,
  worker_id uuid,
  max_attempts integer,
  priority integer not null,
  fails_when_stale boolean,
  job text not null,
  queue text not null,
  -- Those that are open and have no row of their own.
  runs uuid[] not null check (cardinality(runs) > 0),
  constraint lots_at_work_have_a_lease check (
    (lease_token is null) = (lease_expires_at is null) and (lease_token is null) = (started_at is null)
    and (lease_token is null or worker_id is not null and max_attempts is not null and fails_when_stale is not null)
  )
);

create index lots_for_claiming on {schema}.lots (queue, priority desc, eligible_at, id) where lease_token is null;
create index lots_for_recovery on {schema}.lots (lease_expires_at) where lease_token is not null;
-- Where a run is: among the few that end with it or after it.
create index lots_by_last_run on {schema}.lots (last_id);

-- Rows come and go here all the time: swept often, while it is small.
alter table {schema}.lots set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 1000);

-- All open runs alike, for reading all of them, or those of a state. Whoever looks for one by its id reads the view of runs.
create view {schema}.runs_at_hand as
select id, schedule_id, job, queue, priority, state, lane, eligible_at, started_at, worker_id, lease_token, lease_expires_at
from {schema}.runs_open
union all
select run.id, null, l.job, l.queue, l.priority, case when l.lease_token is null then 'pending' else 'running' end, null,
  l.eligible_at, l.started_at, l.worker_id, l.lease_token, l.lease_expires_at
from {schema}.lots as l cross join lateral unnest(l.runs) as run (id);

create or replace view {schema}.runs as
select a.id, a.schedule_id, a.scope, a.plan_time, a.schedule_version, a.trigger, a.job, a.key, a.input, a.queue, a.priority,
  coalesce(o.state, e.state, case when l.lease_token is not null then 'running' when l.id is not null then 'pending' end) as state,
  coalesce(o.eligible_at, e.eligible_at, l.eligible_at) as eligible_at,
  coalesce(o.attempt, e.attempt, case when l.lease_token is not null then 1 when l.id is not null then 0 end) as attempt,
  coalesce(o.lease_token, e.lease_token, l.lease_token) as lease_token,
  coalesce(o.lease_expires_at, l.lease_expires_at) as lease_expires_at,
  coalesce(o.worker_id, e.worker_id, l.worker_id) as worker_id, o.lane, coalesce(o.progress, e.progress) as progress,
  coalesce(o.progress_note, e.progress_note) as progress_note, coalesce(o.totals, e.totals) as totals, e.result,
  coalesce(o.error_code, e.error_code) as error_code, coalesce(o.error_message, e.error_message) as error_message,
  a.created_at, coalesce(o.started_at, e.started_at, l.started_at) as started_at, e.finished_at
from {schema}.runs_asked as a
left join {schema}.runs_open as o on o.id = a.id
left join {schema}.runs_ended as e on e.id = a.id
left join lateral (
  select l.* from {schema}.lots as l
  where o.id is null and e.id is null and l.last_id >= a.id and l.id <= a.id and a.id = any (l.runs)
  order by l.last_id limit 1
) as l on true;
