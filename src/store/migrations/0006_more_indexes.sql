-- 0006 more indexes: lists by state, pruning by source, what could not be planned, and the contents in the change log are
-- found without reading past everything else.
--
-- Builds six indexes. Nothing can be written to schedules, cursors and changes while that takes, so nothing fires and nobody edits;
-- reading goes on, and so do runs that exist. Expect three to five seconds for each million schedules, and one
-- for each million changes.

-- Of all states, not only of those that are rare: where most schedules have ended, it is the active ones that are few.
drop index {schema}.schedules_by_state;
create index schedules_by_state on {schema}.schedules (state, name);
create index schedules_by_job_and_state on {schema}.schedules (job, state, name);
create index schedules_by_group_and_state on {schema}.schedules ("group", state, name) where "group" is not null;

-- Without these the planner takes a job that has no active schedules left for one with as many as all others, and reads by name.
create statistics {schema}.schedules_jobs_and_states (mcv) on job, state from {schema}.schedules;
create statistics {schema}.schedules_groups_and_states (mcv) on "group", state from {schema}.schedules;

create index schedules_by_source on {schema}.schedules (source, name) where source is not null;

-- Empty in health: a tick that moves a cursor writes nothing here.
create index cursors_unplannable on {schema}.cursors (next_at) where plan_error is not null;

-- Triggers, skips and backfills are in the log too, in any number, and hold no content.
create index changes_with_content on {schema}.changes (schedule_id, id) where after is not null;
