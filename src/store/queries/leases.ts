import type { NoticeRule } from '../../runs/notification.js'
import type { RunTrigger } from '../../runs/run.js'
import type { Instant } from '../../time/instant.js'
import { sinceParam } from '../front.js'
import { msUntil } from '../ms-until.js'
import { many, often } from '../often.js'
import { NOW, type Session, type Store } from '../store.js'
import { type EndedRun, type Followed, followEnds, followLater, lockForEnds } from './ends.js'
import { isHeldBy, unpackExpired, unpackRuns } from './lots.js'
import { insertNotices } from './notices.js'
import { notify } from './notifying.js'

export interface HeldLease {
  runId: string
  /** The lot in which it was claimed; null for one that had a row of its own. */
  lotId: string | null
  leaseToken: string
  leaseMs: number
}

/** One attempt's hold on a run: the same run may be held again under another token. */
export function leaseKey({ runId, leaseToken }: { runId: string; leaseToken: string }): string {
  return `${runId} ${leaseToken}`
}

const HELD = `${many('$2::uuid[]', '$3::uuid[]', '$4::float8[]')} as held (id, lease_token, lease_ms)`

const HELD_LOTS = `${many('$5::uuid[]', '$6::uuid[]', '$7::float8[]')} as held (id, lease_token, lease_ms)`

function heldParams(session: Session, leases: readonly HeldLease[]) {
  // Of each lot one stands for all.
  const lots = [
    ...new Map(leases.map((lease) => [`${lease.lotId} ${lease.leaseToken}`, lease])).values(),
  ].filter(({ lotId }) => lotId !== null)
  return [
    session.now(),
    leases.map(({ runId }) => runId),
    leases.map(({ leaseToken }) => leaseToken),
    leases.map(({ leaseMs }) => leaseMs),
    lots.map(({ lotId }) => lotId),
    lots.map(({ leaseToken }) => leaseToken),
    lots.map(({ leaseMs }) => leaseMs),
  ] as const
}

/**
 * Renews all of a worker's leases at once. Returns those that are still its own, as `leaseKey` writes them.
 *
 * It waits for nobody: whoever has locked a run is about to end it or to take it away. Waiting for one of them would hold
 * up the renewal of all, and waiting in another order than theirs would be a deadlock.
 */
export async function renewLeases(session: Session, leases: readonly HeldLease[]): Promise<Set<string>> {
  const rows = await session.query<{ id: string; lease_token: string }>(
    RENEW_LEASES,
    heldParams(session, leases),
  )
  return new Set(rows.map(({ id, lease_token }) => leaseKey({ runId: id, leaseToken: lease_token })))
}

const RENEW_LEASES = often(
  'renew leases',
  `
  with clock as materialized (select ${NOW} as now),
  mine as materialized (
    select r.id, r.lease_token from {schema}.runs_open as r, ${HELD}
    where r.id = any($2) and r.id = held.id and r.lease_token = held.lease_token
  ),
  free as materialized (
    select id from {schema}.runs_open where id = any(array(select id from mine)) for update skip locked
  ),
  renewed as (
    update {schema}.runs_open as r
    set lease_expires_at = clock.now + held.lease_ms * interval '1 millisecond'
    from clock, ${HELD}
    where r.id = any(array(select id from free)) and r.id = held.id and r.lease_token = held.lease_token
  ),
  lots as materialized (
    select l.id, l.lease_token, l.runs from {schema}.lots as l, ${HELD_LOTS}
    where l.id = any($5) and l.id = held.id and ${isHeldBy('held.lease_token')}
  ),
  free_lots as materialized (
    select id from {schema}.lots where id = any(array(select id from lots)) for update skip locked
  ),
  renewed_lots as (
    update {schema}.lots as l
    set lease_expires_at = clock.now + held.lease_ms * interval '1 millisecond'
    from clock, ${HELD_LOTS}
    where l.id = any(array(select id from free_lots)) and l.id = held.id and ${isHeldBy('held.lease_token')}
  )
  select id, lease_token from mine
  union all
  select run.id, lots.lease_token from lots cross join lateral unnest(lots.runs) as run (id)`,
)

/** Which of these were cancelled: ended runs keep their token. */
export async function listCancelled(session: Session, leases: readonly HeldLease[]): Promise<Set<string>> {
  const rows = await session.query<{ id: string }>(
    `select r.id from {schema}.runs_ended as r join unnest($1::uuid[], $2::uuid[]) as held (id, lease_token)
       on r.id = held.id and r.lease_token = held.lease_token
     where r.state = 'cancelled'`,
    [leases.map(({ runId }) => runId), leases.map(({ leaseToken }) => leaseToken)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Gives runs back whose handlers did not finish before a shutdown: claimable at once, and no attempt is spent. */
export async function releaseLeases(session: Session, leases: readonly HeldLease[]): Promise<void> {
  await unpackHeld(session, leases)
  await session.query(
    `update {schema}.runs_open as r
     set state = case r.attempt when 1 then 'pending' else 'retrying' end, attempt = r.attempt - 1,
       worker_id = null, lease_token = null, lease_expires_at = null
     from unnest($1::uuid[], $2::uuid[]) as held (id, lease_token)
     where r.id = any($1) and r.id = held.id and r.lease_token = held.lease_token`,
    [leases.map(({ runId }) => runId), leases.map(({ leaseToken }) => leaseToken)],
  )
}

export interface RecoveredRun {
  id: string
  state: 'retrying' | 'failed'
  attempt: number
  job: string
  queue: string
  priority: number
  eligible_at: Date
  schedule_id: string | null
  schedule_name: string | null
  scope: string | null
  plan_time: Date | null
  error_code: string
  error_message: string
}

/**
 * Takes runs away from workers that stopped renewing: the attempt is recorded as `lease_lost`, and the run may be
 * claimed at once, or has failed if that was its last attempt. With `onStale: 'fail'` it has failed with `stale_lease`.
 * The lease itself says which. Never what the caller holds itself: its renewal decides about those.
 */
export async function recoverExpiredLeases(
  store: Store,
  {
    held,
    since,
    limit,
    rules,
  }: {
    held: readonly string[]
    /** Only those that have expired since then. */
    since?: Instant | null
    limit: number
    rules: readonly NoticeRule[]
  },
): Promise<Followed & { recovered: RecoveredRun[]; hasMore: boolean }> {
  const hasUnpacked = await unpackExpired(store, held, since)
  const expired = await store.query<EndedRun & { id: string }>(LIST_EXPIRED, [
    store.now(),
    held,
    limit,
    sinceParam(since),
  ])
  if (expired.length === 0) return { recovered: [], hasMore: hasUnpacked, broken: [], notices: [] }
  const { rows, broken, notices, unlocked } = await store.transaction(async (session) => {
    const mayFollow = ({ schedule_id, lane, has_breaker }: EndedRun) =>
      schedule_id && (lane !== null || has_breaker)
    const locked = await lockForEnds(session, expired.filter(mayFollow))
    const ids = expired.map(({ id }) => id)
    const rows = await session.query<RecoveredRow>(RECOVER_EXPIRED_LEASES, [session.now(), ids])
    if (rows.some(({ state }) => state === 'retrying')) await notify(session, store.channel, 'runs')
    const ended = rows.flatMap((row) =>
      row.schedule_id === null ? [] : [{ ...row, schedule_id: row.schedule_id }],
    )
    const broken = await followEnds(
      session,
      ended.filter(({ schedule_id }) => locked.has(schedule_id)),
    )
    const failed = rows.filter(({ state }) => state === 'failed').map(({ id }) => id)
    return {
      rows,
      broken,
      notices: await insertNotices(session, { channel: store.channel, rules }, { failed, broken }),
      unlocked: ended.filter(({ schedule_id, lane }) => lane !== null && !locked.has(schedule_id)),
    }
  })
  const later = await followLater(store, unlocked, rules)
  return {
    recovered: rows,
    hasMore: hasUnpacked || rows.length === limit,
    broken: [...broken, ...later.broken],
    notices: [...notices, ...later.notices],
  }
}

type RecoveredRow = RecoveredRun & {
  trigger: RunTrigger
  has_errors: boolean
  has_breaker: boolean
  lane: number | null
}

/** Listed as if they were to fail: what may follow decides which cursors are locked. */
const LIST_EXPIRED = `
  select r.id, r.schedule_id, 'failed' as state, asked.trigger, asked.plan_time, r.lane, false as has_errors,
    coalesce(s.policies->'breaker' <> 'null', false) and not r.has_counted as has_breaker
  from {schema}.runs_open as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = r.schedule_id
  where r.state = 'running' and r.lease_expires_at <= (select ${NOW}) and r.lease_expires_at >= $4::timestamptz and r.id <> all($2::uuid[])
  order by r.lease_expires_at
  limit $3`

const LOST = `'The worker stopped renewing its lease.'`

const RECOVER_EXPIRED_LEASES = `
  with clock as materialized (select ${NOW} as now),
  expired as materialized (
    select r.id, r.has_counted, r.attempt < r.max_attempts and not r.fails_when_stale as is_retried,
      case when r.fails_when_stale then 'stale_lease' else 'lease_lost' end as code
    from {schema}.runs_open as r
    where r.id = any($2) and r.state = 'running' and r.lease_expires_at <= (select now from clock)
    order by r.id
    for update skip locked
  ),
  retried as (
    update {schema}.runs_open as r
    -- It keeps its place before all that came later. One that lost a second worker may be why: it goes behind the others.
    set state = 'retrying', eligible_at = case r.attempt when 1 then r.eligible_at else clock.now end,
      lease_token = null, lease_expires_at = null,
      error_code = expired.code, error_message = ${LOST}
    from expired, clock
    where r.id = expired.id and expired.is_retried
    returning r.id, r.state, r.schedule_id, r.scope, r.lane, r.attempt, r.job, r.queue, r.priority, r.worker_id, r.started_at, r.eligible_at
  ),
  failed as (
    delete from {schema}.runs_open as r using expired
    where r.id = expired.id and not expired.is_retried
    returning r.id, 'failed' as state, r.schedule_id, r.scope, r.lane, r.attempt, r.job, r.queue, r.priority, r.worker_id, r.started_at,
      r.eligible_at, r.progress, r.progress_note, r.totals
  ),
  ended as (
    insert into {schema}.runs_ended (id, state, eligible_at, attempt, worker_id, started_at, finished_at, progress,
      progress_note, totals, error_code, error_message)
    select failed.id, failed.state, failed.eligible_at, failed.attempt, failed.worker_id, failed.started_at, clock.now,
      failed.progress, failed.progress_note, failed.totals, expired.code, ${LOST}
    from failed join expired on expired.id = failed.id cross join clock
  ),
  recovered as (
    select r.*, expired.has_counted, expired.code as error_code, ${LOST} as error_message
    from (
      select * from retried
      union all
      select id, state, schedule_id, scope, lane, attempt, job, queue, priority, worker_id, started_at, eligible_at from failed
    ) as r
    join expired on expired.id = r.id
  ),
  lost as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message)
    select id, attempt, worker_id, started_at, clock.now, error_code, error_message from recovered cross join clock
  )
  select r.id, r.state, r.attempt, r.job, r.queue, r.priority, r.eligible_at, r.schedule_id, s.name as schedule_name, r.scope, asked.plan_time, r.error_code,
    r.error_message, asked.trigger, r.lane, false as has_errors,
    coalesce(s.policies->'breaker' <> 'null', false) and not r.has_counted as has_breaker
  from recovered as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = r.schedule_id`

/** Milliseconds until a lease expires, unless it is renewed; null when none is held. */
export function msUntilLeaseExpires(session: Session): Promise<number | null> {
  return msUntil(
    session,
    'next lease to expire',
    `select least((select min(lease_expires_at) from {schema}.runs_open where state = 'running'),
       (select min(lease_expires_at) from {schema}.lots where lease_token is not null))`,
  )
}

/** What is said of a run alone needs a row of its own. */
function unpackHeld(
  session: Session,
  held: readonly { runId: string; lotId: string | null }[],
): Promise<string[]> {
  return unpackRuns(
    session,
    held.flatMap(({ runId, lotId }) => (lotId === null ? [] : runId)),
  )
}

export interface ProgressReport {
  runId: string
  lotId: string | null
  /** For those who are told of it. */
  scheduleId: string | null
  leaseToken: string
  fraction: number | null
  note: string | null
  totals: Readonly<Record<string, number>> | null
}

/** Writes down how far handlers have come, as long as their leases hold. */
export async function recordProgress(session: Session, reports: readonly ProgressReport[]): Promise<void> {
  await unpackHeld(session, reports)
  await session.query(
    `update {schema}.runs_open as r
     set progress = p.fraction, progress_note = p.note, totals = p.totals::jsonb
     from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::text[], $5::text[]) as p (id, lease_token, fraction, note, totals)
     where r.id = any($1) and r.id = p.id and r.lease_token = p.lease_token`,
    [
      reports.map(({ runId }) => runId),
      reports.map(({ leaseToken }) => leaseToken),
      reports.map(({ fraction }) => fraction),
      reports.map(({ note }) => note),
      reports.map(({ totals }) => totals && JSON.stringify(totals)),
    ],
  )
}
