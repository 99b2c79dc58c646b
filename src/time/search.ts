/**
 * The bound on work: every loop that looks for an occurrence counts its steps here and gives up at the limit, so
 * that no text a user can write makes a search long. A bound in years alone would not do: a rule in seconds
 * can visit a billion candidates within one of them.
 *
 * One search runs at a time (it never awaits), hence one counter.
 */

/**
 * Months of the 400 years after which the Gregorian calendar repeats: who found nothing in all of them never
 * will. Rounded up for the segments of the zone that are visited on the way.
 */
export const MAX_SEARCH_STEPS = 5_000

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
