import type { Instant } from './time/instant.js'

/**
 * Whose clock decides. Every decision (what is due, which lease has expired) takes `now` from the database, so that
 * a host with a wrong clock changes nothing; a clock only says whether something else is to be taken for it.
 */
export interface Clock {
  /** The instant that statements are to take for `now`, or null for the database's own clock. */
  now(): Instant | null
  /** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Milliseconds from an arbitrary start, never going back: how the loops measure what has passed. */
  elapsedMs(): number
  /** Calls `act` once, after `ms`: renewals, timeouts, retries. The answer takes it back. */
  after(ms: number, act: () => void): () => void
}

/** What passes on this host, whatever the time of day is taken to be. */
export const hostTimers: Pick<Clock, 'elapsedMs' | 'after'> = {
  elapsedMs: monotonicMs,
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

/** The clock of production: the database tells the time, the host only waits. */
export const databaseClock: Clock = {
  now: () => null,
  ...hostTimers,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done)
    }),
}

/** Milliseconds from an arbitrary start, never going back: for measuring durations, not for telling the time. */
export function monotonicMs(): number {
  return performance.now()
}

/** The host's time of day, for showing and previewing; nothing is decided by it. */
export function hostNow(): Instant {
  return Date.now()
}
