-- 0004 zone data: which version of the time zone data computed a schedule's cursor.
--
-- Locks schedules and changes while it builds one index over the active schedules: some seconds for a million. Ticks and
-- verbs wait for it; runs that are under way do not. No row is rewritten. Afterwards the schedulers go through
-- the existing schedules once, a thousand at a time between their ticks.
--
-- On schedules and not on cursors: a tick writes each cursor anew, and would pay for the index every time.

-- Null where no zone's rules can move the plan times; '' where the version is not known, which is older than any.
alter table {schema}.schedules add column zone_data text collate "C" default '';
-- Plan times after this were computed with zone_data, whatever else was edited since.
alter table {schema}.schedules add column zone_data_from timestamptz(3);

create index schedules_by_zone_data on {schema}.schedules (zone_data, id)
  where state = 'active' and zone_data is not null;

-- What the plan times after the boundary were computed with at first.
alter table {schema}.changes add column zone_data text collate "C";
