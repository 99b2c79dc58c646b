/**
 * Lanes hold the overlap policy. Of a schedule and scope, the open run in lane 0 may be claimed, the one in lane 1 waits
 * for it (`queue`), and those in lane 2 wait behind that: backfilled runs, and runs that were open when the policy
 * came. A unique index keeps lanes 0 and 1 to one open run each.
 *
 * Whoever empties lane 0 lets the next one in before it commits. A tick that puts a run into lane 1 at that moment and
 * the outcome that empties lane 0 would not see each other, and the run would wait for ever: both hold the lock of the
 * schedule's cursor.
 */
import { RUN_TIME } from '../rows.js'
import type { Session, Store } from '../store.js'
import { unpackSchedules } from './lots.js'

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
    `update {schema}.runs_open as waiting set lane = 0
     from (
       select distinct on (o.schedule_id, o.scope) o.id
       from {schema}.runs_open as o join {schema}.runs_asked as r on r.id = o.id
       where o.schedule_id = any($1) and o.lane is not null and ${HAS_NO_FIRST}
       order by o.schedule_id, o.scope, o.state <> 'running', o.lane, ${RUN_TIME}, o.id
     ) as next
     where waiting.id = next.id`,
    [scheduleIds],
  )
}

const HAS_NO_FIRST = `not exists (
  select from {schema}.runs_open as first
  where first.schedule_id = o.schedule_id and first.scope = o.scope and first.lane = 0
)`

/** Those of these schedules that have an open run in a lane. */
export async function listOpenSchedules(
  session: Session,
  scheduleIds: readonly string[],
): Promise<Set<string>> {
  const rows = await session.query<{ schedule_id: string }>(
    'select distinct schedule_id from {schema}.runs_open where schedule_id = any($1) and lane is not null',
    [scheduleIds],
  )
  return new Set(rows.map(({ schedule_id }) => schedule_id))
}

/** Mends what should not be: runs that wait although nobody is before them. */
export async function fillStrandedLanes(store: Store): Promise<void> {
  const stranded = await store.query<{ schedule_id: string }>(
    `select distinct o.schedule_id from {schema}.runs_open as o where o.lane > 0 and ${HAS_NO_FIRST}`,
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
  await unpackSchedules(session, scheduleIds)
  await session.query(
    `update {schema}.runs_open as o set lane = 2 from {schema}.runs_asked as r
     where r.schedule_id = any($1) and o.id = r.id and o.lane is null`,
    [scheduleIds],
  )
  await fillLanes(session, scheduleIds)
}

/** Lets all open runs go, of schedules whose new policy allows overlap. */
export async function leaveLanes(session: Session, scheduleIds: readonly string[]): Promise<void> {
  await session.query(
    'update {schema}.runs_open set lane = null where schedule_id = any($1) and lane is not null',
    [scheduleIds],
  )
}
