/**
 * How late runs start, as counts in buckets: percentiles of several minutes follow from the sums of their counts, while
 * those of each minute could not be put together.
 *
 * Each power of two is cut into four buckets of the same width, so that one is at most a quarter as wide as where it begins;
 * below 8 ms each millisecond has its own. Counts that are stored mean these bounds: they cannot be changed.
 */
const WHOLE_BELOW_MS = 8
const PARTS = 4
/** Some fifty days; what is later than that is in the last bucket. */
const LAST_BOUND_MS = 2 ** 32

/** Where the buckets but the first begin, in milliseconds: what is below all of them has no lateness at all. */
export const LATENESS_BOUNDS: readonly number[] = boundsOf()

function boundsOf(): number[] {
  const bounds = Array.from({ length: WHOLE_BELOW_MS - 1 }, (_, index) => index + 1)
  for (let power = WHOLE_BELOW_MS; power < LAST_BOUND_MS; power *= 2) {
    for (let part = 0; part < PARTS; part++) bounds.push(power + (part * power) / PARTS)
  }
  return [...bounds, LAST_BOUND_MS]
}

export interface Lateness {
  /** Of how many runs. */
  runs: number
  p50: number
  p95: number
  p99: number
  max: number
}

/** Null where no run started. The greatest is known exactly; percentiles are within a bucket, so up to an eighth off. */
export function latenessOf(counts: readonly number[], max: number): Lateness | null {
  const runs = counts.reduce((sum, count) => sum + count, 0)
  if (runs === 0) return null
  const at = (share: number) => percentileOf(counts, Math.ceil(share * runs), max)
  return { runs, p50: at(0.5), p95: at(0.95), p99: at(0.99), max }
}

/** The lateness that `wanted` runs do not exceed: their share of the way through the bucket that holds the last of them. */
function percentileOf(counts: readonly number[], wanted: number, max: number): number {
  let before = 0
  for (const [index, count] of counts.entries()) {
    if (count > 0 && before + count >= wanted) {
      const from = index === 0 ? 0 : LATENESS_BOUNDS[index - 1]!
      // The clock has whole milliseconds: a bucket that is one wide holds but one value.
      const last = Math.min(max, (LATENESS_BOUNDS[index] ?? Number.POSITIVE_INFINITY) - 1)
      return Math.round(from + Math.max(0, last - from) * ((wanted - before) / count))
    }
    before += count
  }
  return max
}
