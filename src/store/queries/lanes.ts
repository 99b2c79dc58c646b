/**
 * Lanes hold the overlap policy. Of a schedule and scope, the open run in lane 0 may be claimed, the one in lane 1 waits
 * for it (`queue`), and those in lane 2 wait behind that: backfilled runs, and runs that were open when the policy
 * came. A unique index keeps lanes 0 and 1 to one open run each.
 *
 * Whoever empties lane 0 lets the next one in before it commits. A tick that puts a run into lane 1 at that moment and
 * the outcome that empties lane 0 would not see each other, and the run would wait for ever: both hold the lock of the
 * schedule's cursor.
 */
import type { Session, Store } from '../store.js'

const OPEN = `('pending', 'running', 'retrying')`

/** Keeps everybody else from filling or emptying the lanes of these schedules until the transaction ends. */
export async function lockLanes(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    'select from {schema}.cursors where schedule_id = any($1) order by schedule_id for update',
    [scheduleIds],
  )
}

/** Lets the next run in where lane 0 is empty, of schedules whose lanes are locked. One that is running goes first. */
export async function fillLanes(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.runs as waiting set lane = 0
     from (
       select distinct on (r.schedule_id, r.scope) r.id
       from {schema}.runs as r
       where r.schedule_id = any($1) and r.lane is not null and r.state in ${OPEN} and ${HAS_NO_FIRST}
       order by r.schedule_id, r.scope, r.state <> 'running', r.lane, coalesce(r.plan_time, r.created_at), r.id
     ) as next
     where waiting.id = next.id`,
    [scheduleIds],
  )
}

const HAS_NO_FIRST = `not exists (
  select from {schema}.runs as first
  where first.schedule_id = r.schedule_id and first.scope = r.scope and first.lane = 0 and first.state in ${OPEN}
)`

/** Those of these schedules that have an open run in a lane. */
export async function listOpenSchedules(
  session: Session,
  scheduleIds: readonly string[],
): Promise<Set<string>> {
  const rows = await session.query<{ schedule_id: string }>(
    `select distinct schedule_id from {schema}.runs
     where schedule_id = any($1) and lane is not null and state in ${OPEN}`,
    [scheduleIds],
  )
  return new Set(rows.map(({ schedule_id }) => schedule_id))
}

/** Mends what should not be: runs that wait although nobody is before them. */
export async function fillStrandedLanes(store: Store): Promise<void> {
  const stranded = await store.query<{ schedule_id: string }>(
    `select distinct r.schedule_id from {schema}.runs as r
     where r.lane is not null and r.state in ${OPEN} and r.lane > 0 and ${HAS_NO_FIRST}`,
  )
  const ids = stranded.map(({ schedule_id }) => schedule_id)
  if (ids.length > 0) await lockAndFillLanes(store, ids)
}

function lockAndFillLanes(store: Store, scheduleIds: readonly string[]): Promise<void> {
  return store.transaction(async (session) => {
    await lockLanes(session, scheduleIds)
    await fillLanes(session, scheduleIds)
  })
}

/** Lines the open runs up, of schedules whose new policy forbids overlap. Those that are running already go on. */
export async function enterLanes(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.runs set lane = 2 where schedule_id = any($1) and lane is null and state in ${OPEN}`,
    [scheduleIds],
  )
  await fillLanes(session, scheduleIds)
}

/** Lets all open runs go, of schedules whose new policy allows overlap. */
export async function leaveLanes(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.runs set lane = null where schedule_id = any($1) and lane is not null and state in ${OPEN}`,
    [scheduleIds],
  )
}
