import { monotonicMs } from './clock.js'

const EVERY_MS = 10

/**
 * For long computations: called often, it lets handlers and leases of this process go on whenever the work has taken
 * long enough.
 */
export function createBreather(): () => Promise<void> {
  let since = monotonicMs()
  return async () => {
    if (monotonicMs() - since < EVERY_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    since = monotonicMs()
  }
}
