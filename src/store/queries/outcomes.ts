import type { RunTrigger } from '../../runs/run.js'
import type { Breakage } from '../../schedules/breaker.js'
import { NOW, type Session, type Store } from '../store.js'
import { type EndedRun, followEnds, followLater, lockForEnds } from './ends.js'

/** How one attempt ended, as it is written down. */
export type Outcome = {
  runId: string
  leaseToken: string
  /** Of a run that is an occurrence or was triggered: what of its schedule may have to follow. */
  of: {
    scheduleId: string
    trigger: RunTrigger
    planTime: Date | null
    isLaned: boolean
    hasBreaker: boolean
  } | null
  totals: Readonly<Record<string, number>> | null
} & (
  | { state: 'succeeded'; result: string }
  | {
      state: 'retrying' | 'failed' | 'skipped'
      delayMs: number
      code: string
      message: string
      stack: string | null
    }
)

export interface Recorded {
  /** Whether each outcome counted, in the order in which they were given. */
  counted: boolean[]
  broken: Breakage[]
  /** Runs that got a lane after they were claimed: what follows of them is left to `followLater`, after the commit. */
  unlocked: EndedRun[]
}

/**
 * Writes down any number of outcomes. (`r.id = any($2)` beside the join says to go by the primary key: the planner would
 * rather read the whole table for a large batch.) Each is fenced: it counts only while its run is running under the lease token
 * that it names. Ended runs keep their token, so one that was recorded under it before, by a statement whose answer
 * was lost, counts too.
 */
export async function recordOutcomes(store: Store, outcomes: readonly Outcome[]): Promise<Recorded> {
  const recorded = outcomes.some(mayFollow)
    ? await store.transaction((session) => recordIn(session, outcomes))
    : await recordAlone(store, outcomes)
  await followLater(store, recorded.unlocked)
  return recorded
}

async function recordAlone(session: Session, outcomes: readonly Outcome[]): Promise<Recorded> {
  const { counted, ended } = await record(session, outcomes)
  return { counted, broken: [], unlocked: ended.filter(({ lane }) => lane !== null) }
}

/** The same in a transaction that is under way: with what a transactional handler has written. */
export async function recordIn(session: Session, outcomes: readonly Outcome[]): Promise<Recorded> {
  const locked = await lockForEnds(session, outcomes.filter(mayFollow).map(endOf))
  const { counted, ended } = await record(session, outcomes)
  const isLocked = ({ schedule_id }: EndedRun) => locked.has(schedule_id)
  return {
    counted,
    broken: await followEnds(session, ended.filter(isLocked)),
    unlocked: ended.filter((end) => end.lane !== null && !isLocked(end)),
  }
}

function mayFollow({ of }: Outcome): boolean {
  return of !== null && (of.isLaned || of.hasBreaker)
}

function endOf({ of, state, totals }: Outcome): EndedRun {
  return {
    schedule_id: of!.scheduleId,
    state,
    trigger: of!.trigger,
    plan_time: of!.planTime,
    has_errors: (totals?.errors ?? 0) > 0,
    has_breaker: of!.hasBreaker,
    lane: of!.isLaned ? 0 : null,
  }
}

async function record(
  session: Session,
  outcomes: readonly Outcome[],
): Promise<{ counted: boolean[]; ended: EndedRun[] }> {
  const counted = outcomes.map(() => false)
  const ended: EndedRun[] = []
  const write = async (
    statement: (session: Session, group: never) => Promise<WrittenRow[]>,
    group: Placed[],
  ) => {
    if (group.length === 0) return
    for (const { position, lane } of await statement(session, group.map(({ outcome }) => outcome) as never)) {
      const { outcome, index } = group[position - 1]!
      counted[index] = true
      if (outcome.of !== null) ended.push({ ...endOf(outcome), lane })
    }
  }
  const placed = outcomes.map((outcome, index) => ({ outcome, index }))
  await write(
    writePlainSuccesses,
    placed.filter(({ outcome }) => isPlain(outcome)),
  )
  await write(
    writeSuccesses,
    placed.filter(({ outcome }) => outcome.state === 'succeeded' && !isPlain(outcome)),
  )
  await write(
    writeFailures,
    placed.filter(({ outcome }) => outcome.state !== 'succeeded'),
  )
  const refused = placed.filter(({ index }) => !counted[index])
  for (const position of await listWrittenBefore(session, refused))
    counted[refused[position - 1]!.index] = true
  return { counted, ended }
}

interface Placed {
  outcome: Outcome
  /** In the list that was given. */
  index: number
}

interface WrittenRow {
  /** From 1, in the group. */
  position: number
  lane: number | null
}

function isPlain(outcome: Outcome): boolean {
  return outcome.state === 'succeeded' && outcome.result === 'null' && outcome.totals === null
}

/** Those that an earlier statement has written down under the same token, whose answer did not arrive. */
async function listWrittenBefore(session: Session, refused: readonly Placed[]): Promise<number[]> {
  if (refused.length === 0) return []
  const rows = await session.query<{ position: number }>(
    `select o.position::int
     from unnest($1::uuid[], $2::uuid[]) with ordinality as o (id, lease_token, position)
     join {schema}.runs as r on r.id = o.id and r.lease_token = o.lease_token
     where r.state not in ('running', 'cancelled')`,
    [refused.map(({ outcome }) => outcome.runId), refused.map(({ outcome }) => outcome.leaseToken)],
  )
  return rows.map(({ position }) => position)
}

/** Nothing to say but that it is done: what most runs say. */
function writePlainSuccesses(session: Session, outcomes: readonly Outcome[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(
    `with clock as materialized (select ${NOW} as now)
     update {schema}.runs as r
     set state = 'succeeded', finished_at = clock.now, lease_expires_at = null, error_code = null, error_message = null,
       totals = null
     from clock, unnest($2::uuid[], $3::uuid[]) with ordinality as o (id, lease_token, position)
     where r.id = any($2) and r.id = o.id and r.state = 'running' and r.lease_token = o.lease_token
     returning o.position::int, r.lane`,
    [session.now(), outcomes.map(({ runId }) => runId), outcomes.map(({ leaseToken }) => leaseToken)],
  )
}

type Success = Extract<Outcome, { state: 'succeeded' }>

function writeSuccesses(session: Session, outcomes: readonly Success[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(
    `with clock as materialized (select ${NOW} as now)
     update {schema}.runs as r
     set state = 'succeeded', finished_at = clock.now, lease_expires_at = null, error_code = null, error_message = null,
       result = o.result::jsonb, totals = o.totals::jsonb
     from clock, unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) with ordinality
       as o (id, lease_token, result, totals, position)
     where r.id = any($2) and r.id = o.id and r.state = 'running' and r.lease_token = o.lease_token
     returning o.position::int, r.lane`,
    [
      session.now(),
      outcomes.map(({ runId }) => runId),
      outcomes.map(({ leaseToken }) => leaseToken),
      outcomes.map(({ result }) => (result === 'null' ? null : result)),
      outcomes.map(({ totals }) => totals && JSON.stringify(totals)),
    ],
  )
}

type Failure = Exclude<Outcome, { state: 'succeeded' }>

function writeFailures(session: Session, failures: readonly Failure[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_FAILURES, [
    session.now(),
    failures.map(({ runId }) => runId),
    failures.map(({ leaseToken }) => leaseToken),
    failures.map(({ state }) => state),
    failures.map(({ totals }) => totals && JSON.stringify(totals)),
    failures.map(({ delayMs }) => delayMs),
    failures.map(({ code }) => code),
    failures.map(({ message }) => message),
    failures.map(({ stack }) => stack),
  ])
}

const WRITE_FAILURES = `
  with clock as materialized (select ${NOW} as now),
  ended as (
    update {schema}.runs as r
    set state = o.state, totals = o.totals::jsonb, error_code = o.code, error_message = o.message, lease_expires_at = null,
      eligible_at = case o.state when 'retrying' then clock.now + o.delay_ms * interval '1 millisecond' else r.eligible_at end,
      finished_at = case o.state when 'retrying' then null else clock.now end
    from clock, unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::float8[], $7::text[], $8::text[], $9::text[])
      with ordinality as o (id, lease_token, state, totals, delay_ms, code, message, stack, position)
    where r.id = any($2) and r.id = o.id and r.state = 'running' and r.lease_token = o.lease_token
    returning r.id, r.state, r.lane, r.attempt, r.worker_id, r.started_at, clock.now, o.position, o.code, o.message, o.stack
  ),
  failed as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message, stack)
    select id, attempt, worker_id, started_at, now, code, message, stack from ended where state <> 'skipped'
  )
  select position::int, lane from ended`
