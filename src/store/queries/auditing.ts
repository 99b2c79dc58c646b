import type { RunTrigger } from '../../runs/run.js'
import type { SkipReason } from '../../schedules/catch-up.js'
import type { ScheduleContent, ScheduleState } from '../../schedules/schedule.js'
import type { Instant } from '../../time/instant.js'
import { RUN_TIME } from '../rows.js'
import type { Session } from '../store.js'

export interface AuditedChange {
  after: ScheduleContent | null
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

interface AuditedSkip {
  scope: string
  first_plan_time: Date
  last_plan_time: Date
  reason: SkipReason
}

/** A schedule with its whole ledger. */
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
  changes: AuditedChange[]
  runs: AuditedRun[]
  skips: AuditedSkip[]
}

/**
 * Schedules after an id, with what the ledger holds of them: four statements for a page. The cursors are bounded by the
 * id as well, or the join would read them from the first one on, for each page.
 */
export async function readAuditPage(
  session: Session,
  {
    after,
    limit,
    from,
    to,
  }: { after: string; limit: number; from?: Instant | undefined; to?: Instant | undefined },
): Promise<AuditedSchedule[]> {
  const range = [from === undefined ? null : new Date(from), to === undefined ? null : new Date(to)] as const
  const schedules = await session.query<AuditedSchedule>(LIST_AUDITED, [after, limit])
  const ids = schedules.map(({ id }) => id)
  const changes = await session.query<AuditedChange & Owned>(
    `select schedule_id, after, state, boundary, zone_data from {schema}.changes where schedule_id = any($1) order by id`,
    [ids],
  )
  const runs = await session.query<AuditedRun & Owned>(
    `select r.schedule_id, r.id, r.scope, r.plan_time, r.trigger from {schema}.runs as r
     where r.schedule_id = any($1) and r.trigger in ('scheduled', 'backfill')
       and ($2::timestamptz is null or ${RUN_TIME} >= $2) and ($3::timestamptz is null or ${RUN_TIME} < $3)`,
    [ids, ...range],
  )
  const skips = await session.query<AuditedSkip & Owned>(
    `select schedule_id, scope, first_plan_time, last_plan_time, reason from {schema}.skips
     where schedule_id = any($1) and ($2::timestamptz is null or last_plan_time >= $2)
       and ($3::timestamptz is null or first_plan_time < $3)
     order by first_plan_time`,
    [ids, ...range],
  )
  const [changesOf, runsOf, skipsOf] = [byOwner(changes), byOwner(runs), byOwner(skips)]
  return schedules.map((schedule) => ({
    ...schedule,
    changes: changesOf.get(schedule.id) ?? [],
    runs: runsOf.get(schedule.id) ?? [],
    skips: skipsOf.get(schedule.id) ?? [],
  }))
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

interface Owned {
  schedule_id: string
}

function byOwner<Row extends Owned>(rows: readonly Row[]): Map<string, Row[]> {
  const owned = new Map<string, Row[]>()
  for (const row of rows) {
    const own = owned.get(row.schedule_id)
    if (own) own.push(row)
    else owned.set(row.schedule_id, [row])
  }
  return owned
}
