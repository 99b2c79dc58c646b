import { createBreather } from '../breather.js'
import { EscapementError } from '../errors.js'
import { type ForecastGroup, readForecastGroups } from '../store/queries/forecasting.js'
import type { Store } from '../store/store.js'
import { describe } from '../time/describe.js'
import type { Instant } from '../time/instant.js'
import { compileTiming, type Timing } from '../time/timing.js'

export interface ForecastBucket {
  from: Date
  queue: string
  group: string | null
  /** Runs to come, as far as timings tell; scopes that a provider gives count as one. */
  runs: number
}

interface ForecastRange {
  from: Instant
  to: Instant
  bucketMs: number
}

const MAX_BUCKETS = 10_000
/** Of one timing: more than eleven days of seconds. */
const MAX_PLAN_TIMES = 1_000_000

/**
 * How many runs are to come in each bucket of time, by queue and group: herds are seen before they happen. Schedules
 * that share a timing are computed once.
 */
export async function forecast(store: Store, range: ForecastRange): Promise<ForecastBucket[]> {
  const { from, to, bucketMs } = range
  if (!(bucketMs > 0) || !(to > from) || (to - from) / bucketMs > MAX_BUCKETS) {
    throw new EscapementError('option_invalid', {
      message: `The range must be positive and hold at most ${MAX_BUCKETS} buckets: choose a shorter range or a larger bucket.`,
    })
  }
  const breathe = createBreather()
  const counts = new Map<string, ForecastBucket>()
  for (const groups of byTiming(await readForecastGroups(store))) {
    const times = await planTimesOf(groups[0]!.timing, spanOf(groups, range), breathe)
    for (const group of groups) {
      await breathe()
      countInto(counts, group, times, range)
    }
  }
  return [...counts.values()].sort(
    (a, b) => a.from.getTime() - b.from.getTime() || compare(a.queue, b.queue) || compare(a.group, b.group),
  )
}

function byTiming(groups: readonly ForecastGroup[]): ForecastGroup[][] {
  const found = new Map<string, ForecastGroup[]>()
  for (const group of groups) {
    // They come from jsonb, which has one order of keys.
    const key = JSON.stringify(group.timing)
    const own = found.get(key)
    if (own) own.push(group)
    else found.set(key, [group])
  }
  return [...found.values()]
}

/** What must be computed for all of them. */
function spanOf(
  groups: readonly ForecastGroup[],
  { from, to }: ForecastRange,
): { from: Instant; to: Instant } {
  let [first, end] = [Number.POSITIVE_INFINITY, from]
  for (const { begins_at, until_at } of groups) {
    first = Math.min(first, begins_at.getTime())
    end = Math.max(end, until_at?.getTime() ?? to)
  }
  return { from: Math.max(from, first), to: Math.min(to, end) }
}

async function planTimesOf(
  timing: Timing,
  { from, to }: { from: Instant; to: Instant },
  breathe: () => Promise<void>,
): Promise<Instant[]> {
  const compiled = compileTiming(timing)
  const times: Instant[] = []
  for (let at = compiled.next(from - 1); at !== null && at < to; at = compiled.next(at)) {
    if (times.length === MAX_PLAN_TIMES) throw tooOften(timing)
    times.push(at)
    if (times.length % 1_000 === 0) await breathe()
  }
  return times
}

function tooOften(timing: Timing): EscapementError {
  return new EscapementError('range_too_large', {
    message: `from, to: "${describe(timing)}" has more than ${MAX_PLAN_TIMES} plan times in this range. Choose a shorter one.`,
    details: { timing, limit: MAX_PLAN_TIMES },
  })
}

/** One step for each bucket in which the group has plan times. */
function countInto(
  counts: Map<string, ForecastBucket>,
  { begins_at, until_at, queue, group, runs }: ForecastGroup,
  times: readonly Instant[],
  { from, to, bucketMs }: ForecastRange,
): void {
  const end = firstFrom(times, Math.min(to, until_at?.getTime() ?? to))
  for (let index = firstFrom(times, begins_at.getTime()); index < end; ) {
    const bucket = from + Math.floor((times[index]! - from) / bucketMs) * bucketMs
    const next = Math.min(end, firstFrom(times, bucket + bucketMs))
    const key = JSON.stringify([bucket, queue, group])
    const entry = counts.get(key) ?? { from: new Date(bucket), queue, group, runs: 0 }
    entry.runs += runs * (next - index)
    counts.set(key, entry)
    index = next
  }
}

/** The index of the first that is not before `instant`. */
function firstFrom(times: readonly Instant[], instant: Instant): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! < instant) low = middle + 1
    else high = middle
  }
  return low
}

/** Null comes first. */
function compare(a: string | null, b: string | null): number {
  if (a === b) return 0
  if (a === null) return -1
  return b !== null && a < b ? -1 : 1
}
