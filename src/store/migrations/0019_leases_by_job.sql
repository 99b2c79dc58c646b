-- 0019 leases by job: whoever counts what is worked on of a job with a limit reads nothing of others.
--
-- Makes two indexes anew, over what is worked on: a moment in which nothing is claimed.

drop index {schema}.runs_for_recovery;
create index runs_for_recovery on {schema}.runs_open (lease_expires_at, job) where state = 'running';
drop index {schema}.lots_for_recovery;
create index lots_for_recovery on {schema}.lots (lease_expires_at, job) where lease_token is not null;
