import { NOW, type Session } from '../store.js'

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
}

/** Creates or refreshes a worker's row, and forgets those that were last seen a day ago. */
export async function registerWorker(session: Session, worker: WorkerRegistration): Promise<void> {
  await session.query(`delete from {schema}.workers where seen_at < ${NOW} - interval '1 day'`, [
    session.now(),
  ])
  await session.query(
    `insert into {schema}.workers (id, host, pid, version, queues, jobs, concurrency, session_lock, started_at, seen_at)
     select $2, $3, $4, $5, $6::text[], $7::text[], $8, $9::bigint, now, now from (select ${NOW} as now) as clock
     on conflict (id) do update set jobs = excluded.jobs, seen_at = excluded.seen_at`,
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
    ],
  )
}

export interface LostWorker {
  id: string
  host: string
  pid: number
}

/**
 * Says that a worker lives, and looks whether the others do. The advisory lock of one whose process is gone is free:
 * its leases are shortened to `graceMs`, but for those whose runs must not be tried again.
 */
export async function lookAfterWorkers(
  session: Session,
  { id, running, graceMs }: { id: string; running: number; graceMs: number },
): Promise<{ lost: LostWorker[]; hasExpired: boolean }> {
  const [row] = await session.query<{ lost: LostWorker[] | null; has_expired: boolean }>(LOOK_AFTER_WORKERS, [
    session.now(),
    id,
    running,
    graceMs,
  ])
  return { lost: row?.lost ?? [], hasExpired: row?.has_expired ?? false }
}

const LOOK_AFTER_WORKERS = `
  with clock as materialized (select ${NOW} as now),
  seen as (
    update {schema}.workers as w set seen_at = clock.now, running = $3 from clock where w.id = $2
  ),
  lost as materialized (
    select w.id, w.host, w.pid from {schema}.workers as w
    where w.id <> $2 and w.session_lock is not null and not exists (
      select from pg_locks as l
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())
        and (l.classid::bigint << 32) | l.objid::bigint = w.session_lock
    )
  ),
  shortened as (
    update {schema}.runs_open as r set lease_expires_at = clock.now + $4::float8 * interval '1 millisecond'
    from lost, clock
    where r.worker_id = lost.id and r.state = 'running'
      and r.lease_expires_at > clock.now + $4::float8 * interval '1 millisecond'
      and not r.fails_when_stale
  )
  select (select json_agg(lost) from lost) as lost,
    exists (select from {schema}.runs_open where state = 'running' and lease_expires_at <= (select now from clock)) as has_expired`

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
}

export function listJobs(session: Session): Promise<PublishedJob[]> {
  return session.query<PublishedJob>(
    `select name, coalesce((policies->>'provider')::boolean, false) as provider from {schema}.jobs order by name`,
  )
}
