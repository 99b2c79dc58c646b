-- 0002 run history: the runs of a schedule in the order in which people read them, and its skips beside them.
--
-- Builds two indexes. While they are built nothing can be written to runs and skips, so nothing fires, starts or ends;
-- reading goes on. Expect two to three seconds for each million runs. The old index is dropped at the end, which waits
-- for statements that read runs and then takes no time.

-- A manual run has no plan time; its place is where it was asked for. Instead of runs_by_schedule, not beside it:
-- scheduled runs have a plan time, so that whoever looks for them by it finds them here, and firing pays for one index.
create index runs_history on {schema}.runs (schedule_id, (coalesce(plan_time, created_at)) desc, id desc)
  where schedule_id is not null;
drop index {schema}.runs_by_schedule;

-- A partial index gives the planner no idea of its expression: without these it takes any range for a small one, and sorts.
create statistics {schema}.runs_history_times on (coalesce(plan_time, created_at)) from {schema}.runs;

create index skips_history on {schema}.skips (schedule_id, last_plan_time desc, scope desc);
