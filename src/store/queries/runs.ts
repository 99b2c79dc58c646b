import { msUntil } from '../ms-until.js'
import { RUN_COLUMNS, RUN_TIME, type RunRow } from '../rows.js'
import { NOW, type Session, type Store } from '../store.js'
import { fillLanes, lockAndFillLanes, lockLanes } from './lanes.js'

export async function findRun(session: Session, id: string): Promise<RunRow | undefined> {
  const [row] = await session.query<RunRow>(`select ${RUN_COLUMNS} from {schema}.runs as r where r.id = $1`, [
    id,
  ])
  return row
}

/** The runs of one schedule, newest first: by plan time, or where a run has none by when it was asked for. */
export function listRunsOfSchedule(
  session: Session,
  { scheduleId, limit }: { scheduleId: string; limit: number },
): Promise<RunRow[]> {
  return session.query<RunRow>(
    `select ${RUN_COLUMNS} from {schema}.runs as r
     where r.schedule_id = $1 order by ${RUN_TIME} desc, r.id desc limit $2`,
    [scheduleId, limit],
  )
}

export interface Claim {
  workerId: string
  leaseToken: string
  queues: readonly string[]
  /** The jobs that this worker has, and for how long it leases a run of each. */
  jobs: readonly { name: string; leaseMs: number }[]
  limit: number
}

export type ClaimedRow = RunRow & { schedule_name: string | null }

/** Leases up to `limit` runs: priority first, then age. What another worker is just claiming is passed over. */
export function claimRuns(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  return session.query<ClaimedRow>(CLAIM_RUNS, [
    session.now(),
    claim.queues,
    claim.jobs.map(({ name }) => name),
    claim.jobs.map(({ leaseMs }) => leaseMs),
    claim.limit,
    claim.workerId,
    claim.leaseToken,
  ])
}

const CLAIM_RUNS = `
  with clock as materialized (select ${NOW} as now),
  picked as materialized (
    select id
    from {schema}.runs
    where state in ('pending', 'retrying') and coalesce(lane, 0) = 0 and queue = any($2) and job = any($3)
      and eligible_at <= (select now from clock)
    order by priority desc, eligible_at, id
    limit $5
    for update skip locked
  ),
  claimed as (
    update {schema}.runs as r
    set state = 'running', attempt = r.attempt + 1, worker_id = $6, lease_token = $7, started_at = clock.now,
      lease_expires_at = clock.now + job.lease_ms * interval '1 millisecond'
    from picked, clock, unnest($3::text[], $4::float8[]) as job (name, lease_ms)
    where r.id = picked.id and r.job = job.name
    returning ${RUN_COLUMNS}
  )
  select r.*, s.name as schedule_name
  from claimed as r left join {schema}.schedules as s on s.id = r.schedule_id
  order by r.priority desc, r.eligible_at, r.id`

/** Gives back what a claim took whose answer was lost: nobody works on it, and no attempt is spent. */
export async function releaseClaims(session: Session, leaseTokens: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.runs
     set state = case attempt when 1 then 'pending' else 'retrying' end, attempt = attempt - 1, worker_id = null,
       lease_token = null, lease_expires_at = null
     where state = 'running' and lease_token = any($1)`,
    [leaseTokens],
  )
}

/** Milliseconds until the next run of these queues and jobs may be claimed; null when none waits. */
export function msUntilEligible(
  session: Session,
  { queues, jobs }: { queues: readonly string[]; jobs: readonly string[] },
): Promise<number | null> {
  return msUntil(
    session,
    `select min(eligible_at) from {schema}.runs
     where state in ('pending', 'retrying') and coalesce(lane, 0) = 0 and queue = any($2) and job = any($3)`,
    [queues, jobs],
  )
}

/** How one attempt ended, as it is written down. */
export type Outcome = {
  runId: string
  leaseToken: string
  /** The schedule of a run that holds a lane; null for any other. */
  lanesOf: string | null
} & (
  | { state: 'succeeded'; result: string }
  | { state: 'retrying' | 'failed'; delayMs: number; code: string; message: string; stack: string | null }
)

/**
 * Writes down any number of outcomes. Each is fenced: it counts only while its run is running under the lease token
 * that it names. Ended runs keep their token, so one that was recorded under it before, by a statement whose answer
 * was lost, counts too. Returns the tokens and ids of those that count, as `leaseKey` writes them.
 */
export async function recordOutcomes(store: Store, outcomes: readonly Outcome[]): Promise<Set<string>> {
  const laned = outcomes.flatMap(({ lanesOf }) => lanesOf ?? [])
  if (laned.length === 0) {
    const { counted, emptied } = await record(store, outcomes)
    // They got their lanes after they were claimed. Dying here leaves a run waiting, and reconciling finds it.
    if (emptied.length > 0) await lockAndFillLanes(store, emptied)
    return counted
  }
  return store.transaction(async (session) => {
    await lockLanes(session, laned)
    const { counted, emptied } = await record(session, outcomes)
    if (emptied.length > 0) await fillLanes(session, emptied)
    return counted
  })
}

async function record(
  session: Session,
  outcomes: readonly Outcome[],
): Promise<{ counted: Set<string>; emptied: string[] }> {
  const failure = (outcome: Outcome) => (outcome.state === 'succeeded' ? null : outcome)
  const rows = await session.query<{ id: string; lease_token: string; emptied: string | null }>(
    RECORD_OUTCOMES,
    [
      session.now(),
      outcomes.map(({ runId }) => runId),
      outcomes.map(({ leaseToken }) => leaseToken),
      outcomes.map(({ state }) => state),
      outcomes.map((outcome) => (outcome.state === 'succeeded' ? outcome.result : null)),
      outcomes.map((outcome) => failure(outcome)?.delayMs ?? null),
      outcomes.map((outcome) => failure(outcome)?.code ?? null),
      outcomes.map((outcome) => failure(outcome)?.message ?? null),
      outcomes.map((outcome) => failure(outcome)?.stack ?? null),
    ],
  )
  return {
    counted: new Set(rows.map(({ id, lease_token }) => leaseKey({ runId: id, leaseToken: lease_token }))),
    emptied: rows.flatMap(({ emptied }) => emptied ?? []),
  }
}

/** One attempt's hold on a run: the same run may be held again under another token. */
export function leaseKey({ runId, leaseToken }: { runId: string; leaseToken: string }): string {
  return `${runId} ${leaseToken}`
}

/** The schedule whose lane 0 a run has left. */
export const EMPTIED = `case when lane = 0 and state <> 'retrying' then schedule_id end as emptied`

const RECORD_OUTCOMES = `
  with clock as materialized (select ${NOW} as now),
  ended as (
    update {schema}.runs as r
    set state = o.state, result = o.result::jsonb, error_code = o.code, error_message = o.message,
      eligible_at = case o.state when 'retrying' then clock.now + o.delay_ms * interval '1 millisecond' else r.eligible_at end,
      finished_at = case o.state when 'retrying' then null else clock.now end, lease_expires_at = null
    from clock, unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::float8[], $7::text[], $8::text[], $9::text[])
      as o (id, lease_token, state, result, delay_ms, code, message, stack)
    where r.id = o.id and r.state = 'running' and r.lease_token = o.lease_token
    returning r.id, r.lease_token, r.state, r.schedule_id, r.lane, r.attempt, r.worker_id, r.started_at, clock.now,
      o.code, o.message, o.stack
  ),
  failed as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message, stack)
    select id, attempt, worker_id, started_at, now, code, message, stack from ended where code is not null
  )
  select id, lease_token, ${EMPTIED} from ended
  union all
  select r.id, r.lease_token, null from {schema}.runs as r
  join unnest($2::uuid[], $3::uuid[]) as o (id, lease_token) on r.id = o.id and r.lease_token = o.lease_token
  where r.state <> 'running'`
