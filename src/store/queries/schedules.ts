import type { ScheduleContent, ScheduleState } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import type { Param } from '../database.js'
import { SCHEDULE_COLUMNS, SCHEDULES_AND_CURSORS, type ScheduleRow } from '../rows.js'
import { NOW, type Session } from '../store.js'
import type { ChangeWrite } from './changes.js'
import { unpackSchedules } from './lots.js'

/** Of this group, where one is given; so in all that follow here. */
export async function findSchedule(
  session: Session,
  name: string,
  group?: string,
): Promise<ScheduleRow | undefined> {
  const [row] = await session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from ${SCHEDULES_AND_CURSORS}
     where s.name = $1 and ($2::text is null or s."group" = $2)`,
    [name, group ?? null],
  )
  return row
}

export function findSchedules(session: Session, ids: readonly string[]): Promise<ScheduleRow[]> {
  return session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from ${SCHEDULES_AND_CURSORS} where s.id = any($1)`,
    [ids],
  )
}

export interface ScheduleFilter {
  state?: ScheduleState
  group?: string
  job?: string
  /** The beginning of the name. */
  prefix?: string
  source?: string
}

/** By name, after the name `after`; `limit` rows at most. What is not asked for is not said: a plan that is kept must not have to guess. */
export function listSchedules(
  session: Session,
  { state, group, job, prefix, source }: ScheduleFilter,
  { after, limit }: { after: string; limit: number },
): Promise<ScheduleRow[]> {
  const params: Param[] = [after, limit]
  const conditions = ['s.name > $1']
  const add = (value: string | undefined, condition: (param: string) => string) => {
    // Untyped callers say null for what they do not ask for.
    if (value != null) conditions.push(condition(`$${params.push(value)}`))
  }
  add(state, (param) => `s.state = ${param}`)
  add(group, (param) => `s."group" = ${param}`)
  add(job, (param) => `s.job = ${param}`)
  add(prefix, (param) => `starts_with(s.name, ${param}) and s.name >= ${param}`)
  add(source, (param) => `s.source = ${param}`)
  return session.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from ${SCHEDULES_AND_CURSORS}
     where ${conditions.join(' and ')} order by s.name limit $2`,
    params,
  )
}

/**
 * Locks the cursors of these schedules until the transaction ends, and then reads them and the time: in a statement of
 * its own, since the one that waited for a lock saw the schedules as they were before.
 */
export async function lockSchedules(
  session: Session,
  names: readonly string[],
  group?: string,
): Promise<{ rows: ScheduleRow[]; now: Instant }> {
  const locked = await session.query<{ schedule_id: string }>(
    `select c.schedule_id from {schema}.cursors as c
     join {schema}.schedules as s on s.id = c.schedule_id
     where s.name = any($1) and ($2::text is null or s."group" = $2) order by c.schedule_id for update of c`,
    [names, group ?? null],
  )
  const rows = await session.query<ScheduleRow & { now: Date }>(
    `select ${SCHEDULE_COLUMNS}, ${NOW} as now from ${SCHEDULES_AND_CURSORS} where s.id = any($2) order by s.id`,
    [session.now(), locked.map(({ schedule_id }) => schedule_id)],
  )
  return { rows, now: rows.at(-1)?.now.getTime() ?? (await readNow(session)) }
}

/** Gives locked cursors the version of their schedules: one of another version is damaged, and would record nothing. */
export async function adoptCursors(session: Session, ids: readonly string[]): Promise<void> {
  await session.query(
    `update {schema}.cursors as c set version = s.version from {schema}.schedules as s
     where s.id = c.schedule_id and c.schedule_id = any($1)`,
    [ids],
  )
}

/** What these schedules give to their jobs. */
export function listInputs(
  session: Session,
  names: readonly string[],
): Promise<{ name: string; job: string; input: unknown }[]> {
  return session.query('select name, job, input from {schema}.schedules where name = any($1)', [names])
}

/** Those of these names that are paused. */
export async function listPaused(
  session: Session,
  names: readonly string[],
  group?: string,
): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select name from {schema}.schedules
     where name = any($1) and state = 'paused' and ($2::text is null or "group" = $2)`,
    [names, group ?? null],
  )
  return rows.map(({ name }) => name)
}

/** When these schedules were created; without those that there are not. */
export async function listCreations(
  session: Session,
  names: readonly string[],
  group?: string,
): Promise<Map<string, Instant>> {
  const rows = await session.query<{ name: string; created_at: Date }>(
    `select name, created_at from {schema}.schedules
     where name = any($1) and ($2::text is null or "group" = $2)`,
    [names, group ?? null],
  )
  return new Map(rows.map(({ name, created_at }) => [name, created_at.getTime()]))
}

/** Names near to one that is not there, for a hint. */
export async function listNames(session: Session, limit: number, group?: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select name from {schema}.schedules where $2::text is null or "group" = $2 order by name limit $1`,
    [limit, group ?? null],
  )
  return rows.map(({ name }) => name)
}

/** Those of these schedules that are in the group. */
export async function listMembers(
  session: Session,
  ids: readonly string[],
  group: string,
): Promise<Set<string>> {
  const rows = await session.query<{ id: string }>(
    'select id from {schema}.schedules where id = any($1) and "group" = $2',
    [ids, group],
  )
  return new Set(rows.map(({ id }) => id))
}

export async function readNow(session: Session): Promise<Instant> {
  const [row] = await session.query<{ now: Date }>(`select ${NOW} as now`, [session.now()])
  return row!.now.getTime()
}

/** A schedule as a verb leaves it: what it holds, its state, and its cursor. */
interface ScheduleWrite {
  id: string
  name: string
  version: number
  content: ScheduleContent
  source: string | null
  state: ScheduleState
  stateReason: string | null
  stateBy: string | null
  stateSince: Instant
  stateUntil: Instant | null
  /** The resolved end of the plan times. */
  untilAt: Instant | null
  startAt: Instant
  nextAt: Instant | null
  wakeAt: Instant | null
  decidedThrough: Instant
  /** The interval of an `after` timing. */
  afterMs: number | null
  /** Where to count from now on; null to go on counting. */
  counted: number | null
  failures: number | null
  /** The version of the zone data that computed the cursor; null where no zone can move it. */
  zoneData: string | null
}

export type Written = ScheduleWrite & { change: ChangeWrite }

const RECORD = `jsonb_to_recordset($1::jsonb) as w (id uuid, name text, version int, job text, input jsonb, queue text,
  priority int, "group" text, scopes text[], timing jsonb, policies jsonb, description text, metadata jsonb,
  start_at timestamptz, end_at timestamptz, "limit" int, until_at timestamptz, source text, state text, state_reason text,
  state_by text, state_since timestamptz, state_until timestamptz, next_at timestamptz, wake_at timestamptz,
  decided_through timestamptz, after_ms bigint, counted int, failures int, zone_data text, action text, actor text, before jsonb, after jsonb)`

/** Creates schedules with their cursors and changes. Names that exist already are left out; returns those that are new. */
export async function insertSchedules(
  session: Session,
  written: readonly Written[],
  now: Instant,
): Promise<Set<string>> {
  const rows = await session.query<{ name: string }>(
    `with w as materialized (select * from ${RECORD}),
     created as (
       insert into {schema}.schedules (id, name, version, job, input, queue, priority, "group", scopes, timing, policies,
         description, metadata, start_at, end_at, "limit", until_at, source, state, state_reason, state_by, state_since,
         state_until, ledger_from, zone_data, zone_data_from, created_at, updated_at)
       select id, name, version, job, coalesce(input, 'null'), queue, priority, "group", scopes, timing, policies, description, metadata,
         start_at, end_at, "limit", until_at, source, state, state_reason, state_by, state_since, state_until,
         decided_through, zone_data, decided_through, $2, $2
       from w order by name
       on conflict (name) do nothing
       returning id, name
     ),
     cursors as (
       insert into {schema}.cursors (schedule_id, version, kind, provider, next_at, wake_at, decided_through, after_ms)
       select w.id, w.version, w.timing->>'kind', case when w.scopes is null then w.job end, w.next_at, w.wake_at,
         w.decided_through, w.after_ms
       from w join created using (id)
     ),
     changes as (
       insert into {schema}.changes (schedule_id, name, version, action, actor, before, after, state, boundary, zone_data,
         changed_at)
       select w.id, w.name, w.version, w.action, w.actor, w.before, w.after, w.state, w.decided_through, w.zone_data, $2
       from w join created using (id)
     )
     select name from created`,
    [recordsOf(written), new Date(now)],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Writes schedules whose cursors this transaction has locked, with their cursors and changes. */
export async function updateSchedules(
  session: Session,
  written: readonly Written[],
  now: Instant,
): Promise<void> {
  await session.query(
    `with w as materialized (select * from ${RECORD}),
     updated as (
       update {schema}.schedules as s
       set name = w.name, version = w.version, job = w.job, input = coalesce(w.input, 'null'), queue = w.queue, priority = w.priority,
         "group" = w."group", scopes = w.scopes, timing = w.timing, policies = w.policies, description = w.description,
         metadata = w.metadata, start_at = w.start_at, end_at = w.end_at, "limit" = w."limit", until_at = w.until_at,
         source = w.source, state = w.state, state_reason = w.state_reason, state_by = w.state_by,
         state_since = w.state_since, state_until = w.state_until, zone_data = w.zone_data,
         zone_data_from = case when s.zone_data is distinct from w.zone_data then w.decided_through else s.zone_data_from end,
         updated_at = $2
       from w where s.id = w.id
     ),
     cursors as (
       update {schema}.cursors as c
       set version = w.version, kind = w.timing->>'kind', provider = case when w.scopes is null then w.job end,
         next_at = w.next_at, wake_at = w.wake_at, decided_through = w.decided_through, plan_error = null,
         after_ms = w.after_ms, counted = coalesce(w.counted, c.counted), failures = coalesce(w.failures, c.failures)
       from w where c.schedule_id = w.id
     )
     insert into {schema}.changes (schedule_id, name, version, action, actor, before, after, state, boundary, zone_data,
       changed_at)
     select id, name, version, action, actor, before, after, state, decided_through, zone_data, $2 from w order by id`,
    [recordsOf(written), new Date(now)],
  )
}

function recordsOf(written: readonly Written[]): string {
  const iso = (instant: Instant | null) => (instant === null ? null : new Date(instant).toISOString())
  return JSON.stringify(
    written.map(({ content, change, ...schedule }) => ({
      ...content,
      id: schedule.id,
      name: schedule.name,
      version: schedule.version,
      start_at: iso(schedule.startAt),
      end_at: content.endAt,
      until_at: iso(schedule.untilAt),
      source: schedule.source,
      state: schedule.state,
      state_reason: schedule.stateReason,
      state_by: schedule.stateBy,
      state_since: iso(schedule.stateSince),
      state_until: iso(schedule.stateUntil),
      next_at: iso(schedule.nextAt),
      wake_at: iso(schedule.wakeAt),
      decided_through: iso(schedule.decidedThrough),
      after_ms: schedule.afterMs,
      counted: schedule.counted,
      failures: schedule.failures,
      zone_data: schedule.zoneData,
      ...change,
    })),
  )
}

/** Deletes schedules with their cursors and requests; with `runs` also every run, attempt, skip and change of theirs. */
export async function deleteSchedules(
  session: Session,
  ids: readonly string[],
  { runs }: { runs: 'keep' | 'delete' },
): Promise<void> {
  await session.query('delete from {schema}.schedules where id = any($1)', [ids])
  if (runs === 'keep') return
  await unpackSchedules(session, ids)
  // Those that are open first: after that nobody can end one, and the next statement sees all that have ended.
  await session.query(
    `delete from {schema}.runs_open as o using {schema}.runs_asked as asked
     where asked.schedule_id = any($1) and o.id = asked.id`,
    [ids],
  )
  await session.query(
    `with asked as (delete from {schema}.runs_asked where schedule_id = any($1) returning id)
     delete from {schema}.runs_ended as e using asked where e.id = asked.id`,
    [ids],
  )
  for (const table of ['skips', 'changes']) {
    await session.query(`delete from {schema}.${table} where schedule_id = any($1)`, [ids])
  }
}
