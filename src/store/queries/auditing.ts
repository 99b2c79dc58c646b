import type { RunTrigger } from '../../runs/run.js'
import type { SkipReason } from '../../schedules/catch-up.js'
import type { ScheduleContent, ScheduleState } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import type { Param } from '../database.js'
import { RUN_TIME } from '../rows.js'
import type { Session } from '../store.js'

/** A change that says what the schedule held from then on. */
export interface AuditedChange {
  after: ScheduleContent
  state: ScheduleState
  boundary: Date
  zone_data: string | null
}

export interface AuditedRun {
  id: string
  scope: string
  plan_time: Date
  trigger: RunTrigger
}

export interface AuditedSkip {
  scope: string
  first_plan_time: Date
  last_plan_time: Date
  reason: SkipReason
}

/** What the ledger and the change log hold of a schedule, each in the order of time. */
interface Ledger {
  changes: AuditedChange
  runs: AuditedRun
  skips: AuditedSkip
}

export interface AuditedSchedule {
  id: string
  /** Null of one that was deleted before the change log kept names. */
  name: string | null
  is_deleted: boolean
  created_at: Date
  state: ScheduleState
  ledger_from: Date
  decided_through: Date
  zone_data: string | null
  zone_data_from: Date | null
}

export interface AuditRange {
  from?: Instant | undefined
  to?: Instant | undefined
}

/**
 * Schedules after an id. The cursors are bounded by the id as well, or the join would read them from the first one on,
 * for each page.
 */
export function listAudited(
  session: Session,
  { after, limit }: { after: string; limit: number },
): Promise<AuditedSchedule[]> {
  return session.query<AuditedSchedule>(LIST_AUDITED, [after, limit])
}

/** Those that there are, and those that were deleted and whose history was kept, both by id. */
const LIST_AUDITED = `
  (select s.id, s.name, false as is_deleted, s.created_at, s.state, s.ledger_from,
     coalesce(c.decided_through, s.ledger_from) as decided_through, s.zone_data, s.zone_data_from
   from {schema}.schedules as s left join {schema}.cursors as c on c.schedule_id = s.id and c.schedule_id > $1
   where s.id > $1 order by s.id limit $2)
  union all
  (select d.schedule_id, d.name, true, first.changed_at, d.state, first.boundary, d.boundary, null, null
   from {schema}.changes as d cross join lateral (
     select c.changed_at, c.boundary from {schema}.changes as c where c.schedule_id = d.schedule_id order by c.id limit 1
   ) as first
   where d.action = 'delete' and d.schedule_id > $1 order by d.schedule_id limit $2)
  order by id limit $2`

/** The first rows of each schedule, `limit` of each at most. */
export async function readFirst<Part extends keyof Ledger>(
  session: Session,
  part: Part,
  ids: readonly string[],
  { limit, ...range }: AuditRange & { limit: number },
): Promise<Map<string, Ledger[Part][]>> {
  const rows = await session.query<Ledger[Part] & { schedule_id: string }>(
    PARTS[part],
    paramsOf(part, ids, limit, range),
  )
  const owned = new Map<string, Ledger[Part][]>()
  for (const row of rows) {
    const own = owned.get(row.schedule_id)
    if (own) own.push(row)
    else owned.set(row.schedule_id, [row])
  }
  return owned
}

/** All rows of one schedule, `portion` at a time, in a transaction. There can be one stream of each part at a time. */
export async function* streamAll<Part extends keyof Ledger>(
  session: Session,
  part: Part,
  id: string,
  { portion, ...range }: AuditRange & { portion: number },
): AsyncGenerator<Ledger[Part][], void> {
  const cursor = `audited_${part}`
  await session.query(
    `declare ${cursor} no scroll cursor for ${PARTS[part]}`,
    paramsOf(part, [id], null, range),
  )
  for (let isLast = false; !isLast; ) {
    const rows = await session.query<Ledger[Part]>(`fetch ${portion} from ${cursor}`)
    isLast = rows.length < portion
    yield rows
  }
  await session.query(`close ${cursor}`)
}

/** Long computations in between would have the transaction ended for being idle. */
export async function keepAwake(session: Session): Promise<void> {
  await session.query('select')
}

function paramsOf(
  part: keyof Ledger,
  ids: readonly string[],
  limit: number | null,
  { from, to }: AuditRange,
): Param[] {
  const date = (instant: Instant | undefined) => (instant === undefined ? null : new Date(instant))
  return part === 'changes' ? [ids, limit] : [ids, limit, date(from), date(to)]
}

/** Row by row for each schedule, so that a limit holds for each, and each one's rows come in order. */
const PARTS: Readonly<Record<keyof Ledger, string>> = {
  changes: `
    select c.* from unnest($1::uuid[]) as owner (id) cross join lateral (
      select c.schedule_id, c.after, c.state, c.boundary, c.zone_data from {schema}.changes as c
      where c.schedule_id = owner.id and c.after is not null
      order by c.id limit $2::bigint
    ) as c`,
  runs: `
    select r.* from unnest($1::uuid[]) as owner (id) cross join lateral (
      select r.schedule_id, r.id, r.scope, r.plan_time, r.trigger from {schema}.runs_asked as r
      where r.schedule_id = owner.id and r.trigger in ('scheduled', 'backfill')
        and ($3::timestamptz is null or ${RUN_TIME} >= $3) and ($4::timestamptz is null or ${RUN_TIME} < $4)
      order by ${RUN_TIME}, r.id limit $2::bigint
    ) as r`,
  skips: `
    select k.* from unnest($1::uuid[]) as owner (id) cross join lateral (
      select k.schedule_id, k.scope, k.first_plan_time, k.last_plan_time, k.reason from {schema}.skips as k
      where k.schedule_id = owner.id and ($3::timestamptz is null or k.last_plan_time >= $3)
        and ($4::timestamptz is null or k.first_plan_time < $4)
      order by k.first_plan_time, k.scope limit $2::bigint
    ) as k`,
}
