import { type Clock, hostTimers } from '../clock.js'
import type { Instant } from '../time/instant.js'

/**
 * A clock that stands still until it is set. It stands in for the database's clock in every statement. Timeouts of handlers and
 * renewals of leases stay with the host: a handler may wait for something real.
 */
export interface ManualClock extends Clock {
  now(): Instant
  /** Moves to an instant, also back, and ends the sleeps that are over by then. */
  set(instant: Instant): void
}

export function createManualClock(at: Instant): ManualClock {
  let current = at
  const sleepers = new Set<{ until: Instant; end(): void }>()
  return {
    ...hostTimers,
    now: () => current,
    set(instant) {
      current = instant
      for (const sleeper of sleepers) if (sleeper.until <= current) sleeper.end()
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal.aborted) return resolve()
        const sleeper = {
          until: current + ms,
          end() {
            sleepers.delete(sleeper)
            signal.removeEventListener('abort', sleeper.end)
            resolve()
          },
        }
        sleepers.add(sleeper)
        signal.addEventListener('abort', sleeper.end)
      }),
  }
}
