export interface HerdMinute {
  from: Date
  runs: number
}

const MINUTE_MS = 60_000
const MINUTES = 60

/** The forecast as sixty minutes, those without runs too, of all queues and groups together. */
export function minutesOf(buckets: readonly { from: string; runs: number }[], from: number): HerdMinute[] {
  const minutes = Array.from({ length: MINUTES }, (_, index) => ({
    from: new Date(from + index * MINUTE_MS),
    runs: 0,
  }))
  for (const bucket of buckets) {
    const minute = minutes[Math.floor((Date.parse(bucket.from) - from) / MINUTE_MS)]
    if (minute) minute.runs += bucket.runs
  }
  return minutes
}
