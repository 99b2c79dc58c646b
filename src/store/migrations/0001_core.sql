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
  -- Null when the job's provider gives them.
  scopes text[] check (cardinality(scopes) > 0),
  timing jsonb not null,
  policies jsonb not null,
  description text,
  metadata jsonb,
  -- Inclusive and exclusive bounds of the plan times, and how many there are; until_at is where end_at or the limit
  -- ends them.
  start_at timestamptz(3) not null,
  end_at timestamptz(3),
  "limit" integer check ("limit" > 0),
  until_at timestamptz(3),
  -- Who declared it, for those that were synchronised from code.
  source text,
  state text not null check (state in ('active', 'paused', 'broken', 'finished')),
  state_reason text,
  state_by text,
  state_since timestamptz(3) not null,
  state_until timestamptz(3),
  -- The ledger covers (ledger_from, decided_through].
  ledger_from timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create index schedules_by_group on {schema}.schedules ("group", name) where "group" is not null;
create index schedules_by_job on {schema}.schedules (job, name);
create index schedules_by_end_of_pause on {schema}.schedules (state_until) where state = 'paused' and state_until is not null;
create index schedules_by_state on {schema}.schedules (state, name) where state <> 'active';

-- Where each schedule stands, apart from what it holds: a tick rewrites this narrow row and no other. Whoever plans or
-- changes a schedule locks its row here first.
create table {schema}.cursors (
  schedule_id uuid primary key references {schema}.schedules (id) on delete cascade,
  -- The version of the schedule that this cursor belongs to.
  version integer not null,
  -- What a scheduler must have to plan it: the kind of timing, and the job whose provider gives the scopes, if one does.
  kind text not null,
  provider text,
  -- The cursor: the next plan time that is not yet decided.
  next_at timestamptz(3),
  -- When a scheduler must look at this row; null for never.
  wake_at timestamptz(3),
  -- Every plan time up to here is decided; it only grows.
  decided_through timestamptz(3) not null,
  -- Whether an operator asked to skip plan times that are still to come.
  has_requests boolean not null default false,
  -- Why it could not be planned when a scheduler last tried.
  plan_error text
) with (fillfactor = 80);

create index cursors_for_waking on {schema}.cursors (wake_at, schedule_id) where wake_at is not null;

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
  -- Overlap: null for any number at once, 0 may run, 1 waits.
  lane smallint check (lane in (0, 1)),
  result jsonb,
  error_code text,
  error_message text,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  constraint occurrences_have_a_plan_time check (
    trigger not in ('scheduled', 'backfill') or (schedule_id is not null and scope is not null and plan_time is not null)
  ),
  constraint running_runs_have_a_lease
    check (state <> 'running' or (lease_token is not null and lease_expires_at is not null))
);

create index runs_for_claiming on {schema}.runs (queue, priority desc, eligible_at, id)
  where state in ('pending', 'retrying') and coalesce(lane, 0) = 0;
create index runs_for_recovery on {schema}.runs (lease_expires_at) where state = 'running';
create index runs_by_schedule on {schema}.runs (schedule_id, plan_time desc, id desc) where schedule_id is not null;

-- Holds the overlap policy: one open run in each lane of a schedule and scope.
create unique index runs_one_open_per_lane on {schema}.runs (schedule_id, scope, lane)
  where lane is not null and state in ('pending', 'running', 'retrying');

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
  schedule_version integer not null,
  first_plan_time timestamptz(3) not null,
  last_plan_time timestamptz(3) not null,
  reason text not null
    check (reason in ('missed', 'paused', 'overlap', 'operator', 'gate', 'broken', 'expired', 'no_scope')),
  decided_at timestamptz(3) not null,
  primary key (schedule_id, scope, first_plan_time),
  constraint skips_are_ordered check (first_plan_time <= last_plan_time)
);

-- Plan times that an operator asked to skip before they were due; read under the lock of the cursor.
create table {schema}.skip_requests (
  schedule_id uuid not null references {schema}.schedules (id) on delete cascade,
  plan_time timestamptz(3) not null,
  requested_by text,
  requested_at timestamptz(3) not null,
  primary key (schedule_id, plan_time)
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
  -- The state from here on, for those that ask what a plan time met.
  state text not null,
  boundary timestamptz(3) not null,
  changed_at timestamptz(3) not null
);

create index changes_by_schedule on {schema}.changes (schedule_id, id);

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
