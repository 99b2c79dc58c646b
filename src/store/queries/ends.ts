/**
 * What follows when a run ends, in the transaction that ends it: its lane is free for the next one, an `after` schedule
 * gets its next cursor, and a breaker counts. Whoever ends runs locks the cursors of their schedules first, and only of
 * those for which something may follow: a success touches a breaker only if it has something to forget.
 */
import type { NoticeRule } from '../../runs/notification.js'
import type { RunState, RunTrigger } from '../../runs/run.js'
import { type Breakage, type Breaker, countFailures } from '../../schedules/breaker.js'
import { durationToMs } from '../../time/duration.js'
import { NOW, type Session, type Store } from '../store.js'
import { restartAfter } from './after.js'
import { fillLanes } from './lanes.js'
import { type InsertedNotice, insertNotices } from './notices.js'

export interface EndedRun {
  schedule_id: string
  state: RunState
  trigger: RunTrigger
  plan_time: Date | null
  /** Of a run that succeeded and yet counted errors in its totals. */
  has_errors: boolean
  has_breaker: boolean
  lane: number | null
}

/** What came of runs that ended, beyond themselves. */
export interface Followed {
  /** Schedules that their breakers have taken out. */
  broken: Breakage[]
  notices: InsertedNotice[]
}

/** Manual and backfilled runs say nothing about the schedule, nor does one that its gate turned away. */
function countsForBreaker({ has_breaker, trigger, state }: EndedRun): boolean {
  return has_breaker && trigger === 'scheduled' && (state === 'succeeded' || state === 'failed')
}

function hasFailed({ state, has_errors }: EndedRun): boolean {
  return state === 'failed' || has_errors
}

/**
 * Returns the ids of the schedules whose ends may be followed in this transaction: those that it locked, and those that
 * were deleted. These have no cursor any more, and nobody but who ends their runs fills their lanes.
 */
export async function lockForEnds(session: Session, ends: readonly EndedRun[]): Promise<Set<string>> {
  const idsOf = (chosen: readonly EndedRun[]) => chosen.map(({ schedule_id }) => schedule_id)
  const counting = ends.filter(countsForBreaker)
  const laned = ends.filter(({ lane }) => lane !== null)
  const always = [...laned, ...counting.filter(hasFailed)]
  const [must, may] = [idsOf(always), idsOf([...always, ...counting])]
  const rows = await session.query<{ schedule_id: string }>(
    `select schedule_id from {schema}.cursors
     where schedule_id = any($2) and (schedule_id = any($1) or failures > 0)
     order by schedule_id for update`,
    [must, may],
  )
  return new Set([...rows.map(({ schedule_id }) => schedule_id), ...idsOf(laned)])
}

/** Returns the schedules that their breakers have taken out. */
export async function followEnds(session: Session, ended: readonly EndedRun[]): Promise<Breakage[]> {
  const final = ended.filter(({ state }) => state !== 'retrying')
  const laned = [...new Set(final.flatMap(({ lane, schedule_id }) => (lane === null ? [] : [schedule_id])))]
  const broken = await countForBreakers(session, final.filter(countsForBreaker))
  if (laned.length > 0) {
    await fillLanes(session, laned)
    await restartAfter(session, laned)
  }
  return broken
}

interface BreakerRow {
  schedule_id: string
  name: string
  version: number
  failures: number
  breaker: Breaker
}

/**
 * In a transaction of its own, for schedules whose cursors were not locked when their runs ended. Dying before it leaves
 * a run waiting, and reconciling finds it.
 */
export async function followLater(
  store: Store,
  ended: readonly EndedRun[],
  rules: readonly NoticeRule[],
): Promise<Followed> {
  if (ended.length === 0) return { broken: [], notices: [] }
  return store.transaction(async (session) => {
    await lockForEnds(session, ended)
    const broken = await followEnds(session, ended)
    const notices = await insertNotices(session, { channel: store.channel, rules }, { failed: [], broken })
    return { broken, notices }
  })
}

async function countForBreakers(session: Session, ended: readonly EndedRun[]): Promise<Breakage[]> {
  if (ended.length === 0) return []
  const ids = [...new Set(ended.map(({ schedule_id }) => schedule_id))]
  const rows = await session.query<BreakerRow>(
    `select c.schedule_id, s.name, s.version, c.failures, s.policies->'breaker' as breaker
     from {schema}.cursors as c join {schema}.schedules as s on s.id = c.schedule_id
     where c.schedule_id = any($1) and s.state = 'active' and s.policies->'breaker' <> 'null'`,
    [ids],
  )
  const counted = rows.map(({ schedule_id, name, version, failures, breaker }) => {
    const own = ended.filter((run) => run.schedule_id === schedule_id)
    const outcomes = own.map((run) => ({ planTime: run.plan_time!.getTime(), failed: hasFailed(run) }))
    return {
      id: schedule_id,
      name,
      version,
      before: failures,
      breaker,
      ...countFailures(breaker, failures, outcomes),
    }
  })
  const changed = counted.filter(({ before, failures }) => before !== failures)
  if (changed.length > 0) {
    await session.query(
      `update {schema}.cursors as c set failures = counted.failures
       from unnest($1::uuid[], $2::int[]) as counted (id, failures) where c.schedule_id = counted.id`,
      [changed.map(({ id }) => id), changed.map(({ failures }) => failures)],
    )
  }
  const broken = counted
    .filter(({ isBroken }) => isBroken)
    .map(({ id, name, version, failures, breaker }) => ({
      scheduleId: id,
      schedule: name,
      version,
      reason: failures === 1 ? 'a scheduled run failed' : `${failures} scheduled runs in a row failed`,
      failures,
      cooldown: breaker.cooldown,
    }))
  if (broken.length > 0) await breakSchedules(session, broken)
  return broken
}

/**
 * Takes schedules out. What is due of them and not decided yet, and all that follows until somebody resumes them, is
 * theirs who resume: it meets the state `broken`.
 */
async function breakSchedules(session: Session, broken: readonly Breakage[]): Promise<void> {
  await session.query(
    `with clock as materialized (select ${NOW} as now),
     taken as (
       select b.id, b.reason, clock.now, clock.now + b.cooldown_ms * interval '1 millisecond' as until
       from clock, unnest($2::uuid[], $3::text[], $4::float8[]) as b (id, reason, cooldown_ms)
     ),
     schedules as (
       update {schema}.schedules as s
       set state = 'broken', state_reason = taken.reason, state_by = null, state_since = taken.now, state_until = taken.until
       from taken where s.id = taken.id
       returning s.id, s.name, s.version
     ),
     cursors as (
       update {schema}.cursors as c set next_at = null, wake_at = taken.until, plan_error = null
       from taken where c.schedule_id = taken.id
       returning c.schedule_id, c.decided_through
     )
     insert into {schema}.changes (schedule_id, name, version, action, state, boundary, changed_at)
     select schedules.id, schedules.name, schedules.version, 'break', 'broken', cursors.decided_through, taken.now
     from schedules join cursors on cursors.schedule_id = schedules.id join taken on taken.id = schedules.id`,
    [
      session.now(),
      broken.map(({ scheduleId }) => scheduleId),
      broken.map(({ reason }) => reason),
      broken.map(({ cooldown }) => (cooldown === null ? null : durationToMs(cooldown))),
    ],
  )
}
