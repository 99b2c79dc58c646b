export interface HerdMinute {
  from: Date
  runs: number
}

const MINUTE_MS = 60_000
const MINUTES = 60

/** The forecast as sixty minutes, those without runs too, of all queues and groups together. */
export function minutesOf(buckets: readonly { from: string; runs: number }[], readAt: number): HerdMinute[] {
  const first = buckets[0] === undefined ? readAt : Date.parse(buckets[0].from)
  // Buckets begin when they were asked for, and the first of them may be empty.
  const begin = first - Math.floor((first - readAt) / MINUTE_MS) * MINUTE_MS
  const minutes = Array.from({ length: MINUTES }, (_, index) => ({
    from: new Date(begin + index * MINUTE_MS),
    runs: 0,
  }))
  for (const { from, runs } of buckets) {
    const minute = minutes[Math.round((Date.parse(from) - begin) / MINUTE_MS)]
    if (minute) minute.runs += runs
  }
  return minutes
}
