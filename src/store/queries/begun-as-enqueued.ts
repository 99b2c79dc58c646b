/**
 * A run that is enqueued alone while a worker is at rest begins there, without being claimed.
 *
 * A worker says in its row which jobs it begins like this. While nothing waits for it and nothing is in its hands, the session on which it listens holds its `rest_lock`.
 * The statement that enqueues finds such a worker, inserts the run leased to it, and the notification that it sends to that worker alone carries the run. So the handler begins
 * after one statement, where else a notification is followed by a look and a claim. The lease is as fenced as any other; its token is the run's own id, as a run is handed
 * over at most once: when it is enqueued.
 *
 * A session that has broken holds no lock, so nothing is sent where nobody hears it, and a worker that was not seen for a while is passed over too, in case its process stands still. What
 * a worker is handed all the same and has no place for, or hears of too late, it gives back, no attempt spent. So it does with what it finds leased to it that it never heard of, as a
 * connection may fall silent. A worker that died is lost as any other, and its leases with it.
 */
import type { DirectRun } from '../../runs/direct-run.js'
import type { Instant } from '../../time/instant.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import { type ClaimedRow, MAY_CLAIM } from './claim-parts.js'

/** Longer than workers at rest take to say again that they live. */
const UNSEEN_MS = 7_000
/** In bytes, by the server's own limit. */
const TOO_LARGE_MESSAGE = 8_000

const CHANNEL = 'escapement-worker:'

/** Where a worker hears what is handed to it. */
export const handingChannel = (workerId: string) => `${CHANNEL}${workerId}`

/** Whether it may begin at once, and has no key to be compared. */
export const needNotWait = ({ key, at, delayMs }: DirectRun) => key === null && at === null && delayMs === 0

/** A run that was handed over, as a claim would have answered. */
export function readHanded(payload: string): ClaimedRow | null {
  // What a connection says that was lost and is back is empty.
  if (payload === '') return null
  const { at, id, job, input, queue, priority, traceContext } = JSON.parse(payload)
  const now = new Date(at)
  return {
    lot_id: null,
    id,
    job,
    input,
    queue,
    priority,
    trigger: 'direct',
    schedule_id: null,
    schedule_version: null,
    scope: null,
    plan_time: null,
    key: null,
    created_at: now,
    eligible_at: now,
    attempt: 1,
    lane: null,
    started_at: now,
    error_code: null,
    error_message: null,
    trace_context: traceContext,
    schedule_name: null,
    timing: null,
    has_breaker: false,
  }
}

/** Inserts a run that is new and may begin now. Not in a transaction of the caller's: its lease counts from here. */
export async function insertAndHandOver(
  session: Session,
  channel: string,
  id: string,
  { job, input, queue, priority, traceContext }: DirectRun,
): Promise<void> {
  const params = [session.now(), channel, id, job, input, queue, priority, traceContext]
  await session.query(INSERT_AND_HAND_OVER, params)
}

/** Whether a session holds a lock. Taken and let go of in one breath: until the end of the transaction it would be in the way of whoever it belongs to. */
const isLocked = (lock: string) =>
  `case when pg_try_advisory_lock_shared(${lock}) then not pg_advisory_unlock_shared(${lock}) else true end`

const INSERT_AND_HAND_OVER = often(
  'enqueue a run that may begin',
  `
  with asked as materialized (
    select now, (extract(epoch from now) * 1000)::bigint as at, $3::uuid as id, $4::text as job, $5::jsonb as input, $6::text as queue,
      $7::integer as priority, $8::text as "traceContext"
    from (select ${NOW} as now) as clock
  ),
  -- The input as it is stored, so that each attempt has the same.
  message as materialized (
    select jsonb_build_object('at', at, 'id', id, 'job', job, 'input', input, 'queue', queue, 'priority', priority,
      'traceContext', "traceContext")::text as text
    from asked
  ),
  host as materialized (
    select w.id, w.attempts, w.lease_ms
    from (
      select w.id, w.rest_lock, (w.begins->asked.job->>'attempts')::integer as attempts, (w.begins->asked.job->>'leaseMs')::float8 as lease_ms
      from asked, {schema}.workers as w
      where w.seen_at > asked.now - interval '${UNSEEN_MS} milliseconds' and w.begins->asked.job ? 'leaseMs' and asked.queue = any(w.queues)
      -- Another one comes first for each run.
      order by md5(w.id::text || asked.id::text)
    ) as w
    where (select octet_length(text) < ${TOO_LARGE_MESSAGE} from message) and (select ${MAY_CLAIM} from {schema}.control)
      and ${isLocked('w.rest_lock')}
    limit 1
  ),
  created as (
    insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, created_at, trace_context)
    select id, 'direct', job, input, queue, priority, now, "traceContext" from asked
  ),
  opened as (
    insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at, attempt, worker_id, lease_token, started_at,
      lease_expires_at, max_attempts, fails_when_stale)
    select asked.id, job, queue, priority, coalesce(lease.state, 'pending'), now, coalesce(lease.attempt, 0), lease.worker_id,
      lease.token, lease.started_at, lease.expires_at, lease.attempts, lease.fails
    from asked left join lateral (
      select 'running' as state, 1 as attempt, host.id as worker_id, asked.id as token, now as started_at,
        now + host.lease_ms * interval '1 millisecond' as expires_at, host.attempts, false as fails
      from host
    ) as lease on true
  )
  select case when host.id is null then pg_notify($2::text, 'runs') else pg_notify('${CHANNEL}' || host.id, message.text) end::text as notified
  from message left join host on true`,
)

/** Gives back what was handed to a worker that never heard of it: all but what it holds, or what was handed over before then. Returns whether there was anything. */
export async function releaseHanded(
  session: Session,
  workerId: string,
  { held = [], before = null }: { held?: readonly string[]; before?: Instant | null } = {},
): Promise<boolean> {
  const rows = await session.query(
    `update {schema}.runs_open
     set state = 'pending', attempt = 0, worker_id = null, lease_token = null, lease_expires_at = null, started_at = null
     where state = 'running' and worker_id = $1 and lease_token = id and id <> all($2::uuid[])
       and ($3::timestamptz is null or started_at < $3)
     returning id`,
    [workerId, held, before === null ? null : new Date(before)],
  )
  return rows.length > 0
}
