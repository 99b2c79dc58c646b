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
     where s.state = 'active'
     group by s.timing, s.until_at, greatest(s.start_at, clock.now), s.queue, s."group"`,
    [session.now()],
  )
}
