/** What a plan leads to, written down: runs, skips, and the cursor that moves on. */
import type { Plan, PlannedRun } from '../../schedules/plan.js'
import type { Instant } from '../../time/instant.js'
import type { Param } from '../database.js'
import { many, often } from '../often.js'
import { instantAt, NOW, type Session } from '../store.js'
import { type ClaimedRow, MAY_CLAIM } from './claim-parts.js'
import { leasedRuns, lotsOf, type PlacesOffered } from './planned-lots.js'
import type { DueSchedule } from './planning.js'

export interface PlannedSchedule {
  schedule: Pick<DueSchedule, 'id' | 'version' | 'next_at' | 'policies' | 'job' | 'queue' | 'priority'>
  plan: Plan
  /** When a scheduler must look again. */
  wakeAt: Instant | null
}

/**
 * Records any number of plans in one statement: every cursor moves by compare-and-set on (id, version, next_at), and
 * runs and skips are inserted only for what that update returned. A schedule that was changed since it was read
 * writes nothing; a run that exists already is left as it is. Returns the ids of the runs that are new.
 *
 * Those that are alike (job, queue, priority, when they may begin) wait together in lots, unless they may not overlap.
 *
 * Overlap is held by a unique index on the lanes. A run that is refused although its id is new has met an open one:
 * with `queue` it takes the lane that waits, and if that is taken too, or with `skip`, the occurrence is skipped. So those
 * take their lane first, and then their id; all others first take the id.
 */
export async function recordPlans(
  session: Session,
  planned: readonly PlannedSchedule[],
  channel: string | null,
): Promise<string[]> {
  const none = planned.map(() => null)
  const runs = runsOf(planned)
  const { lots } = lotsOf(planned, null)
  const rows = await session.query<RecordedRow>(
    RECORD_PLANS,
    recordParams(session, { planned, runs, channel, places: [none, none], lots }),
  )
  return newRuns(runs, rows)
}

/** What was planned with all that is known of the schedule, as a tick and what plans ahead have it. */
export interface PlannedDue extends PlannedSchedule {
  schedule: DueSchedule
}

/** How runs become known to workers: whoever is at rest in this process, and those who listen to a channel. */
export interface Told {
  /** Null where they are told in another way. */
  channel: string | null
  offered: PlacesOffered | null
}

/**
 * The same for schedules whose cursors this transaction has locked: they are as they were read, so their rows are found by
 * where they lie, and no run is looked for before it is inserted. Should that prove wrong, it throws (`isOvertaken`), and the
 * transaction is to be repeated by `recordPlans`.
 */
export async function recordDue(
  session: Session,
  planned: readonly PlannedDue[],
  told: Told,
): Promise<Recorded> {
  const recorded = await record(session, RECORD_DUE, planned, told)
  if (recorded.moved < planned.length) throw new Overtaken()
  return recorded
}

/** A plan that was made before its plan time, and until when it is the one that a tick would make. */
export interface PlannedAhead extends PlannedDue {
  goodUntil: Instant
}

/**
 * The same for schedules that were planned before they were due, and that nobody has locked: the statement locks those that are as they were read,
 * due by now, and not yet so late that something else would become of them. All others are left to the next tick. Throws as `recordDue` does where a run
 * is there already.
 */
export function recordAhead(
  session: Session,
  planned: readonly PlannedAhead[],
  told: Told,
): Promise<Recorded> {
  return record(session, RECORD_AHEAD, planned, told, [planned.map(({ goodUntil }) => goodUntil)])
}

/** Something came between reading schedules and recording their plans. */
export class Overtaken extends Error {}

/** Whether something came between reading schedules and recording their plans; a run that is there already did. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof Overtaken || (error as { code?: unknown } | null)?.code === '23505'
}

export interface Recorded {
  /** The ids of the runs that are new. */
  created: string[]
  /** How many schedules were decided. */
  moved: number
  /** Those of the new runs that took a place that was offered. */
  leased: ClaimedRow[]
}

interface RecordedRow {
  id: string | null
  moved: number | null
  leased_at: Date | null
}

async function record(
  session: Session,
  statement: string,
  planned: readonly PlannedDue[],
  { channel, offered }: Told,
  more: readonly (readonly Instant[])[] = [],
): Promise<Recorded> {
  const runs = runsOf(planned)
  const { lots, leased } = lotsOf(planned, offered)
  const isWaiting = (lot: number | null) => lot === null || lot > leased.length
  const places = [
    planned.map(({ schedule }) => schedule.place),
    planned.map(({ schedule }) => schedule.cursor_place),
  ] as const
  const rows = await session.query<RecordedRow>(statement, [
    ...recordParams(session, { planned, runs, channel, places, lots }),
    offered?.workerId ?? null,
    leased.length === 0 ? null : offered!.leaseToken,
    leased.map(({ leaseMs }) => leaseMs),
    leased.map(({ retry }) => retry.attempts),
    leased.map(({ onStale }) => onStale === 'fail'),
    lots.some(isWaiting),
    ...more,
  ])
  const created = newRuns(runs, rows)
  const last = rows.find(({ moved }) => moved !== null)!
  const isNew = new Set(created)
  return {
    created,
    moved: last.moved!,
    leased:
      last.leased_at === null
        ? []
        : leasedRuns(
            runs.map(({ run, schedule }, index) => ({ run, schedule, lot: lots[index]! })),
            { lots: leased.length, isNew: (id) => isNew.has(id), at: last.leased_at.getTime() },
          ),
  }
}

function runsOf<Planned extends PlannedSchedule>(planned: readonly Planned[]) {
  return planned.flatMap(({ schedule, plan }) =>
    plan.runs.map((run) => ({ run, schedule: schedule as Planned['schedule'] })),
  )
}

/** The statement tells of those that are not. */
function newRuns(runs: readonly { run: PlannedRun }[], rows: readonly RecordedRow[]): string[] {
  const refused = new Set(rows.map(({ id }) => id))
  return runs.map(({ run }) => run.id).filter((id) => !refused.has(id))
}

function recordParams(
  session: Session,
  {
    planned,
    runs,
    channel,
    places,
    lots,
  }: {
    planned: readonly PlannedSchedule[]
    runs: ReturnType<typeof runsOf>
    channel: string | null
    places: readonly [readonly (string | null)[], readonly (string | null)[]]
    lots: readonly (number | null)[]
  },
): Param[] {
  const skips = planned.flatMap(({ schedule, plan }) => plan.skips.map((skip) => ({ skip, id: schedule.id })))
  return [
    session.now(),
    channel,
    planned.map(({ schedule }) => schedule.id),
    planned.map(({ schedule }) => schedule.version),
    planned.map(({ schedule }) => schedule.next_at?.getTime() ?? null),
    planned.map(({ plan }) => plan.nextAt),
    planned.map(({ wakeAt }) => wakeAt),
    planned.map(({ plan }) => plan.decidedThrough),
    ...places,
    runs.map(({ run }) => run.id),
    runs.map(({ schedule }) => schedule.id),
    runs.map(({ run }) => run.scope),
    runs.map(({ run }) => run.planTime),
    runs.map(({ run }) => run.eligibleAt),
    lots,
    skips.map(({ id }) => id),
    skips.map(({ skip }) => skip.scope),
    skips.map(({ skip }) => skip.first),
    skips.map(({ skip }) => skip.last),
    skips.map(({ skip }) => skip.reason),
  ]
}

const ASKED = `{schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
  priority, created_at)`
const AS_ASKED = `p.id, p.schedule_id, p.scope, p.plan_time, p.version, 'scheduled', p.job, p.input, p.queue, p.priority, p.now`
const OPEN = `{schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, lane)`
const AS_OPEN = `p.id, p.schedule_id, p.scope, p.job, p.queue, p.priority, 'pending', p.eligible_at`

const IS_NEW = 'not exists (select from {schema}.runs_asked as known where known.id = p.id)'

/**
 * Looked up in a table of hashes, as with `not in`. What a statement has planned and written itself the planner takes for one row: joined, or
 * asked for by `exists`, each would be compared with each.
 */
const isAmong = (ids: string) => `(p.id in (${ids})) is true`

const PLANS = [
  '$3::uuid[]',
  '$4::int[]',
  '$5::float8[]',
  '$6::float8[]',
  '$7::float8[]',
  '$8::float8[]',
  '$9::tid[]',
  '$10::tid[]',
]
const PLAN = 'id, version, cursor, next_at, wake_at, decided_through, place, cursor_place'

/**
 * Found as it was read, by where the rows lie. Their ids are not compared by `=`, by which the planner would rather look them up in an index.
 */
const IN_PLACE = {
  schedule: 's.ctid = plan.place and s.id is not distinct from plan.id',
  cursor: 'c.ctid = plan.cursor_place and c.schedule_id is not distinct from plan.id',
}
const BY_ID = { schedule: 's.id = plan.id', cursor: 'c.schedule_id = plan.id' }

interface Recording {
  /** What is to be recorded, with the columns of `PLAN`, and a part of the statement that it needs. */
  plans?: { from: string; part: string }
  /** How rows are found. */
  found: { schedule: string; cursor: string }
  conflict: string
  /** Names those of `planned` that are new, of schedules that allow overlap. */
  created: string
  /** Whether the first of the lots may be leased as they are made. */
  lease: { part: string; columns: string; values: string; from: string; at: string; told: string }
}

const recording = ({
  plans = { from: `${many(...PLANS)} as plan (${PLAN})`, part: '' },
  found,
  conflict,
  created,
  lease,
}: Recording) => `
  with clock as materialized (select ${NOW} as now),${plans.part}${lease.part}
  moved as (
    update {schema}.cursors as c
    set next_at = ${instantAt('plan.next_at')}, wake_at = ${instantAt('plan.wake_at')},
      decided_through = greatest(c.decided_through, ${instantAt('plan.decided_through')}), plan_error = null,
      counted = c.counted + (c.kind = 'after' and c.next_at is distinct from ${instantAt('plan.next_at')})::int
    from ${plans.from}
    join {schema}.schedules as s on ${found.schedule}
    where ${found.cursor} and c.version = plan.version and c.next_at is not distinct from ${instantAt('plan.cursor')}
    returning c.schedule_id, c.version, s.job, s.input, s.queue, s.priority, s.policies->>'overlap' as overlap
  ),
  planned as (
    select run.id, run.schedule_id, run.scope, ${instantAt('run.plan_time')} as plan_time,
      ${instantAt('run.eligible_at')} as eligible_at, moved.version, moved.job, moved.input, moved.queue, moved.priority,
      moved.overlap, clock.now, run.lot
    from ${many('$11::uuid[]', '$12::uuid[]', '$13::text[]', '$14::float8[]', '$15::float8[]', '$16::int[]')}
      as run (id, schedule_id, scope, plan_time, eligible_at, lot)
    join moved on moved.schedule_id = run.schedule_id
    cross join clock
  ),
  created as (
    insert into ${ASKED}
    select ${AS_ASKED} from planned as p where overlap = 'allow' order by p.id
    ${conflict}
    returning id
  ),
  lotted as (
    insert into {schema}.lots (id, last_id, job, queue, priority, eligible_at, runs, is_scheduled${lease.columns})
    select runs[1], runs[cardinality(runs)], job, queue, priority, eligible_at, runs, true${lease.values}
    from (
      select p.lot as number, min(p.job) as job, min(p.queue) as queue, min(p.priority) as priority, min(p.eligible_at) as eligible_at,
        array_agg(p.id order by p.id) as runs
      from planned as p${created} and p.lot is not null group by p.lot
    ) as lot${lease.from}
  ),
  opened as (
    insert into ${OPEN}
    select ${AS_OPEN}, null from planned as p${created} and p.lot is null order by p.id
  ),
  first as (
    insert into ${OPEN}
    select ${AS_OPEN}, 0 from planned as p where overlap <> 'allow' and ${IS_NEW} order by p.plan_time, p.id
    on conflict do nothing
    returning id
  ),
  refused as materialized (
    select * from planned as p
    where overlap <> 'allow' and ${IS_NEW} and p.id not in (select id from first)
  ),
  waiting as (
    insert into ${OPEN}
    select ${AS_OPEN}, 1 from refused as p where overlap = 'queue' order by p.plan_time, p.id
    on conflict do nothing
    returning id
  ),
  laned as (
    insert into ${ASKED}
    select ${AS_ASKED} from planned as p where ${isAmong('select id from first union all select id from waiting')}
    order by p.plan_time, p.id
    returning id
  ),
  skipped as (
    insert into {schema}.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason, decided_at)
    select moved.schedule_id, range.scope, moved.version, ${instantAt('range.first')}, ${instantAt('range.last')},
      range.reason, clock.now
    from ${many('$17::uuid[]', '$18::text[]', '$19::float8[]', '$20::float8[]', '$21::text[]')}
      as range (schedule_id, scope, first, last, reason)
    join moved on moved.schedule_id = range.schedule_id
    cross join clock
    union all
    select schedule_id, scope, version, plan_time, plan_time, 'overlap', now from refused
    where id not in (select id from waiting)
    on conflict do nothing
  ),
  -- Aggregated first, so that a batch sends one notification, and none when it created nothing or nobody is to be told.
  notified as (
    select pg_notify($2, 'runs')::text as told
    from (select (select count(*) from created) + (select count(*) from laned) as runs) as batch
    where batch.runs > 0 and $2::text is not null${lease.told}
  )
  -- Those that are not new, how many cursors were moved, and since when lots are leased. The notification is sent as it is read.
  select id, null::int as moved, null::timestamptz as leased_at from unnest($11::uuid[]) as run (id)
  where id not in (select id from created) and id not in (select id from laned)
  union all select null, (select count(*) from moved)::int, ${lease.at}
  union all select null, null, null from notified where told is null`

const ALL_WAIT = { part: '', columns: '', values: '', from: '', at: 'null', told: '' }
/** As a claim would lease them: not while claiming is paused. */
const FIRST_BEGIN = {
  part: `
  leasing as materialized (
    select clock.now from clock, {schema}.control where $23::uuid is not null and ${MAY_CLAIM}
  ),`,
  columns: ', worker_id, lease_token, started_at, lease_expires_at, max_attempts, fails_when_stale',
  values: ', lease.*',
  from: `
    left join lateral (
      select $22::uuid, $23::uuid, leasing.now, leasing.now + ($24::float8[])[lot.number] * interval '1 millisecond',
        ($25::int[])[lot.number], ($26::boolean[])[lot.number]
      from leasing where lot.number <= cardinality($24::float8[])
    ) as lease on true`,
  at: '(select now from leasing)',
  // Of those that begin here nobody else need be told.
  told: ' and ($27::boolean or not exists (select from leasing))',
}

const RECORD_PLANS = often(
  'record occurrences',
  recording({
    found: BY_ID,
    conflict: 'on conflict do nothing',
    created: ` where ${isAmong('select id from created')}`,
    lease: ALL_WAIT,
  }),
)
/** All of them are new, or none is written: there is nothing to look up. */
const ALL_NEW = { found: IN_PLACE, conflict: '', created: ` where p.overlap = 'allow'`, lease: FIRST_BEGIN }
const RECORD_DUE = often('record due occurrences', recording(ALL_NEW))

/** Never early, and never another plan than a tick would make now; whoever is locked is somebody else's, or is just being changed. */
const READY = `
  ready as materialized (
    select plan.*
    from clock cross join ${many(...PLANS, '$28::float8[]')} as plan (${PLAN}, good_until)
    join {schema}.cursors as c on ${IN_PLACE.cursor}
    where c.version = plan.version and c.next_at = ${instantAt('plan.cursor')} and not c.has_requests
      and clock.now >= ${instantAt('plan.cursor')} and clock.now < ${instantAt('plan.good_until')}
    for update of c skip locked
  ),`
const RECORD_AHEAD = often(
  'record occurrences planned ahead',
  recording({ ...ALL_NEW, plans: { from: 'ready as plan', part: READY } }),
)
