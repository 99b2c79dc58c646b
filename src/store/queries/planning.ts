import type { Policies } from '../../schedules/policies.js'
import type { Instant } from '../../time/instant.js'
import type { Timing } from '../../time/timing.js'
import { sinceParam } from '../front.js'
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'

/** What a tick reads of a schedule that is due. */
export interface DueSchedule {
  id: string
  name: string
  version: number
  job: string
  /** As JSON; null where its runs do not begin here. */
  input: string | null
  queue: string
  priority: number
  scopes: string[] | null
  timing: Timing
  policies: Policies
  next_at: Date | null
  wake_at: Date
  until_at: Date | null
  limit: number | null
  counted: number
  decided_through: Date
  has_requests: boolean
  zone_data: string | null
  /** Where the rows of the schedule and of its cursor lie; that of the cursor is good for as long as its lock. */
  place: string
  cursor_place: string
}

export interface DueLimits {
  limit: number
  /** The kinds of timing that this program knows: rows of newer ones are left to newer programs. */
  kinds: readonly string[]
  /** The jobs whose scope providers this process has. */
  providers: readonly string[]
  /** Only those that are due since then. */
  since?: Instant | null
  /** The jobs whose runs may begin here as they are planned: of their schedules the input is read as well. */
  beginning?: readonly string[]
}

/**
 * Takes schedules that are due, the longest waiting first, and locks their cursors until the transaction ends; those
 * that another scheduler has locked are passed over. `now` is read row by row above the lock, so the last one is an
 * instant at which all locks were held.
 *
 * The cursor that comes back is the newest, the schedule beside it may be older by a hair (it is not locked): the
 * versions must agree, and a pair that does not is taken by the next tick.
 */
export async function lockDueSchedules(
  session: Session,
  { limit, kinds, providers, since, beginning = [] }: DueLimits,
): Promise<{ due: DueSchedule[]; now: Instant | null }> {
  const rows = await session.query<DueRow>(LOCK_DUE_SCHEDULES, [
    session.now(),
    limit,
    kinds,
    providers,
    sinceParam(since),
    beginning,
  ])
  return { due: rows.map(readDue), now: rows.at(-1)?.now.getTime() ?? null }
}

/**
 * Schedules that come due within so many milliseconds, the next one first, and nobody has asked to skip one of their plan times. None is locked: what is
 * planned for them is good for as long as they stay as they are.
 */
export async function readComing(
  session: Session,
  {
    limit,
    kinds,
    withinMs,
    beginning = [],
  }: Pick<DueLimits, 'limit' | 'kinds' | 'beginning'> & { withinMs: number },
): Promise<DueSchedule[]> {
  const rows = await session.query<DueRow>(READ_COMING, [session.now(), limit, kinds, withinMs, beginning])
  return rows.map(readDue)
}

const readDue = (row: DueRow): DueSchedule =>
  Object.assign(row, { timing: parsed<Timing>(row.timing), policies: parsed<Policies>(row.policies) })

type DueRow = Omit<DueSchedule, 'timing' | 'policies'> & { timing: string; policies: string; now: Date }

/** Few distinct texts, many schedules. */
const values = new Map<string, unknown>()

export function parsed<Value>(text: string): Value {
  let value = values.get(text)
  if (value === undefined) {
    value = JSON.parse(text)
    if (values.size >= 10_000) values.clear()
    values.set(text, value)
  }
  return value as Value
}

const readCursors = ({ which, input }: { which: string; input: string }) => `
  select s.id, s.name, s.version, s.job, ${input} as input, s.queue, s.priority, s.scopes, s.timing::text, s.policies::text, s.until_at, s."limit", c.next_at, c.wake_at,
    c.decided_through, c.has_requests, c.counted, s.zone_data, s.ctid as place, c.place as cursor_place, ${NOW} as now
  from (
    select schedule_id, version, next_at, wake_at, decided_through, has_requests, counted, ctid as place
    from {schema}.cursors
    ${which}
  ) as c
  join {schema}.schedules as s on s.id = c.schedule_id and s.version = c.version and s.state = 'active'`

const firstCursors = ({
  condition,
  beginning,
  lock,
}: {
  condition: string
  beginning: string
  lock: string
}) =>
  readCursors({
    which: `where ${condition}
    order by wake_at, schedule_id
    limit $2
    ${lock}`,
    input: `case when s.job = any(${beginning}::text[]) then s.input::text end`,
  })

/** For parameters in the order of `lockDueSchedules`. */
export const IS_DUE = `wake_at <= (select ${NOW}) and wake_at >= $5::timestamptz and (provider is null or provider = any($4))
      and next_at is not null and kind = any($3)`

const LOCK_DUE_SCHEDULES = often(
  'due schedules',
  firstCursors({
    condition: IS_DUE,
    beginning: '$6',
    lock: 'for update skip locked',
  }),
)

const READ_COMING = often(
  'coming schedules',
  firstCursors({
    condition: `wake_at > (select ${NOW}) and wake_at <= (select ${NOW} + $4::float8 * interval '1 millisecond')
      and next_at = wake_at and provider is null and not has_requests and kind = any($3)`,
    beginning: '$5',
    lock: '',
  }),
)

/** All of schedules whose cursors this transaction has locked, without their inputs; the longest waiting first. */
export async function readLocked(session: Session, ids: readonly string[]): Promise<DueSchedule[]> {
  if (ids.length === 0) return []
  const rows = await session.query<DueRow>(READ_LOCKED, [session.now(), ids])
  return rows.map(readDue)
}

const READ_LOCKED = often(
  'locked schedules',
  `${readCursors({ which: 'where schedule_id = any($2)', input: 'null::text' })}
  order by c.wake_at, c.schedule_id`,
)

/** The jobs among the due schedules whose scopes a provider gives, and since when the first of them is due. */
export async function listDueProviders(
  session: Session,
  { providers, since }: Pick<DueLimits, 'providers' | 'since'>,
): Promise<{ job: string; dueAt: Instant }[]> {
  const rows = await session.query<{ provider: string; due_at: Date }>(
    `select provider, min(next_at) as due_at from {schema}.cursors
     where wake_at <= (select ${NOW}) and wake_at >= $3::timestamptz and next_at is not null and provider = any($2)
     group by provider`,
    [session.now(), providers, sinceParam(since)],
  )
  return rows.map(({ provider, due_at }) => ({ job: provider, dueAt: due_at.getTime() }))
}

export interface EndedPause {
  name: string
  /** The job whose provider gives the scopes, if one does. */
  provider: string | null
  state_until: Date
}

/** Schedules whose pause, or whose breaker's cooldown, was to end by now; of one group, where it is given. */
export function listEndedPauses(session: Session, limit: number, group?: string): Promise<EndedPause[]> {
  return session.query<EndedPause>(LIST_ENDED_PAUSES, [session.now(), limit, group ?? null])
}

const LIST_ENDED_PAUSES = often(
  'ended pauses',
  `select s.name, c.provider, s.state_until from {schema}.schedules as s join {schema}.cursors as c on c.schedule_id = s.id
   where s.state in ('paused', 'broken') and s.state_until is not null and s.state_until <= (select ${NOW})
     and ($3::text is null or s."group" = $3) limit $2`,
)

/** When the schedule that waits for the least wakes, be it locked by somebody; null where none waits. */
export async function readNextWake(
  session: Session,
  { kinds, providers, since }: Omit<DueLimits, 'limit'>,
): Promise<{ wakeAt: Instant | null; now: Instant }> {
  const [row] = await session.query<{ wake_at: Date | null; now: Date }>(NEXT_WAKE, [
    session.now(),
    kinds,
    providers,
    sinceParam(since),
  ])
  return { wakeAt: row!.wake_at?.getTime() ?? null, now: row!.now.getTime() }
}

const NEXT_WAKE = often(
  'next schedule',
  `select (
     select wake_at from {schema}.cursors
     where wake_at >= $4::timestamptz and kind = any($2) and (provider is null or provider = any($3))
     order by wake_at, schedule_id limit 1
   ) as wake_at, ${NOW} as now`,
)

/** Milliseconds until a scheduler has to look again; null when no schedule waits. */
export async function msUntilWake(
  session: Session,
  limits: Omit<DueLimits, 'limit'>,
): Promise<number | null> {
  const { wakeAt, now } = await readNextWake(session, limits)
  return wakeAt === null ? null : Math.max(0, wakeAt - now)
}
