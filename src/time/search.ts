/**
 * The bound on work: every loop that looks for an occurrence counts its steps here and gives up at the limit, so
 * that no text a user can write makes a search long. A bound in years alone would not do: a rule in seconds
 * can visit a billion candidates within one of them.
 *
 * One search runs at a time (it never awaits), hence one counter.
 */

/**
 * A step looks at one day, month, or stretch of a zone, and takes some ten nanoseconds. A date falls on a given
 * weekday again within 40 years, which is a sixth of this in days; the rest is for counting through a
 * rule with COUNT. Who has found nothing by then never will.
 */
export const MAX_SEARCH_STEPS = 100_000

let steps = 0

export function startSearch(): void {
  steps = 0
}

/** Counts one step; false when the search has to give up. */
export function step(): boolean {
  steps += 1
  return steps < MAX_SEARCH_STEPS
}

/** Steps of the latest search, for tests and benchmarks. */
export function searchSteps(): number {
  return steps
}
