import type { Database } from '../store/database.js'

/**
 * Tells others that a worker has nothing to do, by a lock that its session holds meanwhile: nothing is written, and the lock is gone when the session is.
 */
export interface Resting {
  /** Soon, unless it is left before. */
  enter(): void
  /** At once: its place is taken. */
  leave(): void
  /** Whether others see it, or soon will, or still may. */
  isEntered(): boolean
  /** Resolves when the lock is let go of. */
  end(): Promise<void>
}

/** Under load a worker has nothing to do for a moment, time and again. */
const MOMENT_MS = 2

export function createResting(database: Pick<Database, 'holdLock'>, lock: string): Resting {
  let isWanted = false
  let letGo: (() => Promise<void>) | undefined
  let changing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** One after the other: the lock counts how often it was taken. */
  function settle(): void {
    if (changing || isWanted === (letGo !== undefined)) return
    changing = (isWanted ? take() : give())
      .catch(() => {
        isWanted = false
      })
      .finally(() => {
        changing = undefined
        settle()
      })
  }

  async function take(): Promise<void> {
    letGo = (await database.holdLock(lock, () => {})) ?? undefined
    if (!letGo) isWanted = false
  }

  async function give(): Promise<void> {
    const end = letGo!
    letGo = undefined
    await end()
  }

  function leave(): void {
    clearTimeout(timer)
    timer = undefined
    isWanted = false
    settle()
  }

  return {
    enter() {
      if (isWanted) return
      timer ??= setTimeout(() => {
        timer = undefined
        isWanted = true
        settle()
      }, MOMENT_MS).unref()
    },
    leave,
    isEntered: () => isWanted || timer !== undefined || letGo !== undefined || changing !== undefined,
    async end() {
      leave()
      while (changing) await changing
    },
  }
}
