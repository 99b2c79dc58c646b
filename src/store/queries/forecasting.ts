import type { Timing } from '../../time/timing.js'
import { NOW, type Session } from '../store.js'

export interface ForecastGroup {
  timing: Timing
  until_at: Date | null
  begins_at: Date
  queue: string
  group: string | null
  /** Runs for each plan time. */
  runs: number
}

/** Active schedules that yield the same plan times, counted together. */
export function readForecastGroups(session: Session): Promise<ForecastGroup[]> {
  return session.query<ForecastGroup>(
    `with clock as materialized (select ${NOW} as now)
     select s.timing, s.until_at, greatest(s.start_at, clock.now) as begins_at, s.queue, s."group",
       sum(coalesce(cardinality(s.scopes), 1))::int as runs
     from {schema}.schedules as s cross join clock
     where s.state = 'active' and s.timing->>'kind' <> 'after'
     group by s.timing, s.until_at, greatest(s.start_at, clock.now), s.queue, s."group"
     union all
     -- Of these only the plan time that waits is known: as if it were once.
     select jsonb_build_object('kind', 'once', 'at', to_char(c.next_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'zone', 'UTC'), null, greatest(s.start_at, clock.now), s.queue, s."group", count(*)::int
     from {schema}.schedules as s join {schema}.cursors as c on c.schedule_id = s.id cross join clock
     where s.state = 'active' and s.timing->>'kind' = 'after' and c.next_at is not null
     group by c.next_at, greatest(s.start_at, clock.now), s.queue, s."group"`,
    [session.now()],
  )
}
