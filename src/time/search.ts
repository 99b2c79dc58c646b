/**
 * The bound on work: every loop that looks for an occurrence counts its steps here and gives up at the limit, so
 * that no text a user can write makes a search long. A bound in years alone would not do: a rule in seconds
 * can visit a billion candidates within one of them.
 *
 * One search runs at a time (it never awaits), hence one counter.
 */

/** A step looks at one month, one stretch of a zone, or one period of a rule: a fraction of a microsecond each. */
export const MAX_SEARCH_STEPS = 20_000

/** The months of the 400 years after which the calendar repeats: who has found no day in them never will. */
export const MAX_EMPTY_MONTHS = 4_800

let steps = 0

export function startSearch(): void {
  steps = 0
}

/** Counts one step; false when the search has to give up. */
export function step(): boolean {
  if (steps >= MAX_SEARCH_STEPS) return false
  steps += 1
  return true
}

/** The search has spent its steps: what it did not find may still exist. */
export function gaveUp(): boolean {
  return steps >= MAX_SEARCH_STEPS
}

/** Steps of the latest search, for tests and benchmarks. */
export function searchSteps(): number {
  return steps
}
