import type { RunState } from '../../runs/run.js'
import type { SkipReason } from '../../schedules/catch-up.js'
import type { Instant } from '../../time/instant.js'
import { RUN_TIME } from '../rows.js'
import { NOW, type Session } from '../store.js'

/** A run of an occurrence, or a range of plan times that were skipped for one reason. */
export interface RecentRow {
  schedule_id: string
  scope: string
  first_plan_time: Date
  last_plan_time: Date
  run_id: string | null
  state: RunState | null
  reason: SkipReason | null
}

/** Manual runs are no occurrences: so many runs are looked at for each that is wanted, and no more. */
const LOOKED_AT = 4

/**
 * Of each of these schedules the last `count` runs of occurrences, and as many skips, newest first; of the same plan time the run
 * comes first. Of schedules of this group, where one is given.
 */
export async function listRecent(
  session: Session,
  { ids, group, count }: { ids: readonly string[]; group: string | undefined; count: number },
): Promise<{ rows: RecentRow[]; now: Instant }> {
  const rows = await session.query<RecentRow & { now: Date }>(LIST_RECENT, [
    session.now(),
    ids,
    group ?? null,
    count,
    count * LOOKED_AT,
  ])
  return { rows: rows.filter(({ schedule_id }) => schedule_id !== null), now: rows[0]!.now.getTime() }
}

// For each schedule two looks into an index of its own history, and then one by one how those runs stand.
const LIST_RECENT = `
  with recent as materialized (
    select s.id as schedule_id, one.*
    from {schema}.schedules as s
    cross join lateral (
      (select r.scope, r.plan_time as first_plan_time, r.plan_time as last_plan_time, r.id as run_id, null as reason
       from (
         select r.id, r.scope, r.plan_time, r.trigger from {schema}.runs_asked as r
         where r.schedule_id = s.id order by ${RUN_TIME} desc, r.id desc limit $5
       ) as r
       where r.trigger in ('scheduled', 'backfill') order by r.plan_time desc, r.id desc limit $4)
      union all
      (select skip.scope, skip.first_plan_time, skip.last_plan_time, null, skip.reason from {schema}.skips as skip
       where skip.schedule_id = s.id order by skip.last_plan_time desc, skip.scope desc limit $4)
    ) as one
    where s.id = any ($2) and ($3::text is null or s."group" = $3)
  )
  select clock.now, recent.*,
    coalesce((select e.state from {schema}.runs_ended as e where e.id = recent.run_id),
      (select o.state from {schema}.runs_open as o where o.id = recent.run_id),
      (select r.state from {schema}.runs as r where r.id = recent.run_id)) as state
  from (select ${NOW} as now) as clock left join recent on true
  order by recent.last_plan_time desc, recent.scope desc, recent.run_id nulls last`
