/** What `fill` runs, in this order. All of it follows from the numbers of schedules: filled twice, it is the same but for the time. */

export const TIMINGS = `
  create table filling.timings as
  select * from jsonb_to_recordset($1::jsonb) as t (number int, timing jsonb, kind text, policies jsonb, zone_data text,
    past timestamptz(3)[], next timestamptz(3))`

/** An id that begins with a time, as ours do, of a version. */
const idOf = (at: string, what: string, version: number) =>
  `overlay(overlay(md5(${what}) placing lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '${version}' from 1 for 13)
    placing 'a' from 17 for 1)::uuid`

/**
 * Which timing a schedule has, its state, and of which of its past plan times the ledger tells: `kept` of them, after the newest
 * `left_out`, which came when it was already paused.
 */
export const NUMBERED = `
  create table filling.numbered as
  select n, ${idOf('created_at', `'schedule ' || n`, 7)} as id, created_at, t.number, t.next, state, left_out, t.past[1 + left_out] as last_at,
    case when n <= $3 then $4 else least(cardinality(t.past) - left_out, case when n % 1000 = 0 then 40 else 1 + abs(hashint4(n)) % 8 end) end as kept
  from generate_series(1, $1::int) as n
  cross join lateral (
    select $2::timestamptz - interval '200 days' + case when n <= $3 then 2000000 else n end * interval '1 second' as created_at,
      case when n <= $3 then 'active' when n % 2000 = 77 then 'broken' when n % 25 = 3 then 'paused' when n % 100 = 51 then 'finished' else 'active'
      end as state
  ) as one
  cross join lateral (select case when state = 'paused' then n % 5 else 0 end as left_out) as two
  join filling.timings as t on t.number = case when n <= $3 then 999 + n else n % 1000 end`

const pick = (words: readonly string[], by: string) =>
  `(array[${words.map((word) => `'${word}'`).join(', ')}])[1 + abs(hashint4(${by})) % ${words.length}]`

const FAMILIES = ['report', 'invoice', 'sync', 'digest', 'cleanup', 'import', 'backup', 'reminder']
const FIRST = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'elm',
  'fjord',
  'granite',
  'harbour',
  'iris',
  'juniper',
  'kestrel',
  'linden',
  'maple',
  'north',
]
const SECOND = [
  'bakery',
  'clinic',
  'dairy',
  'energy',
  'foods',
  'garage',
  'hotels',
  'insurance',
  'jewellers',
  'kitchens',
  'logistics',
  'motors',
]
const TOWNS = [
  'Zürich',
  'São Paulo',
  'Göteborg',
  'Lyon',
  'Kraków',
  'Boston',
  'Osaka',
  'Málaga',
  'Nairobi',
  'Perth',
]
const WHAT = [
  'Revenue by region, as PDF to the finance team',
  'Invoices of the month before, with VAT by country',
  'Orders and stock levels between the shop and the warehouse',
  'What was new this week, for everybody who wants it',
  'Drafts, carts and sessions that nobody came back to',
  'Prices and availability from the supplier’s feed',
  'A copy of the tenant’s files to cold storage',
  'Open payments, first friendly and then less so',
]

export const SCHEDULES = `
  insert into escapement.schedules (id, name, version, job, input, queue, priority, "group", scopes, timing, policies, description,
    metadata, start_at, end_at, until_at, source, state, state_reason, state_by, state_since, ledger_from, zone_data, zone_data_from,
    created_at, updated_at)
  select s.id, coalesce(($2::text[])[n], family || ':' || company || '-' || n), 1,
    case when n % 20000 = 9 then 'close-books' else (array['send-report', 'make-invoice', 'sync-orders', 'send-digest', 'clean-up',
      'import-feed', 'back-up', 'send-report'])[family_number] end,
    jsonb_build_object('customer', company || '-' || n, 'town', town, 'format', 'pdf', 'recipients',
      jsonb_build_array('finance@' || company || '.example', 'ops@' || company || '.example'), 'since', 'previous run'),
    case when n % 5000 = 11 then 'slow-exports' when family_number in (2, 8) then 'billing' when family_number in (1, 4) then 'mail' else 'default' end,
    case when n % 50 = 0 then 10 else 0 end,
    case when n % 10 = 0 then 'europe' when n % 10 < 5 then 'tenant-' || n / 50 when n % 10 = 5 then 'billing' end, '{global}',
    t.timing, t.policies,
    case when n % 5 < 4 then (array[${WHAT.map((text) => `'${text}'`).join(', ')}])[family_number] || ', ' || town end,
    case when n % 7 = 0 then jsonb_build_object('owner', company, 'ticket', 'OPS-' || n % 9000) end,
    s.created_at, ending, ending, case when n % 5 = 2 then 'code' end, s.state,
    case s.state when 'broken' then '3 runs in a row have failed: The feed answered 502' when 'paused' then 'until the contract is signed' end,
    case s.state when 'paused' then 'ann@' || company || '.example' end,
    case when s.state = 'active' then s.created_at else s.last_at end,
    case when n <= cardinality($2) then s.next - (s.kept + 1) * interval '15 seconds' else t.past[s.left_out + s.kept] - interval '1 millisecond' end,
    t.zone_data, case when t.zone_data is not null then s.created_at end, s.created_at, s.created_at
  from filling.numbered as s
  join filling.timings as t on t.number = s.number
  cross join lateral (select 1 + abs(hashint4(n)) % 8 as family_number, ${pick(FIRST, 'n + 1')} || '-' || ${pick(SECOND, 'n + 2')} as company,
    ${pick(TOWNS, 'n + 3')} as town, case when s.state = 'finished' then s.last_at + interval '1 millisecond' end as ending) as one
  cross join lateral (select (array['${FAMILIES.join("', '")}'])[family_number] as family) as two
  where $1::timestamptz is not null
  order by n`

export const CURSORS = `
  insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through, failures)
  select s.id, 1, t.kind, upcoming, upcoming, case when s.number < 1000 then s.last_at else s.next - interval '15 seconds' end,
    case when s.state = 'broken' then 3 else 0 end
  from filling.numbered as s join filling.timings as t on t.number = s.number
  cross join lateral (select case when s.state = 'active' then s.next end as upcoming) as one
  order by s.n`

const CONTENT = `jsonb_build_object('job', s.job, 'input', s.input, 'queue', s.queue, 'priority', s.priority, 'group', s."group", 'scopes',
  s.scopes, 'timing', s.timing, 'policies', s.policies, 'description', s.description, 'metadata', s.metadata, 'startAt', null, 'endAt',
  to_char(s.end_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'limit', null)`

/** How each was made, and what took those out that are not active. */
export const CHANGES = `
  insert into escapement.changes (schedule_id, name, version, action, actor, before, after, state, boundary, changed_at, zone_data)
  select s.id, s.name, 1, c.action, 'api', null, case when c.has_content then ${CONTENT} end, c.state, c.at, c.at, s.zone_data
  from escapement.schedules as s
  cross join lateral (
    select 1 as place, 'put' as action, true as has_content, 'active' as state, s.created_at as at
    union all select 2, 'pause', true, 'paused', s.state_since where s.state = 'paused'
    union all select 2, 'break', false, 'broken', s.state_since where s.state = 'broken'
    union all select 2, 'finish', false, 'finished', s.state_since where s.state = 'finished'
  ) as c
  order by s.created_at, c.place`

/** What people do often, to the schedules that are looked at often. */
export const MORE_CHANGES = `
  insert into escapement.changes (schedule_id, name, version, action, actor, state, boundary, changed_at)
  select s.id, s.name, 1, 'trigger', 'ann', s.state, at, at
  from filling.numbered as one join escapement.schedules as s on s.id = one.id
  cross join generate_series(1, $2::int) as i
  cross join lateral (select s.ledger_from + i * interval '3 minutes' as at) as two
  where one.n <= $1`

/** One row for each plan time of each schedule that the ledger tells of: those that ran, those that run, and those that were skipped. */
export const PLANNED = `
  create table filling.planned as
  select ${idOf('at', `'run ' || s.n || ' ' || i`, 8)} as id, s.id as schedule_id, s.n, i, at,
    case when (s.n * 7 + i * 3) % 20 = 0 then 'skip' when i = 1 and s.n % 20 = 10 and s.state = 'active' then 'open' else 'ended' end as what
  from filling.numbered as s join filling.timings as t on t.number = s.number
  cross join generate_series(1, s.kept) as i
  cross join lateral (
    select case when s.number < 1000 then t.past[s.left_out + i] else s.next - i * interval '15 seconds' end as at
  ) as one
  where at < $1::timestamptz`

/** As many as are wanting. A tenth waits, or runs. */
export const DIRECT = `
  insert into filling.planned (id, n, i, at, what)
  select ${idOf('at', `'direct ' || i`, 7)}, i, 0, at, case when i % 10 = 0 or at > $2::timestamptz - interval '2 hours' then 'open' else 'ended' end
  from (select count(*) as so_far from filling.planned where what <> 'skip') as known
  cross join lateral generate_series(1, greatest($1::int - so_far::int, 100)) as i
  cross join lateral (select $2::timestamptz - interval '34 days' * (1 + abs(hashint4(i)) % 1000000) / 1000001 as at) as one`

export const SKIPS = `
  insert into escapement.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason, decided_at)
  select schedule_id, 'global', 1, at, at, (array['missed', 'overlap', 'operator', 'missed', 'gate'])[1 + n % 5], at + interval '2 seconds'
  from filling.planned where what = 'skip' order by at`

const JOB = `coalesce(s.job, (array['send-digest', 'send-report', 'import-feed'])[1 + p.n % 3])`
const QUEUE = `coalesce(s.queue, case when p.n % 3 = 2 then 'default' else 'mail' end)`
const STATE = `case when s.state = 'broken' and p.i <= 3 then 'failed' when p.mark % 50 = 7 then 'failed' when p.mark % 200 = 8 then 'cancelled'
  when p.mark % 200 = 9 and s.id is not null then 'skipped' else 'succeeded' end`

/** Runs of a stretch of time: what was asked for, and how it ended or where it stands. */
export const RUNS = `
  with p as materialized (
    select p.*, abs(hashint4(p.n * 31 + p.i)) as mark from filling.planned as p
    where p.at >= $1 and p.at < $2 and p.what <> 'skip' order by p.at, p.id
  ),
  asked as (
    insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority, created_at)
    select p.id, p.schedule_id, case when s.id is not null then 'global' end, case when s.id is not null then p.at end,
      case when s.id is not null then 1 end, case when s.id is null then 'direct' when p.mark % 300 = 5 then 'backfill' else 'scheduled' end, ${JOB},
      coalesce(s.input, jsonb_build_object('order', p.n, 'customer', 'walk-in', 'lines', jsonb_build_array(p.n % 100, p.n % 77))), ${QUEUE},
      coalesce(s.priority, 0), p.at
    from p left join escapement.schedules as s on s.id = p.schedule_id
    order by p.at, p.id
  ),
  opened as (
    insert into escapement.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, attempt, lease_token, lease_expires_at,
      worker_id, started_at, max_attempts, fails_when_stale, progress, progress_note, error_code, error_message)
    select p.id, p.schedule_id, case when s.id is not null then 'global' end, ${JOB}, ${QUEUE}, coalesce(s.priority, 0), standing,
      case when standing = 'retrying' then $3::timestamptz + interval '10 minutes' when p.mark % 10 = 3 then $3 + p.mark % 86400 * interval '1 second'
        else p.at end,
      case when standing = 'pending' then 0 else 1 end, case when is_running then p.id end, case when is_running then $3 + interval '1 day' end,
      case when is_running then md5('worker ' || p.mark % 40)::uuid end, case when is_running then p.at end,
      case when is_running then 3 end, case when is_running then false end, case when is_running then 0.4 end,
      case when is_running then '400 of 1,000 orders' end, case when standing = 'retrying' then 'handler_error' end,
      case when standing = 'retrying' then 'The warehouse is closed' end
    from p left join escapement.schedules as s on s.id = p.schedule_id
    cross join lateral (select case when p.mark % 500 = 1 then 'retrying' when p.mark % 200 = 2 then 'running' else 'pending' end as standing) as one
    cross join lateral (select standing = 'running' as is_running) as two
    where p.what = 'open' order by p.at, p.id
  )
  insert into escapement.runs_ended (id, state, eligible_at, attempt, started_at, finished_at, lease_token, worker_id, result, totals, error_code,
    error_message)
  select p.id, ended_as, p.at, case when ended_as in ('cancelled', 'skipped') then 0 when ended_as = 'failed' then 3 else 1 end, began,
    least(coalesce(began, p.at) + p.mark % 60000 * interval '1 millisecond', $3), p.id, md5('worker ' || p.mark % 40)::uuid,
    case when ended_as = 'succeeded' then jsonb_build_object('rows', p.mark % 10000, 'sent', true) end,
    case when ended_as = 'succeeded' and p.mark % 3 = 0 then jsonb_build_object('rowsAffected', p.mark % 500) end,
    case ended_as when 'failed' then 'handler_error' when 'cancelled' then 'cancelled' end,
    case ended_as when 'failed' then 'The feed at https://feeds.example.com/prices-' || p.mark % 100 || '.xml answered 502' when 'cancelled' then 'by ann' end
  from p left join escapement.schedules as s on s.id = p.schedule_id
  cross join lateral (select ${STATE} as ended_as) as one
  cross join lateral (
    select case when ended_as not in ('cancelled', 'skipped') then least(p.at + p.mark % 3000 * interval '1 millisecond', $3) end as began
  ) as two
  where p.what = 'ended' order by p.at, p.id`

/** Of those that failed, all three. */
export const ATTEMPTS = `
  insert into escapement.attempts (run_id, number, worker_id, started_at, finished_at, code, message, stack)
  select e.id, i, e.worker_id, e.started_at, e.finished_at, 'handler_error', e.error_message,
    'Error: ' || e.error_message || repeat(E'\\n    at async importFeed (file:///srv/app/jobs/import-feed.js:42:11)', 8)
  from escapement.runs_ended as e cross join generate_series(1, 3) as i
  where e.state = 'failed' and e.eligible_at >= $1 and e.eligible_at < $2
    and e.finished_at >= $1 and e.finished_at < $2::timestamptz + interval '2 minutes'
  order by e.finished_at, e.id, i`

export const WORKERS = `
  insert into escapement.workers (id, host, pid, version, queues, jobs, concurrency, running, started_at, seen_at)
  select md5('worker ' || n)::uuid, 'worker-' || n || '.internal', 1000 + n, '0.0.0', '{default,mail,billing,slow-exports}', $1::text[], 25, n % 25,
    now() - n * interval '1 hour', now()
  from generate_series(0, 39) as n`

export const TOKENS = `
  insert into escapement.tokens (id, name, role, "group", hash, created_at, created_by, last_used_at)
  select gen_random_uuid(), 'ci-' || n, (array['viewer', 'operator', 'admin'])[1 + n % 3], case when n % 4 = 0 then 'tenant-' || n end,
    encode(sha256(n::text::bytea), 'hex'), now() - n * interval '1 day', 'ann', now() - n * interval '1 hour'
  from generate_series(1, 200) as n`

/** As a scheduler counts them, for every minute of thirty days. */
export const MINUTES = `
  insert into escapement.run_minutes (minute, succeeded, failed, cancelled, skipped, started, lateness, latest_ms)
  select date_trunc('minute', $1::timestamptz) - n * interval '1 minute', 90 + n % 50, n % 3, n % 2, n % 5, 92 + n % 50,
    (select array_agg((i * 7 + n) % 9) from generate_series(1, 40) as i), 900
  from generate_series(1, 43200) as n on conflict do nothing`

/** The user's own table: most were published long ago, a thousandth is due, and some are for a later day. */
export const POSTS = [
  `create table posts (id bigint primary key, title text not null, status text not null, publish_at timestamptz, deleted_at timestamptz)`,
  `insert into posts (id, title, status, publish_at)
   select n, 'What we learnt from customer ' || n || ', and what comes next', case when n % 10 < 8 then 'published' else 'draft' end,
     case when n % 10 < 8 then now() - n * interval '1 minute' when n % 1000 = 9 then now() - interval '1 minute'
       when n % 10 = 8 then now() + interval '1 day' + n * interval '1 second' end
   from generate_series(1, {posts}) as n`,
]
