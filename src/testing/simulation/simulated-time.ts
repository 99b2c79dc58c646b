import type { Clock } from '../../clock.js'
import type { Instant } from '../../time/instant.js'

/** Whom a wait belongs to. One that is frozen does not notice that its waits are over. */
export interface Waiting {
  isFrozen(): boolean
}

interface Wait {
  owner: Waiting
  until: Instant
  /** A loop sleeps on it: it may as well wake later. Else something is to happen then: a renewal, a timeout. */
  isIdle: boolean
  end(): void
}

/**
 * The time of a simulation: it stands still until it is moved, and never goes back. All that waits for it is known, so that it
 * can be moved to where the next wait ends.
 */
export class SimulatedTime {
  readonly #began: Instant
  readonly #waits = new Set<Wait>()
  #now: Instant

  constructor(at: Instant) {
    this.#began = at
    this.#now = at
  }

  get now(): Instant {
    return this.#now
  }

  clockOf(owner: Waiting): Clock {
    return {
      now: () => this.#now,
      elapsedMs: () => this.#now - this.#began,
      sleep: (ms, signal) => this.#sleep(owner, ms, signal, true),
      after: (ms, act) => this.after(owner, ms, act),
    }
  }

  after(owner: Waiting, ms: number, act: () => void): () => void {
    const wait = this.#add({ owner, ms, isIdle: false, onEnd: act })
    return () => void this.#waits.delete(wait)
  }

  /** What a handler does for so long; ends early when `signal` aborts. */
  work(owner: Waiting, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#sleep(owner, ms, signal, false)
  }

  #sleep(owner: Waiting, ms: number, signal: AbortSignal | undefined, isIdle: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (ms <= 0 || signal?.aborted) return resolve()
      const onAbort = () => wait.end()
      const onEnd = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const wait = this.#add({ owner, ms, isIdle, onEnd })
      signal?.addEventListener('abort', onAbort)
    })
  }

  #add({ owner, ms, isIdle, onEnd }: { owner: Waiting; ms: number; isIdle: boolean; onEnd(): void }): Wait {
    const end = () => {
      if (this.#waits.delete(wait)) onEnd()
    }
    const wait: Wait = { owner, until: this.#now + Math.max(0, Math.ceil(ms)), isIdle, end }
    this.#waits.add(wait)
    return wait
  }

  /** As if there had been none: those who waited never hear of it. */
  forget(owner: Waiting): void {
    for (const wait of this.#waits) if (wait.owner === owner) this.#waits.delete(wait)
  }

  /** When the next wait ends, now at the earliest; idle ones only where they are asked for. */
  next({ idle }: { idle: boolean }): Instant {
    let next = Number.POSITIVE_INFINITY
    for (const wait of this.#waits) {
      if ((idle || !wait.isIdle) && wait.until < next && !wait.owner.isFrozen()) next = wait.until
    }
    return Math.max(next, this.#now)
  }

  moveTo(instant: Instant): void {
    this.#now = Math.max(this.#now, instant)
  }

  /** Ends what is not idle and over by now, the earliest first. Returns whether there was any. */
  endTimers(): boolean {
    const over = this.#over((wait) => !wait.isIdle)
    for (const wait of over) wait.end()
    return over.length > 0
  }

  /** Those whose idle waits are over, the one that has waited longest first. */
  overdue(): Waiting[] {
    return [...new Set(this.#over((wait) => wait.isIdle).map(({ owner }) => owner))]
  }

  wake(owner: Waiting): void {
    for (const wait of this.#over((one) => one.isIdle && one.owner === owner)) wait.end()
  }

  #over(isMeant: (wait: Wait) => boolean): Wait[] {
    const over = [...this.#waits].filter(
      (wait) => wait.until <= this.#now && !wait.owner.isFrozen() && isMeant(wait),
    )
    return over.sort((a, b) => a.until - b.until)
  }
}
