import { NOW, type Session } from '../store.js'

export interface WorkerRegistration {
  id: string
  host: string
  pid: number
  version: string
  queues: readonly string[]
  jobs: readonly string[]
  concurrency: number
}

/** Creates or refreshes a worker's row, and forgets those that were last seen a day ago. */
export async function registerWorker(session: Session, worker: WorkerRegistration): Promise<void> {
  await session.query(`delete from {schema}.workers where seen_at < ${NOW} - interval '1 day'`, [
    session.now(),
  ])
  await session.query(
    `insert into {schema}.workers (id, host, pid, version, queues, jobs, concurrency, started_at, seen_at)
     select $2, $3, $4, $5, $6::text[], $7::text[], $8, now, now from (select ${NOW} as now) as clock
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
    ],
  )
}

export async function markWorkerSeen(session: Session, id: string): Promise<void> {
  await session.query(`update {schema}.workers set seen_at = ${NOW} where id = $2`, [session.now(), id])
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
