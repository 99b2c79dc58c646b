-- 0001 core: schedules and what becomes of their occurrences.
--
-- Creates new tables only: it takes no lock on anything that exists and ends in milliseconds.
-- Instants are timestamptz(3): a microsecond that the host cannot see would make a compare-and-set fail for ever.

create table {schema}.schedules (
  id uuid primary key,
  name text collate "C" not null constraint schedules_name_is_unique unique,
  -- Bumped by every edit; a plan made under another version is refused.
  version integer not null,
  job text not null,
  input jsonb not null,
  queue text not null,
  priority integer not null,
  "group" text,
  scopes text[] not null check (cardinality(scopes) > 0),
  timing jsonb not null,
  policies jsonb not null,
  description text,
  metadata jsonb,
  -- Inclusive and exclusive bounds of the plan times; a limit is resolved to end_at when it is put.
  start_at timestamptz(3) not null,
  end_at timestamptz(3),
  state text not null check (state in ('active', 'paused', 'broken', 'finished')),
  -- The cursor: the next plan time that is not yet decided.
  next_at timestamptz(3),
  -- When a scheduler must look at this row; null for never.
  wake_at timestamptz(3),
  -- Every plan time up to here is decided; it only grows. The ledger covers (ledger_from, decided_through].
  decided_through timestamptz(3) not null,
  ledger_from timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create index schedules_for_waking on {schema}.schedules (wake_at, id) where wake_at is not null;

-- The primary key is the uniqueness of an occurrence: a scheduled run's id is derived from (schedule, scope, plan
-- time). There is no foreign key to schedules: history outlives them.
create table {schema}.runs (
  id uuid primary key,
  schedule_id uuid,
  scope text,
  plan_time timestamptz(3),
  schedule_version integer,
  trigger text not null check (trigger in ('scheduled', 'manual', 'backfill', 'direct')),
  job text not null,
  input jsonb not null,
  queue text not null,
  priority integer not null,
  state text not null
    check (state in ('pending', 'running', 'retrying', 'succeeded', 'failed', 'cancelled', 'skipped')),
  eligible_at timestamptz(3) not null,
  -- The number of the newest attempt, counted when it is claimed.
  attempt integer not null default 0,
  -- The fence: whoever writes about a running run must name the token of its newest lease. Ended runs keep theirs.
  lease_token uuid,
  lease_expires_at timestamptz(3),
  worker_id uuid,
  result jsonb,
  error_code text,
  error_message text,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  constraint scheduled_runs_have_a_plan_time check (schedule_id is null or plan_time is not null),
  constraint running_runs_have_a_lease
    check (state <> 'running' or (lease_token is not null and lease_expires_at is not null))
);

create index runs_for_claiming on {schema}.runs (queue, priority desc, eligible_at, id)
  where state in ('pending', 'retrying');
create index runs_for_recovery on {schema}.runs (lease_expires_at) where state = 'running';
create index runs_by_schedule on {schema}.runs (schedule_id, plan_time desc, id desc) where schedule_id is not null;

-- Failed attempts only: the successful one lives on its run.
create table {schema}.attempts (
  run_id uuid not null references {schema}.runs (id) on delete cascade,
  number integer not null check (number > 0),
  worker_id uuid,
  started_at timestamptz(3),
  finished_at timestamptz(3) not null,
  code text not null,
  message text not null,
  stack text,
  primary key (run_id, number)
);

-- Plan times that were decided without a run, as ranges whose ends are plan times: both included.
create table {schema}.skips (
  schedule_id uuid not null,
  scope text not null,
  first_plan_time timestamptz(3) not null,
  last_plan_time timestamptz(3) not null,
  reason text not null
    check (reason in ('missed', 'paused', 'overlap', 'operator', 'gate', 'broken', 'expired', 'no_scope')),
  decided_at timestamptz(3) not null,
  primary key (schedule_id, scope, first_plan_time),
  constraint skips_are_ordered check (first_plan_time <= last_plan_time)
);

-- What was done to schedules, by whom. `boundary` is decided_through at that moment: plan times up to it belong to
-- the version before. The row that made a version is also the snapshot that its runs refer to.
create table {schema}.changes (
  id bigint generated always as identity primary key,
  schedule_id uuid not null,
  version integer not null,
  action text not null,
  actor text,
  before jsonb,
  after jsonb,
  boundary timestamptz(3) not null,
  changed_at timestamptz(3) not null
);

create index changes_by_schedule on {schema}.changes (schedule_id, id desc);

-- Published by workers, so that a process without the code knows which jobs there are.
create table {schema}.jobs (
  name text collate "C" primary key,
  policies jsonb not null,
  published_at timestamptz(3) not null
);

create table {schema}.workers (
  id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  queues text[] not null,
  jobs text[] not null,
  concurrency integer not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);
