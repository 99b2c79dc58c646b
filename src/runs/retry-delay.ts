import type { DurationInput } from '../time/duration.js'

/** When a failed attempt is followed by another one. */
export interface RetryPolicy {
  /**
   * How many attempts a run has in all. At least 1.
   * @default 3
   */
  attempts?: number
  /**
   * How long to wait after the first, second, … failed attempt; the last one repeats. An empty list means no retry.
   * @default ['10s', '1m', '10m']
   */
  backoff?: readonly DurationInput[]
}

export const RETRY_DEFAULTS = { attempts: 3, backoff: ['10s', '1m', '10m'] } satisfies RetryPolicy

export interface Retry {
  attempts: number
  backoffMs: readonly number[]
}

/** The wait after attempt number `attempt` failed, or null when the run has none left. */
export function retryDelayMs({ attempts, backoffMs }: Retry, attempt: number): number | null {
  if (attempt >= attempts || backoffMs.length === 0) return null
  return backoffMs[Math.min(attempt, backoffMs.length) - 1]!
}
