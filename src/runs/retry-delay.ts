import type { DurationInput } from '../time/duration.js'

/** When a failed attempt is followed by another one. */
export interface RetryPolicy {
  /**
   * How many attempts a run has in all. At least 1.
   * @default 3
   */
  attempts?: number
  /**
   * How long to wait after the first, second, … failed attempt; the last one repeats. An empty list means no retry. Or
   * a wait that grows.
   * @default ['10s', '1m', '10m']
   */
  backoff?: readonly DurationInput[] | ExponentialBackoff
}

/** Waits `first`, then `factor` times as long each time, up to `max`. */
export interface ExponentialBackoff {
  /** The first wait. */
  first: DurationInput
  /**
   * How many times as long the next one is.
   * @default 2
   */
  factor?: number
  /**
   * The longest wait.
   * @default '1 hour'
   */
  max?: DurationInput
  /**
   * The share of each wait that is left to chance, so that what failed together does not come back together: 0 for
   * none, 1 for all of it.
   * @default 0.5
   */
  jitter?: number
}

export const RETRY_DEFAULTS = { attempts: 3, backoff: ['10s', '1m', '10m'] } satisfies RetryPolicy
export const BACKOFF_DEFAULTS = {
  factor: 2,
  max: '1 hour',
  jitter: 0.5,
} satisfies Partial<ExponentialBackoff>

export interface Retry {
  attempts: number
  backoff: readonly number[] | { firstMs: number; factor: number; maxMs: number; jitter: number }
}

/** The wait after attempt number `attempt` failed, or null when the run has none left. `random` is from 0 to 1. */
export function retryDelayMs({ attempts, backoff }: Retry, attempt: number, random: number): number | null {
  if (attempt >= attempts) return null
  if (!('firstMs' in backoff)) return backoff[Math.min(attempt, backoff.length) - 1] ?? null
  // Infinite after many attempts, and that times nothing is no number.
  const grown = Math.min(backoff.factor ** (attempt - 1), Number.MAX_VALUE)
  const whole = Math.min(backoff.firstMs * grown, backoff.maxMs)
  return Math.round(whole * (1 - backoff.jitter * random))
}

/** Thrown by a handler: this run has failed for good, whatever attempts it has left. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError'
}

/** Thrown by a handler: the next attempt, if there is one left, begins after this long. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError'
  readonly after: DurationInput

  constructor(message: string, { after, ...options }: { after: DurationInput } & ErrorOptions) {
    super(message, options)
    this.after = after
  }
}

/** Whether something is of these classes, be it of another copy of this module. */
export function isNonRetryable(error: unknown): boolean {
  return error instanceof NonRetryableError || nameOf(error) === 'NonRetryableError'
}

export function isRetryAfter(error: unknown): error is RetryAfterError {
  return error instanceof RetryAfterError || nameOf(error) === 'RetryAfterError'
}

function nameOf(error: unknown): unknown {
  return (error as { name?: unknown } | null | undefined)?.name
}
