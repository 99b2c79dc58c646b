/**
 * A lot is a row that stands for runs that were asked for, or planned, together: while nothing else is to be said of them, they wait,
 * are claimed and end in it. What is said of one of them alone gives it a row of its own in `runs_open`; from there no run comes back.
 *
 * A lot is cut where a claim takes only its first runs: the rest goes on waiting as another. One that is at work loses those that
 * end, or that get a row of their own, and is deleted with the last.
 */
import { planTimeOf } from '../../runs/run-id.js'
import { FIRST_INSTANT, type Instant } from '../../time/instant.js'
import { sinceParam } from '../front.js'
import { many, often } from '../often.js'
import { RUN_TIME } from '../rows.js'
import { NOW, type Session } from '../store.js'

/** Runs in a lot: so few that its row is a short one, and enough to make it cheap. */
export const LARGEST_LOT = 100

/** Where `run.id` waits or is at work, if it is in a lot; for those that have no row of their own. */
const LOT_OF_RUN = `(
    select l.id from {schema}.lots as l where l.last_id >= run.id and l.id <= run.id and run.id = any (l.runs)
    order by l.last_id limit 1
  )`

/**
 * Leaves in lots what `kept` says, and deletes those in which nothing is left. By arrays: the planner takes the table for a small one, which it
 * is but for what is dead, and would read all of it in the order of the ids.
 */
export const LEAVE_LOTS = `
  emptied as (delete from {schema}.lots where id = any(array(select lot_id from kept where runs is null))),
  shortened as (
    update {schema}.lots as l set runs = kept.runs from kept
    where l.id = any(array(select lot_id from kept where runs is not null)) and l.id = kept.lot_id
  )`

/**
 * That a lot `l` is held under a token. Not by `=`, for which the index of all that are held would do too: where a stranger's transaction
 * keeps what was ever in it, that is no small one.
 */
export const isHeldBy = (token: string) => `l.lease_token is not distinct from ${token}`

/** Gives the runs `given` of the lots `locked` rows of their own, as they stand. */
export const UNPACK_GIVEN = `
  run as materialized (
    select l.id as lot_id, run.id, run.place, given.id is not null as is_given
    from locked as l cross join lateral unnest(l.runs) with ordinality as run (id, place)
    left join given on given.id = run.id
  ),
  kept as materialized (
    select lot_id, array_agg(id order by place) filter (where not is_given) as runs from run group by lot_id
  ),
  ${LEAVE_LOTS}
  insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, attempt, worker_id,
    lease_token, lease_expires_at, started_at, max_attempts, fails_when_stale)
  select run.id, asked.schedule_id, asked.scope, l.job, l.queue, l.priority, case when l.lease_token is null then 'pending' else 'running' end, l.eligible_at,
    case when l.lease_token is null then 0 else 1 end, l.worker_id, l.lease_token, l.lease_expires_at, l.started_at,
    l.max_attempts, l.fails_when_stale
  from run join locked as l on l.id = run.lot_id
  cross join lateral (select a.schedule_id, a.scope from {schema}.runs_asked as a where a.id = run.id limit 1) as asked
  where run.is_given
  order by run.id
  returning id`

/**
 * Gives runs rows of their own; those that have one already, or have ended, are left as they are. A waiting lot may be cut by a
 * claim just then, and the run be in the part that nobody has seen yet: whoever must have it asks again.
 */
export async function unpackRuns(session: Session, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await session.query<{ id: string }>(UNPACK_RUNS, [ids])
  return rows.map(({ id }) => id)
}

const UNPACK_RUNS = `
  with given as materialized (
    select id from unnest($1::uuid[]) as given (id)
    where not exists (select from {schema}.runs_open as r where r.id = given.id)
  ),
  locked as materialized (
    select * from {schema}.lots where id = any(array(select ${LOT_OF_RUN} from given as run)) order by id for update
  ),
  ${UNPACK_GIVEN}`

/** The same for runs of lots that are at work: those keep their ids, and so need not be looked for. */
export async function unpackClaimed(
  session: Session,
  runs: readonly { runId: string; lotId: string }[],
): Promise<void> {
  if (runs.length === 0) return
  await session.query(UNPACK_CLAIMED, [
    runs.map(({ runId }) => runId),
    [...new Set(runs.map(({ lotId }) => lotId))],
  ])
}

const UNPACK_CLAIMED = often(
  'unpack runs',
  `
  with given as materialized (select id from ${many('$1::uuid[]')} as given (id)),
  locked as materialized (select * from {schema}.lots where id = any($2::uuid[]) order by id for update),
  ${UNPACK_GIVEN}`,
)

/** Until the transaction ends, in the order in which everybody locks them. */
export async function lockLots(session: Session, ids: readonly string[]): Promise<void> {
  if (new Set(ids).size < 2) return
  await session.query('select from {schema}.lots where id = any($1) order by id for update', [ids])
}

/** The same for all open runs of schedules, whose cursors are locked, so that no more of them are planned. */
export async function unpackSchedules(session: Session, scheduleIds: readonly string[]): Promise<void> {
  for (;;) {
    const ids = await listPacked(session, scheduleIds)
    if (ids.length === 0) return
    // One that a claim has just cut out of its lot is in another one by now.
    await unpackRuns(session, ids)
  }
}

/** Those of their runs that are in lots; only those since the oldest in any lot are looked at. */
async function listPacked(session: Session, scheduleIds: readonly string[]): Promise<string[]> {
  const ends = await session.query<{ id: string }>(
    `(select id from {schema}.lots where is_scheduled order by id limit 1)
     union all (select id from {schema}.lots where is_scheduled order by id desc limit 1)`,
  )
  if (ends.length === 0) return []
  const times = ends.map(({ id }) => planTimeOf(id))
  // Those before 1970 come last by their ids, whichever of them is the oldest.
  const oldest = times.some((time) => time < 0) ? FIRST_INSTANT : times[0]!
  const rows = await session.query<{ id: string }>(
    `with run as materialized (
       select r.id from {schema}.runs_asked as r
       where r.schedule_id = any($1) and ${RUN_TIME} >= $2::timestamptz
         and not exists (select from {schema}.runs_ended as e where e.id = r.id)
         and not exists (select from {schema}.runs_open as o where o.id = r.id)
     )
     select run.id from run where ${LOT_OF_RUN} is not null`,
    [scheduleIds, new Date(oldest)],
  )
  return rows.map(({ id }) => id)
}

/**
 * The same for lots whose leases have expired, some at a time: each of their runs is then taken from its worker. Never what the
 * caller holds itself. Returns whether there was any.
 */
export async function unpackExpired(
  session: Session,
  held: readonly string[],
  since?: Instant | null,
): Promise<boolean> {
  return (await session.query(UNPACK_EXPIRED, [session.now(), held, sinceParam(since)])).length > 0
}

const UNPACK_EXPIRED = `
  with locked as materialized (
    select * from {schema}.lots
    where lease_token is not null and lease_expires_at <= (select ${NOW}) and lease_expires_at >= $3::timestamptz and not runs && $2::uuid[]
    order by lease_expires_at limit 10 for update skip locked
  ),
  given as materialized (select unnest(runs) as id from locked),
  ${UNPACK_GIVEN}`
