import type { Instant } from '../time/instant.js'

/** Takes a schedule out after repeated failure. */
export interface Breaker {
  /** So many scheduled runs in a row that failed, or succeeded with errors. */
  failures: number
  /** After this long it is tried again, and the next failure takes it out again; null for never. */
  cooldown: string | null
}

/** A schedule that its breaker takes out. */
export interface Breakage {
  scheduleId: string
  schedule: string
  version: number
  reason: string
  /** How many have failed in a row. */
  failures: number
  cooldown: string | null
}

/** How a run of a schedule ended, as far as its breaker is concerned. */
export interface BreakerOutcome {
  planTime: Instant
  failed: boolean
}

/**
 * Counts outcomes in the order of their plan times. Returns the failures in a row after the last one, or after the one
 * that broke it: what follows that changes nothing.
 */
export function countFailures(
  { failures: limit }: Breaker,
  before: number,
  outcomes: readonly BreakerOutcome[],
): { failures: number; isBroken: boolean } {
  let failures = before
  for (const { failed } of [...outcomes].sort((a, b) => a.planTime - b.planTime)) {
    failures = failed ? failures + 1 : 0
    if (failures >= limit) return { failures, isBroken: true }
  }
  return { failures, isBroken: false }
}
