import { EscapementError } from '../../../errors.js'
import type { Instant } from '../../../time/index.js'

export interface Range {
  from: Instant
  to: Instant
}

/** What a backfill of a range says: the plan times, and the runs that they have or would get. */
export interface Filled {
  planTimes: readonly string[]
  runIds: readonly string[]
}

/** So many runs at once that progress shows, and Ctrl+C is heard soon. */
const RUNS_AT_ONCE = 1_000

/**
 * Cuts a range into parts that one call can fill, oldest first, by what a dry run finds in it. A range that holds more than the
 * API allows is halved until each half does not.
 */
export async function findPortions(
  range: Range,
  dryRun: (range: Range) => Promise<Filled>,
): Promise<Range[]> {
  let found: Filled
  try {
    found = await dryRun(range)
  } catch (error) {
    const middle = Math.floor((range.from + range.to) / 2)
    const isTooLarge = error instanceof EscapementError && error.code === 'range_too_large'
    if (!isTooLarge || middle === range.from) throw error
    const earlier = await findPortions({ from: range.from, to: middle }, dryRun)
    return [...earlier, ...(await findPortions({ from: middle, to: range.to }, dryRun))]
  }
  return portionsOf(range, found)
}

function portionsOf({ to }: Range, { planTimes, runIds }: Filled): Range[] {
  const runsPerPlanTime = Math.ceil(runIds.length / planTimes.length)
  const step = Math.max(1, Math.floor(RUNS_AT_ONCE / runsPerPlanTime))
  const portions: Range[] = []
  for (let index = 0; index < planTimes.length; index += step) {
    const next = planTimes[index + step]
    portions.push({ from: Date.parse(planTimes[index]!), to: next === undefined ? to : Date.parse(next) })
  }
  return portions
}
