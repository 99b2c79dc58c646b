import type { NoticeRule } from '../../runs/notification.js'
import type { RunTrigger } from '../../runs/run.js'
import { many, often } from '../often.js'
import { NOW, type Session, type Store } from '../store.js'
import { type EndedRun, type Followed, followEnds, followLater, lockForEnds } from './ends.js'
import { lockLots, unpackClaimed } from './lots.js'
import { insertNotices, isTold, type Noticing } from './notices.js'

/** How one attempt ended, as it is written down. */
export type Outcome = {
  runId: string
  leaseToken: string
  /** The lot in which it was claimed; null for one that had a row of its own. */
  lotId: string | null
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

export interface Recorded extends Followed {
  /** Whether each outcome counted, in the order in which they were given. */
  counted: boolean[]
  /** Runs that got a lane after they were claimed: what follows of them is left to `followLater`, after the commit. */
  unlocked: EndedRun[]
}

/**
 * Writes down any number of outcomes. Each is fenced: it counts only while its run has the lease token that it names. Ended
 * runs keep their token, so one that was recorded under it before, by a statement whose answer was lost, counts too.
 *
 * The planner's idea of a table that fills and empties all day is mostly wrong. So the statements name the ids twice, by
 * `= any` beside the join, which leads to the primary key, and ask for nothing else that the planner takes for rare: not for
 * the state, by whose index it would walk past all that was ever running.
 */
export async function recordOutcomes(
  store: Store,
  outcomes: readonly Outcome[],
  rules: readonly NoticeRule[],
): Promise<Recorded> {
  const { channel } = store
  const recorded =
    outcomes.some(mayFollow) || mayBeTold(outcomes, rules)
      ? await store.transaction((session) => recordIn(session, outcomes, { channel, rules }))
      : await recordAlone(store, outcomes)
  const { broken, notices } = await followLater(store, recorded.unlocked, rules)
  recorded.broken.push(...broken)
  recorded.notices.push(...notices)
  return recorded
}

function mayBeTold(outcomes: readonly Outcome[], rules: readonly NoticeRule[]): boolean {
  return isTold(rules, 'run.failed') && outcomes.some(({ state }) => state === 'failed')
}

async function recordAlone(session: Session, outcomes: readonly Outcome[]): Promise<Recorded> {
  const { counted, ended } = await record(session, outcomes)
  return { counted, broken: [], notices: [], unlocked: ended.filter(({ lane }) => lane !== null) }
}

/** The same in a transaction that is under way: with what a transactional handler has written. */
export async function recordIn(
  session: Session,
  outcomes: readonly Outcome[],
  noticing: Noticing,
): Promise<Recorded> {
  const locked = await lockForEnds(session, outcomes.filter(mayFollow).map(endOf))
  const { counted, ended, failed } = await record(session, outcomes)
  const isLocked = ({ schedule_id }: EndedRun) => locked.has(schedule_id)
  const broken = await followEnds(session, ended.filter(isLocked))
  return {
    counted,
    broken,
    notices: await insertNotices(session, noticing, { failed, broken }),
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
): Promise<{ counted: boolean[]; ended: EndedRun[]; failed: string[] }> {
  const counted = outcomes.map(() => false)
  const ended: EndedRun[] = []
  const failed: string[] = []
  const write = async (
    statement: (session: Session, group: never) => Promise<WrittenRow[]>,
    group: Placed[],
  ) => {
    if (group.length === 0) return
    for (const { position, lane } of await statement(session, group.map(({ outcome }) => outcome) as never)) {
      const { outcome, index } = group[position - 1]!
      counted[index] = true
      if (outcome.of !== null) ended.push({ ...endOf(outcome), lane })
      if (outcome.state === 'failed') failed.push(outcome.runId)
    }
  }
  // Runs are locked in the order of their ids, whoever locks them.
  const placed = outcomes
    .map((outcome, index) => ({ outcome, index }))
    .sort((a, b) => (a.outcome.runId < b.outcome.runId ? -1 : 1))
  const hasSucceeded = ({ outcome }: Placed) => outcome.state === 'succeeded'
  // Lots are locked in the order of their ids as well: of a failure only after the successes would be too late.
  if (!placed.every(hasSucceeded)) {
    await lockLots(
      session,
      outcomes.flatMap(({ lotId }) => lotId ?? []),
    )
  }
  const isOpen = ({ index }: Placed) => !counted[index]
  await write(
    writeLotSuccesses,
    placed.filter((one) => hasSucceeded(one) && one.outcome.lotId !== null),
  )
  // Those of a lot that were not in it have a row of their own since, or are no longer this attempt's.
  const alone = placed.filter(isOpen)
  await write(
    writePlainSuccesses,
    alone.filter(({ outcome }) => isPlain(outcome)),
  )
  await write(
    writeSuccesses,
    alone.filter((one) => hasSucceeded(one) && !isPlain(one.outcome)),
  )
  const failures = alone.filter((one) => !hasSucceeded(one))
  await unpackClaimed(
    session,
    failures.flatMap(({ outcome: { runId, lotId } }) => (lotId === null ? [] : { runId, lotId })),
  )
  await write(writeFailures, failures)
  const refused = placed.filter(isOpen)
  const before = await listWrittenBefore(
    session,
    refused.map(({ outcome }) => outcome),
  )
  for (const position of before) counted[refused[position - 1]!.index] = true
  return { counted, ended, failed }
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

/** Whether it was written down, by a transaction whose answer did not arrive. */
export async function wasRecorded(session: Session, outcome: Outcome): Promise<boolean> {
  return (await listWrittenBefore(session, [outcome])).length > 0
}

/** Those that an earlier statement has written down as they are, under the same token, whose answer did not arrive. */
async function listWrittenBefore(session: Session, outcomes: readonly Outcome[]): Promise<number[]> {
  if (outcomes.length === 0) return []
  const rows = await session.query<{ position: number }>(
    `with told as (
       select id, lease_token, state, position::int
       from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as o (id, lease_token, state, position)
     )
     select told.position from told join {schema}.runs_ended as r using (id, lease_token, state)
     union all
     select told.position from told join {schema}.runs_open as r on r.id = told.id and r.previous_token = told.lease_token
     where told.state = 'retrying'`,
    [
      outcomes.map(({ runId }) => runId),
      outcomes.map(({ leaseToken }) => leaseToken),
      outcomes.map(({ state }) => state),
    ],
  )
  return rows.map(({ position }) => position)
}

const ENDED =
  '{schema}.runs_ended (id, state, eligible_at, started_at, finished_at, lease_token, worker_id, attempt, progress, progress_note'
/** What `ended` has taken out of the open runs. */
const FROM_ENDED =
  'ended.eligible_at, ended.started_at, clock.now, ended.lease_token, ended.worker_id, ended.attempt, ended.progress, ended.progress_note'

/** Nothing to say but that it is done: what most runs say. */
function writePlainSuccesses(session: Session, outcomes: readonly Outcome[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_PLAIN_SUCCESSES, [
    session.now(),
    outcomes.map(({ runId }) => runId),
    outcomes.map(({ leaseToken }) => leaseToken),
  ])
}

const WRITE_PLAIN_SUCCESSES = often(
  'record successes',
  `
  with clock as materialized (select ${NOW} as now),
  ended as (
    delete from {schema}.runs_open as r using unnest($2::uuid[], $3::uuid[]) with ordinality as o (id, token, position)
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token
    returning r.*, o.position
  ),
  recorded as (
    insert into ${ENDED})
    select ended.id, 'succeeded', ${FROM_ENDED} from ended, clock
  )
  select position::int, lane from ended`,
)

type Success = Extract<Outcome, { state: 'succeeded' }>

/** Those that are over leave their lots; who is last takes the lot away. */
async function writeLotSuccesses(session: Session, outcomes: readonly Success[]): Promise<WrittenRow[]> {
  const lots = new Map(
    outcomes.map(({ lotId, leaseToken }) => [`${lotId} ${leaseToken}`, { lotId, leaseToken }]),
  )
  const held = [...lots.values()]
  const hasWords = outcomes.some((outcome) => !isPlain(outcome))
  const [row] = await session.query<{ positions: number[] | null }>(WRITE_LOT_SUCCESSES, [
    session.now(),
    held.map(({ lotId }) => lotId),
    held.map(({ leaseToken }) => leaseToken),
    outcomes.map(({ runId }) => runId),
    hasWords ? outcomes.map(({ result }) => (result === 'null' ? null : result)) : null,
    hasWords ? outcomes.map(({ totals }) => totals && JSON.stringify(totals)) : null,
  ])
  return (row!.positions ?? outcomes.map((_, index) => index + 1)).map((position) => ({
    position,
    lane: null,
  }))
}

const WRITE_LOT_SUCCESSES = often(
  'record lots',
  `
  with clock as materialized (select ${NOW} as now),
  held as materialized (
    select l.* from {schema}.lots as l, unnest($2::uuid[], $3::uuid[]) as o (id, token)
    where l.id = any($2) and l.id = o.id and l.lease_token = o.token
    order by l.id for update of l
  ),
  told as materialized (
    select * from ${many('$4::uuid[]', '$5::text[]', '$6::text[]')} as o (id, result, counted, position)
  ),
  run as materialized (
    select held.id as lot_id, run.id, run.place, told.result, told.counted, told.position, held.eligible_at, held.started_at,
      held.lease_token, held.worker_id
    from held cross join lateral unnest(held.runs) with ordinality as run (id, place)
    left join told on told.id = run.id
  ),
  kept as materialized (
    select lot_id, array_agg(id order by place) filter (where position is null) as runs from run group by lot_id
  ),
  emptied as (delete from {schema}.lots as l using kept where l.id = kept.lot_id and kept.runs is null),
  shortened as (update {schema}.lots as l set runs = kept.runs from kept where l.id = kept.lot_id and kept.runs is not null),
  recorded as (
    insert into {schema}.runs_ended (id, state, eligible_at, started_at, finished_at, lease_token, worker_id, attempt, result, totals)
    select run.id, 'succeeded', run.eligible_at, run.started_at, clock.now, run.lease_token, run.worker_id, 1,
      run.result::jsonb, run.counted::jsonb
    from run, clock where run.position is not null
  )
  select case when count(position) < cardinality($4::uuid[]) then coalesce(array_agg(position::int), '{}') end as positions
  from run where position is not null`,
)

function writeSuccesses(session: Session, outcomes: readonly Success[]): Promise<WrittenRow[]> {
  return session.query<WrittenRow>(WRITE_SUCCESSES, [
    session.now(),
    outcomes.map(({ runId }) => runId),
    outcomes.map(({ leaseToken }) => leaseToken),
    outcomes.map(({ result }) => (result === 'null' ? null : result)),
    outcomes.map(({ totals }) => totals && JSON.stringify(totals)),
  ])
}

const WRITE_SUCCESSES = often(
  'record results',
  `
  with clock as materialized (select ${NOW} as now),
  ended as (
    delete from {schema}.runs_open as r
    using unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) with ordinality as o (id, token, result, counted, position)
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token
    returning r.*, o.position, o.result, o.counted
  ),
  recorded as (
    insert into ${ENDED}, result, totals)
    select ended.id, 'succeeded', ${FROM_ENDED}, ended.result::jsonb, ended.counted::jsonb from ended, clock
  )
  select position::int, lane from ended`,
)

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

const WRITE_FAILURES = often(
  'record failures',
  `
  with clock as materialized (select ${NOW} as now),
  outcome as materialized (
    select * from ${many('$2::uuid[]', '$3::uuid[]', '$4::text[]', '$5::text[]', '$6::float8[]', '$7::text[]', '$8::text[]', '$9::text[]')}
      as o (id, token, state, totals, delay_ms, code, message, stack, position)
  ),
  retried as (
    update {schema}.runs_open as r
    set state = 'retrying', lease_token = null, previous_token = r.lease_token, lease_expires_at = null,
      eligible_at = clock.now + o.delay_ms * interval '1 millisecond',
      totals = o.totals::jsonb, error_code = o.code, error_message = o.message
    from clock, outcome as o
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token and o.state = 'retrying'
    returning r.id, r.lane, r.attempt, r.worker_id, r.started_at, o.position
  ),
  ended as (
    delete from {schema}.runs_open as r using outcome as o
    where r.id = any($2) and r.id = o.id and r.lease_token = o.token and o.state <> 'retrying'
    returning r.*, o.position
  ),
  recorded as (
    insert into ${ENDED}, totals, error_code, error_message)
    select ended.id, o.state, ${FROM_ENDED}, o.totals::jsonb, o.code, o.message
    from ended join outcome as o using (position) cross join clock
  ),
  tried as (
    select * from retried
    union all
    select id, lane, attempt, worker_id, started_at, position from ended
  ),
  failed as (
    insert into {schema}.attempts (run_id, number, worker_id, started_at, finished_at, code, message, stack)
    select tried.id, tried.attempt, tried.worker_id, tried.started_at, clock.now, o.code, o.message, o.stack
    from tried join outcome as o using (position) cross join clock where o.state <> 'skipped'
  )
  select position::int, lane from tried`,
)
