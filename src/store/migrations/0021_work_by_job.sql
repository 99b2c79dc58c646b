-- 0021 work by job: what is worked on of a job with a limit is counted in the order in which it was begun.
--
-- Makes two indexes anew and adds two, over what is worked on: a moment in which nothing is claimed.
--
-- By the ends of their leases, whoever counts walks over all that was begun within the length of a lease, and is over: where a
-- stranger's transaction keeps it, thirty seconds of it at each claim. By their beginnings, whoever has counted before need only
-- look at what was begun since.
--
-- What waits for another attempt is in the third as well: each of these indexes holds what no statement asks of another one, so that
-- the planner has no choice where tables look empty to it.

drop index {schema}.runs_for_recovery;
create index runs_for_recovery on {schema}.runs_open (lease_expires_at) where state = 'running';
create index runs_at_work on {schema}.runs_open (job, started_at) where started_at is not null;
drop index {schema}.lots_for_recovery;
create index lots_for_recovery on {schema}.lots (lease_expires_at) where lease_token is not null;
create index lots_at_work on {schema}.lots (job, started_at) where started_at is not null;
