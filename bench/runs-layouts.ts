/** The layouts that `runs-layout.ts` measures: tables, indexes, and the same statements over each. */
export interface Layout {
  name: string
  tables: string
  indexes: string
  /** $1 finished runs of $2 schedules; $3 whether their ids are in the order of time. */
  fill: string
  /** $1 ids, $2 numbers of their schedules, $3 now, $4 input. */
  enqueue: string
  /** $1 at most, $2 worker, $3 lease token, $4 queue. */
  claim: string
  /**
   * $1 ids, $2 lease token, $3 results, $4 what `claim` returned as `at`. None says `state = 'running'`, and over a
   * table of open runs the ids are given twice: else the planner walks a whole index, with all that has left it.
   */
  complete: string
  /** $1 a share of the finished runs: one about there. */
  sample: string
  find: string
  list: string
  prune: string
}

const COLUMNS = `
  id uuid not null, schedule_id uuid, scope text, plan_time timestamptz(3), schedule_version integer, trigger text not null,
  job text not null, key text, input jsonb not null, queue text not null, priority integer not null, state text not null,
  eligible_at timestamptz(3) not null, attempt integer not null default 0, lease_token uuid,
  lease_expires_at timestamptz(3), worker_id uuid, lane smallint, result jsonb, error_code text, error_message text,
  created_at timestamptz(3) not null, started_at timestamptz(3), finished_at timestamptz(3)`

const SCHEDULE = (n: string) => `lpad(to_hex(${n}), 32, '0')::uuid`

const ID = `case when $3::boolean
      then (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 13))::uuid
      else gen_random_uuid() end`

const ages = (count: string) => `generate_series(1, ${count}::int) as n
  cross join lateral (select now() - interval '30 days' * (1 - n::float8 / ${count})) as age (at)`

/** Into `target`: finished runs of the last thirty days, oldest first. */
const fill = (target: string) => `
  insert into ${target} (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority, state,
    eligible_at, attempt, lease_token, worker_id, result, created_at, started_at, finished_at)
  select ${ID}, ${SCHEDULE('(random() * ($2::int - 1))::int')}, 'global', at, 1, 'scheduled', 'report',
    jsonb_build_object('customer', n, 'report', repeat('x', 100)), 'default', 0, 'succeeded', at, 1, gen_random_uuid(),
    gen_random_uuid(), '{"rows": 12345}', at, at, at
  from ${ages('$1')}`

const NEW_COLUMNS = `id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority, state,
  eligible_at, created_at`
const NEW_RUNS = `
  select id, ${SCHEDULE('n')}, 'global', $3::timestamptz, 1, 'scheduled', 'report', $4::jsonb, 'default', 0, 'pending',
    $3::timestamptz, $3::timestamptz
  from unnest($1::uuid[], $2::int[]) as new (id, n)`

const IS_CLAIMABLE = `state in ('pending', 'retrying') and coalesce(lane, 0) = 0`
const pick = (table: string, columns: string) => `
  select ${columns} from ${table}
  where ${IS_CLAIMABLE} and queue = $4 and eligible_at <= clock_timestamp()
  order by priority desc, eligible_at, id limit $1 for update skip locked`
const LEASE = `state = 'running', attempt = r.attempt + 1, worker_id = $2::uuid, lease_token = $3::uuid,
  started_at = clock_timestamp(), lease_expires_at = clock_timestamp() + interval '30 seconds'`

/** What open runs are looked for by. */
const openIndexes = (table: string) => `
  create index on ${table} (queue, priority desc, eligible_at, id) where ${IS_CLAIMABLE};
  create index on ${table} (job, lease_expires_at) where state = 'running';`
const lanes = (table: string) => `
  create unique index on ${table} (schedule_id, scope, lane)
    where lane is not null and state in ('pending', 'running', 'retrying');`
/** What the runs of a schedule are looked for by, and finished ones by their age. */
const bySchedule = (table: string) => `create index on ${table} (schedule_id, plan_time desc, id desc);`
const byAge = (table: string) =>
  `create index on ${table} (state, finished_at) where finished_at is not null;`
const key = (table: string) => `create unique index on ${table} (job, key) where key is not null;`

const sample = (table: string) => `
  select id, schedule_id from ${table}
  where state = 'succeeded' and finished_at >= now() - interval '30 days' * (1 - $1::float8) order by finished_at limit 1`
const find = (table: string) => `select * from ${table} where id = $1`
const list = (table: string) =>
  `select * from ${table} where schedule_id = $1 order by plan_time desc, id desc limit 50`
const prune = (table: string) => `
  delete from ${table} where id = any(array(
    select id from ${table} where state = 'succeeded' and finished_at < now() - interval '1 hour'
    order by finished_at limit $1))`

/** The token as one of its columns: compared with a parameter the planner takes it for rare, and joins row by row. */
const OUTCOMES = `unnest($1::uuid[], array_fill($2::uuid, array[cardinality($1::uuid[])]), $3::text[], $4::timestamptz[])
        as o (id, token, result, at)`

const oneTable: Layout = {
  name: 'one table',
  tables: `create table bench.runs (${COLUMNS});`,
  indexes: `
    alter table bench.runs add primary key (id);
    ${openIndexes('bench.runs')} ${lanes('bench.runs')} ${bySchedule('bench.runs')} ${byAge('bench.runs')}
    ${key('bench.runs')}`,
  fill: fill('bench.runs'),
  enqueue: `insert into bench.runs (${NEW_COLUMNS}) ${NEW_RUNS} on conflict do nothing returning id`,
  claim: `
    with picked as materialized (${pick('bench.runs', 'id')})
    update bench.runs as r set ${LEASE} from picked where r.id = picked.id returning r.*, r.created_at as at`,
  complete: `
    update bench.runs as r
    set state = 'succeeded', result = o.result::jsonb, finished_at = clock_timestamp(), lease_expires_at = null
    from ${OUTCOMES}
    where r.id = o.id and r.finished_at is null and r.lease_token = o.token
    returning r.id`,
  sample: sample('bench.runs'),
  find: find('bench.runs'),
  list: list('bench.runs'),
  prune: prune('bench.runs'),
}

/** Open runs in one table; whoever ends one moves it to the other. An id must be new in both. */
const twoTables: Layout = {
  name: 'open and finished',
  tables: `create table bench.runs (${COLUMNS}); create table bench.finished (${COLUMNS});`,
  indexes: `
    alter table bench.runs add primary key (id);
    alter table bench.finished add primary key (id);
    ${openIndexes('bench.runs')} ${lanes('bench.runs')} ${bySchedule('bench.runs')} ${key('bench.runs')}
    ${bySchedule('bench.finished')} ${byAge('bench.finished')} ${key('bench.finished')}`,
  fill: fill('bench.finished'),
  enqueue: `
    insert into bench.runs (${NEW_COLUMNS}) ${NEW_RUNS}
    where not exists (select from bench.finished as f where f.id = new.id) on conflict do nothing returning id`,
  claim: oneTable.claim,
  complete: `
    with ended as (
      delete from bench.runs as r using ${OUTCOMES}
      where r.id = any($1::uuid[]) and r.id = o.id and r.lease_token = o.token
      returning r.*, o.result as outcome
    )
    insert into bench.finished
    select id, schedule_id, scope, plan_time, schedule_version, trigger, job, key, input, queue, priority, 'succeeded',
      eligible_at, attempt, lease_token, null, worker_id, lane, outcome::jsonb, null, null, created_at, started_at,
      clock_timestamp()
    from ended returning id`,
  sample: sample('bench.finished'),
  find: `${find('bench.runs')} union all ${find('bench.finished')}`,
  list: `(${list('bench.runs')}) union all (${list('bench.finished')}) order by plan_time desc, id desc limit 50`,
  prune: prune('bench.finished'),
}

/** A partition for each day. The key has the day in it, so a worker keeps the time of creation beside the id. */
const partitioned: Layout = {
  ...oneTable,
  name: 'partitions by day',
  tables: `
    create table bench.runs (${COLUMNS}) partition by range (created_at);
    do $$ begin
      for n in -31..2 loop
        execute format('create table bench.runs_%s partition of bench.runs for values from (%L) to (%L)', n + 31,
          date_trunc('day', now()) + n * interval '1 day', date_trunc('day', now()) + (n + 1) * interval '1 day');
      end loop;
    end $$;`,
  // A unique index of partitions must hold the day: it could hold neither lanes nor keys.
  indexes: `
    alter table bench.runs add primary key (id, created_at);
    ${openIndexes('bench.runs')} ${bySchedule('bench.runs')} ${byAge('bench.runs')}`,
  claim: `
    with picked as materialized (${pick('bench.runs', 'id, created_at')})
    update bench.runs as r set ${LEASE} from picked where r.id = picked.id and r.created_at = picked.created_at
    returning r.*, r.created_at as at`,
  complete: oneTable.complete.replace('r.id = o.id', 'r.id = o.id and r.created_at = o.at'),
  prune: `
    delete from bench.runs as r using (
      select id, created_at from bench.runs
      where state = 'succeeded' and finished_at < now() - interval '1 hour' order by finished_at limit $1
    ) as old
    where r.id = old.id and r.created_at = old.created_at`,
}

/** Where an open run stands; not what it was asked to do. */
const OPEN_RUNS = `
  create table bench.open_runs (id uuid not null, job text not null, queue text not null, priority integer not null,
    state text not null, eligible_at timestamptz(3) not null, attempt integer not null default 0, lease_token uuid,
    lease_expires_at timestamptz(3), worker_id uuid, started_at timestamptz(3), schedule_id uuid, scope text,
    lane smallint);`

const THREE_PARTS = `bench.runs as r left join bench.open_runs as o on o.id = r.id left join bench.outcomes as e on e.id = r.id`

/** What was asked for, where an open run stands, how it ended: each row of the wide part is written once. */
const threeParts: Layout = {
  name: 'three parts',
  tables: `
    create table bench.runs (id uuid not null, schedule_id uuid, scope text, plan_time timestamptz(3),
      schedule_version integer, trigger text not null, job text not null, key text, input jsonb not null,
      queue text not null, priority integer not null, created_at timestamptz(3) not null);
    ${OPEN_RUNS}
    create table bench.outcomes (id uuid not null, state text not null, attempt integer not null, lease_token uuid,
      worker_id uuid, result jsonb, error_code text, error_message text, started_at timestamptz(3),
      finished_at timestamptz(3) not null);`,
  indexes: `
    alter table bench.runs add primary key (id);
    alter table bench.open_runs add primary key (id);
    alter table bench.outcomes add primary key (id);
    ${openIndexes('bench.open_runs')} ${lanes('bench.open_runs')} ${bySchedule('bench.runs')} ${byAge('bench.outcomes')}
    ${key('bench.runs')}`,
  fill: `
    with new as (
      insert into bench.runs (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority,
        created_at)
      select ${ID}, ${SCHEDULE('(random() * ($2::int - 1))::int')}, 'global', at, 1, 'scheduled', 'report',
        jsonb_build_object('customer', n, 'report', repeat('x', 100)), 'default', 0, at
      from ${ages('$1')}
      returning id, created_at
    )
    insert into bench.outcomes (id, state, attempt, lease_token, worker_id, result, started_at, finished_at)
    select id, 'succeeded', 1, gen_random_uuid(), gen_random_uuid(), '{"rows": 12345}', created_at, created_at from new`,
  enqueue: `
    with new as (
      insert into bench.runs (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority,
        created_at)
      select id, ${SCHEDULE('n')}, 'global', $3::timestamptz, 1, 'scheduled', 'report', $4::jsonb, 'default', 0,
        $3::timestamptz
      from unnest($1::uuid[], $2::int[]) as new (id, n)
      on conflict do nothing
      returning id, schedule_id, scope, job, queue, priority
    )
    insert into bench.open_runs (id, schedule_id, scope, job, queue, priority, state, eligible_at)
    select *, 'pending', $3::timestamptz from new returning id`,
  claim: `
    with picked as materialized (${pick('bench.open_runs', 'id')}),
    claimed as (update bench.open_runs as r set ${LEASE} from picked where r.id = picked.id returning r.*)
    select runs.*, runs.created_at as at from claimed join bench.runs on runs.id = claimed.id`,
  complete: `
    with ended as (
      delete from bench.open_runs as r using ${OUTCOMES}
      where r.id = any($1::uuid[]) and r.id = o.id and r.lease_token = o.token
      returning r.*, o.result as outcome
    )
    insert into bench.outcomes (id, state, attempt, lease_token, worker_id, result, started_at, finished_at)
    select id, 'succeeded', attempt, lease_token, worker_id, outcome::jsonb, started_at, clock_timestamp() from ended
    returning id`,
  sample: sample('bench.runs join bench.outcomes using (id)'),
  find: `select * from ${THREE_PARTS} where r.id = $1`,
  list: `select * from ${THREE_PARTS} where r.schedule_id = $1 order by r.plan_time desc, r.id desc limit 50`,
  prune: `
    with old as (
      delete from bench.outcomes where id = any(array(
        select id from bench.outcomes where state = 'succeeded' and finished_at < now() - interval '1 hour'
        order by finished_at limit $1))
      returning id
    )
    delete from bench.runs where id in (select id from old)`,
}

export const LAYOUTS: readonly Layout[] = [oneTable, twoTables, threeParts, partitioned]
