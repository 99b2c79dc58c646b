import { monotonicMs } from './clock.js'

/**
 * How a loop shows that it turns. Sleeping is part of turning, and so is waiting out a database that is away: what it must not do
 * is to wait for something that never comes.
 */
export interface Pulse {
  begin(): void
  /** It goes on, somewhere within a pass. */
  beat(): void
  /** A whole pass is done, and it sleeps for so long. */
  passed(sleepMs: number): void
  /** The database did not answer, and it tries again after so long. */
  waitsOut(sleepMs: number): void
  end(): void
  /** Null while it is not to turn. */
  state(): PulseState | null
}

export interface PulseState {
  /** Since its last whole pass, or since it began. */
  sincePassMs: number
  /** For how long nothing was heard of it that should have been. */
  silentMs: number
  isWaitingOut: boolean
}

export function createPulse(): Pulse {
  let isTurning = false
  let isWaitingOut = false
  let passedAtMs = 0
  let expectedAtMs = 0

  function expect(sleepMs: number): void {
    expectedAtMs = monotonicMs() + sleepMs
  }

  function passed(sleepMs: number): void {
    isWaitingOut = false
    passedAtMs = monotonicMs()
    expect(sleepMs)
  }

  return {
    begin() {
      isTurning = true
      passed(0)
    },
    beat: () => expect(0),
    passed,
    waitsOut(sleepMs) {
      isWaitingOut = true
      expect(sleepMs)
    },
    end() {
      isTurning = false
    },
    state() {
      if (!isTurning) return null
      const now = monotonicMs()
      return { sincePassMs: now - passedAtMs, silentMs: Math.max(0, now - expectedAtMs), isWaitingOut }
    },
  }
}
