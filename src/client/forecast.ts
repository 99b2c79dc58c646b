import { EscapementError } from '../errors.js'
import { gridOf } from '../schedules/plan.js'
import { readForecastGroups } from '../store/queries/forecasting.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'

export interface ForecastBucket {
  from: Date
  queue: string
  group: string | null
  /** Runs to come, as far as timings tell; scopes that a provider gives count as one. */
  runs: number
}

const MAX_BUCKETS = 10_000

/**
 * How many runs are to come in each bucket of time, by queue and group: herds are seen before they happen. Schedules
 * that share a timing are computed once.
 */
export async function forecast(
  store: Store,
  { from, to, bucketMs }: { from: Instant; to: Instant; bucketMs: number },
): Promise<ForecastBucket[]> {
  if (!(bucketMs > 0) || !(to > from) || (to - from) / bucketMs > MAX_BUCKETS) {
    throw new EscapementError('option_invalid', {
      message: `The range must be positive and hold at most ${MAX_BUCKETS} buckets: choose a shorter range or a larger bucket.`,
    })
  }
  const counts = new Map<string, ForecastBucket>()
  for (const row of await readForecastGroups(store)) {
    const grid = gridOf({ timing: compileTiming(row.timing), until: row.until_at?.getTime() ?? null })
    const start = Math.max(from, row.begins_at.getTime())
    for (let at = grid.next(start - 1); at !== null && at < to; at = grid.next(at)) {
      const bucket = from + Math.floor((at - from) / bucketMs) * bucketMs
      const key = JSON.stringify([bucket, row.queue, row.group])
      const entry = counts.get(key) ?? { from: new Date(bucket), queue: row.queue, group: row.group, runs: 0 }
      entry.runs += row.runs
      counts.set(key, entry)
    }
  }
  return [...counts.values()].sort(
    (a, b) => a.from.getTime() - b.from.getTime() || (a.queue < b.queue ? -1 : 1),
  )
}
