-- 0003 backfill lane: runs of schedules that must not overlap can wait in any number.
--
-- Rebuilds one small partial index: it holds open runs of such schedules only. Writers of runs wait for that long.

alter table {schema}.runs drop constraint runs_lane_check;
-- Overlap: null for any number at once, 0 may run, 1 waits alone, 2 waits behind it with others: backfilled runs, and
-- runs that were open when the overlap policy came.
alter table {schema}.runs add constraint runs_lane_check check (lane in (0, 1, 2)) not valid;

drop index {schema}.runs_one_open_per_lane;
-- Holds the overlap policy: one open run in lane 0 and in lane 1 of a schedule and scope. Lane 2 is told apart by run.
create unique index runs_one_open_per_lane
  on {schema}.runs (schedule_id, scope, lane, (case lane when 2 then id end)) nulls not distinct
  where lane is not null and state in ('pending', 'running', 'retrying');
