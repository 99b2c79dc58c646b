import { createBreather } from '../breather.js'
import { EscapementError } from '../errors.js'
import type { ForecastGroup } from '../store/queries/forecasting.js'
import { describe } from '../time/describe.js'
import type { Instant } from '../time/instant.js'
import { type CompiledTiming, compileTiming, type Timing } from '../time/timing.js'

export interface ForecastBucket {
  from: Date
  /** Null where queues are counted together. */
  queue: string | null
  /** Null for schedules in none, and where groups are counted together. */
  group: string | null
  /** Runs to come, as far as timings tell; scopes that a provider gives count as one. */
  runs: number
}

export interface ForecastRange {
  from: Instant
  to: Instant
  bucketMs: number
}

export interface Counting {
  /** For how many schedules each one that was read stands. */
  scale: number
  /** How much may be computed, in plan times, before the others are taken to be like those that were. */
  mostWork: number
}

export interface Counted {
  buckets: ForecastBucket[]
  /** Whether all that was read was computed. */
  isWhole: boolean
}

/** Of one timing: more than eleven days of seconds. */
const MAX_PLAN_TIMES = 1_000_000
/** Of all: what fits into memory and an answer. */
const MAX_ENTRIES = 200_000
/** What it costs to make a timing ready, and one plan time of a recurrence rule, in plan times of the others. */
const COST_OF_TIMING = 100
const COST_BY_RULE = 20

/**
 * Schedules that share a timing are computed once. Where that is too much work, the timings of many are computed first, so that no herd
 * is missed; of the others as many as there is work left for, which then stand for the rest.
 */
export async function countRuns(
  groups: readonly ForecastGroup[],
  range: ForecastRange,
  { scale, mostWork }: Counting,
): Promise<Counted> {
  const timings = byTiming(groups).sort((a, b) => b.runs - a.runs)
  const first = await countSome(timings, range, mostWork / 2)
  const others = timings.slice(first.visited)
  const spread = Array.from(evenlyThrough(others.length), (index) => others[index]!)
  const rest = await countSome(spread, range, mostWork / 2)
  const standsFor = rest.runs === 0 ? 1 : total(others) / rest.runs
  const counts = first.counts
  for (const [key, bucket] of rest.counts) {
    const known = counts.get(key)
    counts.set(key, { ...bucket, runs: (known?.runs ?? 0) + bucket.runs * standsFor })
  }
  const buckets = [...counts.values()].map((bucket) => ({ ...bucket, runs: Math.round(bucket.runs * scale) }))
  return {
    buckets: buckets.sort(
      (a, b) => a.from.getTime() - b.from.getTime() || compare(a.queue, b.queue) || compare(a.group, b.group),
    ),
    isWhole: rest.visited === others.length,
  }
}

/** Groups with one timing. */
interface SharedTiming {
  timing: Timing
  groups: ForecastGroup[]
  runs: number
}

const total = (timings: readonly SharedTiming[]) => timings.reduce((sum, { runs }) => sum + runs, 0)

function byTiming(groups: readonly ForecastGroup[]): SharedTiming[] {
  const found = new Map<string, SharedTiming>()
  for (const group of groups) {
    // They come from jsonb, which has one order of keys.
    const key = JSON.stringify(group.timing)
    const shared = found.get(key) ?? { timing: group.timing, groups: [], runs: 0 }
    shared.groups.push(group)
    shared.runs += group.runs
    found.set(key, shared)
  }
  return [...found.values()]
}

/** Counts one after the other until the work is done, or as much of it as may be. */
async function countSome(timings: readonly SharedTiming[], range: ForecastRange, mostWork: number) {
  const breathe = createBreather()
  const counts = new Map<string, ForecastBucket>()
  let [work, visited, runs] = [0, 0, 0]
  for (const shared of timings) {
    if (work >= mostWork) break
    const times = await planTimesOf(shared.timing, spanOf(shared.groups, range), breathe)
    for (const group of shared.groups) {
      await breathe()
      countInto(counts, group, times, range)
    }
    if (counts.size > MAX_ENTRIES) throw tooMany()
    work += COST_OF_TIMING + times.length * (shared.timing.kind === 'rrule' ? COST_BY_RULE : 1)
    visited += 1
    runs += shared.runs
  }
  return { counts, visited, runs }
}

const GOLDEN = (Math.sqrt(5) - 1) / 2

/**
 * All places up to a count, in an order in which those of any beginning lie evenly among all: whatever order the database gives,
 * the first ones are like the rest.
 */
export function* evenlyThrough(count: number): Generator<number> {
  let step = Math.max(1, Math.round(count * GOLDEN))
  while (commonDivisor(step, count) > 1) step += 1
  for (let visited = 0, at = 0; visited < count; visited++, at = (at + step) % count) yield at
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
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

/** Null for a timing of a newer program, or in a zone that this host does not know: one schedule must not hide all others. */
export function compiledHere(timing: Timing): CompiledTiming | null {
  try {
    return compileTiming(timing)
  } catch {
    return null
  }
}

async function planTimesOf(
  timing: Timing,
  { from, to }: { from: Instant; to: Instant },
  breathe: () => Promise<void>,
): Promise<Instant[]> {
  const compiled = compiledHere(timing)
  const times: Instant[] = []
  if (compiled === null) return times
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

function tooMany(): EscapementError {
  return new EscapementError('range_too_large', {
    message: `by: the answer would have more than ${MAX_ENTRIES} entries. Count queues or groups together ("by"), or choose a shorter range or a larger bucket.`,
    details: { limit: MAX_ENTRIES },
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
