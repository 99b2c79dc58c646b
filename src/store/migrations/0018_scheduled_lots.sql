-- 0018 scheduled lots: runs of schedules that are planned together wait together too.
--
-- Adds a column and makes a view anew: no row is written, and nothing waits for longer than a moment. Stop the workers of the
-- version before first: they would take such runs for direct ones.

-- Whether its runs are occurrences of schedules, each of its own: what they are is in runs_asked.
alter table {schema}.lots add column is_scheduled boolean not null default false;

create or replace view {schema}.runs_at_hand as
select id, schedule_id, job, queue, priority, state, lane, eligible_at, started_at, worker_id, lease_token, lease_expires_at
from {schema}.runs_open
union all
select run.id, case when l.is_scheduled then (select a.schedule_id from {schema}.runs_asked as a where a.id = run.id) end,
  l.job, l.queue, l.priority, case when l.lease_token is null then 'pending' else 'running' end, null,
  l.eligible_at, l.started_at, l.worker_id, l.lease_token, l.lease_expires_at
from {schema}.lots as l cross join lateral unnest(l.runs) as run (id);
