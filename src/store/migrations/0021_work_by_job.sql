-- 0021 work by job: what is worked on of a job with a limit is counted in the order in which it was begun.
--
-- Makes two indexes anew and adds two, over what is open: for a moment, a second for each million runs that wait, nothing is enqueued, planned, claimed
-- or recorded. While somebody else has these tables open, a dump for instance, it is tried again and again: best while nothing of that kind is under way. So
-- it is while a transaction is open that has changed something there: PostgreSQL uses none of the new indexes before that has ended.
--
-- By the ends of their leases, whoever counts walks over all that was begun within the length of a lease, and is over: where a
-- stranger's transaction keeps it, thirty seconds of it at each claim. By their beginnings, whoever has counted before need only
-- look at what was begun since.
--
-- Each of these indexes holds what no statement asks of another one, in these words, so that the planner has no choice where tables look
-- empty to it.

-- Both before either is worked on: whoever has one of them open, and then wants the other, waits for as long as this is tried, and not longer.
lock table {schema}.lots, {schema}.runs_open in access exclusive mode;
drop index {schema}.runs_for_recovery;
create index runs_for_recovery on {schema}.runs_open (lease_expires_at) where state = 'running';
create index runs_at_work on {schema}.runs_open (job, started_at) where num_nulls(lease_token) = 0;
drop index {schema}.lots_for_recovery;
create index lots_for_recovery on {schema}.lots (lease_expires_at) where lease_token is not null;
create index lots_at_work on {schema}.lots (job, started_at) where started_at is not null;
