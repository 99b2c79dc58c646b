/**
 * Herds: schedules that are due together and are alike in all that decides what becomes of them. One plan is made for all, and of each of them only its ids
 * travel: to the program, which derives the ids of their runs, and back. A tick by herds costs the server and the program half of what one by rows does.
 */
import type { Policies } from '../../schedules/policies.js'
import type { Instant } from '../../time/instant.js'
import type { Timing } from '../../time/timing.js'
import { sinceParam } from '../front.js'
import { many, often } from '../often.js'
import { instantAt, NOW, type Session } from '../store.js'
import { chunks } from './planned-lots.js'
import { type DueLimits, IS_DUE, parsed } from './planning.js'
import { Overtaken } from './recording.js'

/** What is due at one plan time, of schedules that are alike. */
export interface Herd {
  job: string
  queue: string
  priority: number
  scopes: string[] | null
  timing: Timing
  policies: Policies
  zone_data: string | null
  next_at: Date
  /** Whether none of them has an end, wishes to skip plan times, or a cursor that cannot be right. */
  is_plain: boolean
  ids: string[]
  names: string[]
  /** Where their rows and those of their cursors lie, in the same order, as the server writes lists of places. */
  places: string
  cursor_places: string
}

/** A herd each of which gets one run, and goes on. */
export interface PlannedHerd {
  herd: Herd
  scope: string
  planTime: Instant
  nextAt: Instant
  decidedThrough: Instant
  /** In the order of the herd's ids. */
  runIds: readonly string[]
}

/** As `lockDueSchedules`, by herds. */
export async function lockDueHerds(
  session: Session,
  { limit, kinds, providers, since }: DueLimits,
): Promise<{ herds: Herd[]; newest: Instant | null; now: Instant | null }> {
  const rows = await session.query<HerdRow>(LOCK_DUE_HERDS, [
    session.now(),
    limit,
    kinds,
    providers,
    sinceParam(since),
  ])
  const latest = (of: (row: HerdRow) => Date) =>
    rows.length === 0 ? null : Math.max(...rows.map((row) => of(row).getTime()))
  return { herds: rows.map(readHerd), newest: latest(({ newest }) => newest), now: latest(({ now }) => now) }
}

type HerdRow = Omit<Herd, 'timing' | 'policies'> & {
  timing: string
  policies: string
  newest: Date
  now: Date
}

const readHerd = (row: HerdRow): Herd =>
  Object.assign(row, { timing: parsed<Timing>(row.timing), policies: parsed<Policies>(row.policies) })

const LOCK_DUE_HERDS = often(
  'due herds',
  `
  select s.job, s.queue, s.priority, s.scopes, s.timing::text, s.policies::text, s.zone_data, c.next_at,
    c.next_at > c.decided_through and not c.has_requests and s.until_at is null and s."limit" is null as is_plain,
    array_agg(s.id) as ids, array_agg(s.name) as names, array_agg(s.ctid)::text as places, array_agg(c.place)::text as cursor_places,
    max(c.wake_at) as newest, max(${NOW}) as now
  from (
    select schedule_id, version, next_at, wake_at, decided_through, has_requests, ctid as place
    from {schema}.cursors
    where ${IS_DUE}
    order by wake_at, schedule_id
    limit $2
    for update skip locked
  ) as c
  join {schema}.schedules as s on s.id = c.schedule_id and s.version = c.version and s.state = 'active'
  group by s.timing, s.policies, s.job, s.queue, s.priority, s.scopes, s.zone_data, c.next_at, is_plain`,
)

/**
 * Records what was planned for herds whose cursors this transaction has locked, as `recordDue` does for rows, and throws as it does where anything
 * came between. Runs that are alike wait in lots.
 */
export async function recordHerds(
  session: Session,
  planned: readonly PlannedHerd[],
  channel: string | null,
): Promise<void> {
  const runIds = planned.flatMap((one) => one.runIds)
  const { lots, alone } = lotsOf(planned)
  const firsts: number[] = []
  const lotted: string[] = []
  for (const lot of lots) {
    firsts.push(lotted.length + 1)
    lotted.push(...lot.runIds)
  }
  const [row] = await session.query<{ moved: number }>(RECORD_HERDS, [
    session.now(),
    channel,
    joined(planned.map(({ herd }) => herd.places)),
    joined(planned.map(({ herd }) => herd.cursor_places)),
    runIds,
    planned.flatMap((one, index) => Array<number>(one.runIds.length).fill(index + 1)),
    planned.map(({ planTime }) => planTime),
    planned.map(({ nextAt }) => nextAt),
    planned.flatMap((one) => one.runIds.map(() => one.scope)),
    planned.map((one) => alone.has(one)),
    planned[0]!.decidedThrough,
    lotted,
    firsts,
    lots.map((lot, index) => firsts[index]! + lot.runIds.length - 1),
    lots.map(({ job }) => job),
    lots.map(({ queue }) => queue),
    lots.map(({ priority }) => priority),
    lots.map(({ eligibleAt }) => eligibleAt),
  ])
  if (row!.moved < runIds.length) throw new Overtaken()
}

interface Lot {
  job: string
  queue: string
  priority: number
  eligibleAt: Instant
  runIds: readonly string[]
}

/** Runs of several herds may wait in one; a run that is like no other waits alone. */
function lotsOf(planned: readonly PlannedHerd[]): { lots: Lot[]; alone: ReadonlySet<PlannedHerd> } {
  const lines = new Map<string, PlannedHerd[]>()
  for (const one of planned) {
    const { job, queue, priority } = one.herd
    const line = `${one.planTime}\0${priority}\0${queue}\0${job}`
    const others = lines.get(line)
    if (others) others.push(one)
    else lines.set(line, [one])
  }
  const lots: Lot[] = []
  const alone = new Set<PlannedHerd>()
  for (const line of lines.values()) {
    const runIds = line.flatMap((one) => one.runIds).sort()
    const { herd, planTime } = line[0]!
    if (runIds.length === 1) alone.add(line[0]!)
    else for (const part of chunks(runIds)) lots.push({ ...herd, eligibleAt: planTime, runIds: part })
  }
  return { lots, alone }
}

/** Lists as the server writes them, as one. */
function joined(lists: readonly string[]): string {
  return `{${lists.map((list) => list.slice(1, -1)).join(',')}}`
}

/** Of lists whose elements have one length, in which the server finds each at once. */
const ofHerd = (values: string) => `(${values})[plan.herd]`

const RECORD_HERDS = often(
  'record herds',
  `
  with clock as materialized (select ${NOW} as now),
  moved as (
    update {schema}.cursors as c
    set next_at = ${instantAt(ofHerd('$8::float8[]'))}, wake_at = ${instantAt(ofHerd('$8::float8[]'))},
      decided_through = greatest(c.decided_through, ${instantAt('$11::float8')}), plan_error = null
    from ${many('$3::tid[]', '$4::tid[]', '$5::uuid[]', '$6::int[]', '$9::text[]')} as plan (place, cursor_place, run_id, herd, scope)
    join {schema}.schedules as s on s.ctid = plan.place
    where c.ctid = plan.cursor_place and c.schedule_id is not distinct from s.id and c.version = s.version
      and c.next_at = ${instantAt(ofHerd('$7::float8[]'))}
    returning plan.run_id, plan.herd, plan.scope, s.id, s.version, s.job, s.input, s.queue, s.priority
  ),
  created as (
    insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority, created_at)
    select plan.run_id, plan.id, plan.scope, ${instantAt(ofHerd('$7::float8[]'))}, plan.version, 'scheduled', plan.job,
      plan.input, plan.queue, plan.priority, clock.now
    from moved as plan cross join clock
    order by plan.run_id
  ),
  lotted as (
    insert into {schema}.lots (id, last_id, job, queue, priority, eligible_at, runs, is_scheduled)
    select ($12::uuid[])[lot.first], ($12::uuid[])[lot.last], lot.job, lot.queue, lot.priority, ${instantAt('lot.eligible_at')},
      ($12::uuid[])[lot.first:lot.last], true
    from unnest($13::int[], $14::int[], $15::text[], $16::text[], $17::int[], $18::float8[])
      as lot (first, last, job, queue, priority, eligible_at)
  ),
  opened as (
    insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at)
    select plan.run_id, plan.id, plan.scope, plan.job, plan.queue, plan.priority, 'pending', ${instantAt(ofHerd('$7::float8[]'))}
    from moved as plan where ${ofHerd('$10::boolean[]')}
    order by plan.run_id
  ),
  notified as materialized (select pg_notify($2, 'runs') as sent where $2::text is not null)
  select (select count(*) from moved)::int as moved, (select count(sent) from notified) as notified`,
)
