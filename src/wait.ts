import type { Clock } from './clock.js'

/**
 * The longest sleep of a loop: bounds how late it sees what another process did whose notification was lost, or which can
 * send it none.
 */
export const longestSleepMs = ({ canListen }: { canListen: boolean }): number => (canListen ? 5_000 : 1_000)

/**
 * The sleep of a loop: ends after the time given, when woken, or when stopped. A wake that comes while the loop is at
 * work is remembered, so that none falls between looking and sleeping.
 */
export interface Wait {
  /** Resolves to whether it was woken. */
  sleep(ms: number): Promise<boolean>
  wake(): void
}

/** Given as the reason, so that none is made up: wakes come by the thousand. */
const WOKEN = new Error('woken')

export function createWait(clock: Clock): Wait {
  let woken = false
  let sleeper: AbortController | undefined
  return {
    async sleep(ms) {
      if (!woken) {
        sleeper = new AbortController()
        await clock.sleep(ms, sleeper.signal)
        sleeper = undefined
      }
      const wasWoken = woken
      woken = false
      return wasWoken
    },
    wake() {
      woken = true
      sleeper?.abort(WOKEN)
      sleeper = undefined
    },
  }
}
