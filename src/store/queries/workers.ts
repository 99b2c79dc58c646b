import type { JsonSchema } from '../../runs/input-schema.js'
import type { Instant } from '../../time/instant.js'
import { sinceParam } from '../front.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import { AT_WORK } from './claim-parts.js'

export interface WorkerRegistration {
  id: string
  host: string
  pid: number
  version: string
  queues: readonly string[]
  jobs: readonly string[]
  concurrency: number
  /** The advisory lock that its session holds while the process lives; null without such a session. */
  sessionLock: string | null
  /** The jobs of which it begins a run as it is enqueued, each with how often it is attempted and how long its lease lasts; null where it begins none. */
  begins: Readonly<Record<string, { attempts: number; leaseMs: number }>> | null
  /** The advisory lock that its session holds while it has nothing to do. */
  restLock: string | null
}

/** Creates or refreshes a worker's row, and forgets those that were last seen a day ago. */
export async function registerWorker(session: Session, worker: WorkerRegistration): Promise<void> {
  await session.query(`delete from {schema}.workers where seen_at < ${NOW} - interval '1 day'`, [
    session.now(),
  ])
  await session.query(
    `insert into {schema}.workers (id, host, pid, version, queues, jobs, concurrency, session_lock, begins, rest_lock, started_at, seen_at)
     select $2, $3, $4, $5, $6::text[], $7::text[], $8, $9::bigint, $10::jsonb, $11::bigint, now, now from (select ${NOW} as now) as clock
     on conflict (id) do update
       set jobs = excluded.jobs, seen_at = excluded.seen_at, session_lock = excluded.session_lock, begins = excluded.begins`,
    [
      session.now(),
      worker.id,
      worker.host,
      worker.pid,
      worker.version,
      worker.queues,
      worker.jobs,
      worker.concurrency,
      worker.sessionLock,
      worker.begins && JSON.stringify(worker.begins),
      worker.restLock,
    ],
  )
}

interface LostWorker {
  id: string
  host: string
  pid: number
}

interface LookAtWorkers {
  lost: LostWorker[]
  /** Until one whose lock is free may count as lost, unless it is seen; null where there is none. */
  msUntilLost: number | null
  hasExpired: boolean
  /** When it looked. */
  now: Instant
  /** Whether no other worker was seen of late. */
  isAlone: boolean
  /** Whether the others know this worker as it has told them: its row is there, and nobody took it for lost. */
  isAsTold: boolean
  /** Whether a run was handed to it so long ago that it will not hear of it any more. */
  hasUnheard: boolean
}

/**
 * Says that a worker lives, and looks whether the others do. One whose advisory lock is free, and which was not seen for
 * `unseenMs`, is dead: its leases are shortened to `graceMs`, but for those whose runs must not be tried again. Neither
 * alone is enough: a worker that lives may be unable to connect anew, and one that is held up cannot say that it lives.
 *
 * Whoever finds it takes the lock off its row, so that it is found once. One that lives after all learns it from its row.
 */
export async function lookAfterWorkers(
  session: Session,
  look: {
    id: string
    running: number
    sessionLock: string | null
    unseenMs: number
    graceMs: number
    /** Only leases that have expired since then. */
    since?: Instant | null
    /** The runs that it holds, where others may have been handed to it of which it did not hear for `unheardMs`. */
    held?: readonly string[] | null
    unheardMs?: number
    /** Of those that were handed to it before then it is known that it has heard. */
    heardThrough?: Instant | null
  },
): Promise<LookAtWorkers> {
  const [row] = await session.query<{
    lost: LostWorker[] | null
    ms_until_lost: number | null
    has_expired: boolean
    now: Date
    is_alone: boolean
    is_as_told: boolean
    has_unheard: boolean
  }>(LOOK_AFTER_WORKERS, [
    session.now(),
    look.id,
    look.running,
    look.sessionLock,
    look.unseenMs,
    look.graceMs,
    sinceParam(look.since),
    look.held ?? null,
    look.unheardMs ?? 0,
    sinceParam(look.heardThrough),
  ])
  return {
    lost: row!.lost ?? [],
    msUntilLost: row!.ms_until_lost,
    hasExpired: row!.has_expired,
    now: row!.now.getTime(),
    isAlone: row!.is_alone,
    isAsTold: row!.is_as_told,
    hasUnheard: row!.has_unheard,
  }
}

/** Mostly nobody is: then nothing else is read. */
const ANY_LOST = '(select count(*) from lost) > 0'

/**
 * Two that find each other lost must not wait for each other: each locks its own row first, and passes over rows that
 * are locked, for who is being seen lives, and a run that is being written is not abandoned.
 *
 * What is shortened is named by arrays, which are made once and lead to the primary key. Joined, it was looked for anew for each
 * open run wherever the planner took the tables for empty, as those of a queue are whenever they are analysed.
 */
const LOOK_AFTER_WORKERS = often(
  'look after workers',
  `
  with clock as materialized (
    select now, now - $5::float8 * interval '1 millisecond' as unseen_since,
      now + $6::float8 * interval '1 millisecond' as grace_ends_at
    from (select ${NOW} as now) as clock
  ),
  seen as (
    update {schema}.workers as w set seen_at = clock.now, running = $3 from clock where w.id = $2
    returning w.session_lock is not distinct from $4::bigint as is_as_told, w.begins, w.started_at
  ),
  lockless as materialized (
    select w.id, w.seen_at from {schema}.workers as w
    where w.id <> $2 and w.session_lock is not null and not exists (
      select from pg_locks as l
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())
        and (l.classid::bigint << 32) | l.objid::bigint = w.session_lock
    )
  ),
  lost as (
    update {schema}.workers set session_lock = null
    where id in (
      select w.id from {schema}.workers as w, clock
      where w.id in (select id from lockless) and w.seen_at <= clock.unseen_since and w.session_lock is not null
        and (select count(*) from seen) >= 0
      for update of w skip locked
    )
    returning id, host, pid
  ),
  shortened as (
    update {schema}.runs_open set lease_expires_at = clock.grace_ends_at
    from clock
    where id = any(array(
      select r.id from {schema}.runs_open as r, lost, clock
      where ${ANY_LOST} and r.worker_id = lost.id and r.state = 'running' and r.lease_expires_at > clock.grace_ends_at
        and not r.fails_when_stale
      for update of r skip locked
    ))
  ),
  shortened_lots as (
    update {schema}.lots set lease_expires_at = clock.grace_ends_at
    from clock
    where id = any(array(
      select l.id from {schema}.lots as l, lost, clock
      where ${ANY_LOST} and l.worker_id = lost.id and l.lease_token is not null and l.lease_expires_at > clock.grace_ends_at
        and not l.fails_when_stale
      for update of l skip locked
    ))
  )
  select (select json_agg(lost) from lost) as lost,
    (
      select extract(epoch from min(seen_at) - unseen_since)::float8 * 1000 from lockless, clock
      where seen_at > unseen_since group by unseen_since
    ) as ms_until_lost,
    exists (
      select from {schema}.runs_open
      where state = 'running' and lease_expires_at <= (select now from clock) and lease_expires_at >= $7::timestamptz
    )
      or exists (
        select from {schema}.lots
        where lease_token is not null and lease_expires_at <= (select now from clock) and lease_expires_at >= $7::timestamptz
      ) as has_expired,
    (select now from clock) as now,
    not exists (
      select from {schema}.workers as w, clock where w.id <> $2 and w.seen_at > clock.now - interval '1 minute'
    ) as is_alone,
    coalesce((select is_as_told from seen), false) as is_as_told,
    $8::uuid[] is not null and exists (
      select from {schema}.runs_open
      where job = any(array(select jsonb_object_keys(begins) from seen))
        and started_at >= (select greatest(started_at, $10::timestamptz) from seen)
        and started_at < (select now from clock) - $9::float8 * interval '1 millisecond'
        and ${AT_WORK} and worker_id = $2 and lease_token = id and id <> all($8)
    ) as has_unheard`,
)

export interface UnseenHolder {
  id: string
  host: string
  pid: number
  seen_at: Date
  runs: number
}

/** Running runs that are looked at. */
const MOST_HELD = 10_000

/**
 * Workers that were not seen for `unseenMs` and yet hold leases. Not of those whose leases ran out as long ago: these runs are
 * everybody's by now. The longest unseen first.
 */
export function listUnseenHolders(session: Session, unseenMs: number): Promise<UnseenHolder[]> {
  return session.query(
    `with clock as materialized (select ${NOW} - $2 * interval '1 millisecond' as unseen_since),
     held as materialized (
       select r.worker_id, count(*) as runs from (
         select worker_id from {schema}.runs_at_hand
         where state = 'running' and lease_expires_at >= (select unseen_since from clock) order by lease_expires_at limit $3
       ) as r
       group by r.worker_id
     )
     select w.id, w.host, w.pid, w.seen_at, held.runs from held join {schema}.workers as w on w.id = held.worker_id
     where w.seen_at < (select unseen_since from clock) order by w.seen_at, w.id`,
    [session.now(), unseenMs, MOST_HELD],
  )
}

export async function removeWorker(session: Session, id: string): Promise<void> {
  await session.query('delete from {schema}.workers where id = $1', [id])
}

/** Tells processes without the code which jobs there are, with their policies. */
export async function publishJobs(
  session: Session,
  jobs: readonly { name: string; policies: object }[],
): Promise<void> {
  await session.query(
    `insert into {schema}.jobs (name, policies, published_at)
     select name, policies::jsonb, ${NOW} from unnest($2::text[], $3::text[]) as job (name, policies)
     order by name
     on conflict (name) do update set policies = excluded.policies, published_at = excluded.published_at`,
    [session.now(), jobs.map(({ name }) => name), jobs.map(({ policies }) => JSON.stringify(policies))],
  )
}

/** Those of these jobs that have a gate, as far as any worker has told. */
export async function listGatedJobs(session: Session, names: readonly string[]): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select name from {schema}.jobs where name = any($1) and (policies->>'gate')::boolean`,
    [names],
  )
  return rows.map(({ name }) => name)
}

export interface PublishedJob {
  name: string
  /** Whether its scopes come from a provider. */
  provider: boolean
  /** The JSON Schema of its input, where it has one and is asked for. */
  input_schema: JsonSchema | null
}

/** All of them, with the input schemas of those that are named. Also runs inside the transactions of other libraries. */
export async function listJobs(session: Session, names: readonly string[]): Promise<PublishedJob[]> {
  const rows = await session.query<Omit<PublishedJob, 'input_schema'> & { input_schema: string | null }>(
    `select name, coalesce((policies->>'provider')::boolean, false) as provider,
       case when name = any($1::text[]) then policies->>'inputSchema' end as input_schema
     from {schema}.jobs order by name`,
    [names],
  )
  return rows.map((row) => ({ ...row, input_schema: row.input_schema && JSON.parse(row.input_schema) }))
}
