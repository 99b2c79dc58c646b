import { AsyncResource } from 'node:async_hooks'
import { monotonicMs } from '../clock.js'
import { notify } from '../store/queries/notifying.js'
import type { Store } from '../store/store.js'

/**
 * Tells workers that there are new runs. While a transaction that notifies is on its way to the disk no other one can commit that notifies
 * too: callers who come one after another would each wait for all before them. So whoever comes first tells the workers in its own transaction,
 * and those who come within a moment have it told after theirs, once for all of them, by one that has nothing to bring to the disk.
 */
export interface WorkerCalls {
  /** `make` is given the channel to tell workers on in its transaction; null where it is done after it, if there is news. */
  around<T>(make: (channel: string | null) => Promise<T>, hasNews: (made: T) => boolean): Promise<T>
  /** Tells at once what is still to be told. */
  close(): Promise<void>
}

const MOMENT_MS = 5

export function createWorkerCalls(store: Store): WorkerCalls {
  // The embedded database has one session: nobody waits for another's commit.
  if (store.database.kind !== 'postgres')
    return { around: (make) => make(store.channel), close: async () => {} }
  let toldMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let telling: Promise<void> = Promise.resolve()

  // Bound to where it was made: what happens inside a transaction may be what starts the timer.
  const tell = AsyncResource.bind((): void => {
    clearTimeout(timer)
    timer = undefined
    toldMs = monotonicMs()
    // A hint: whoever is not told looks by himself after a while.
    telling = notify(store, store.channel, 'runs').catch(() => {})
  })

  return {
    async around(make, hasNews) {
      const now = monotonicMs()
      const isFirst = now >= toldMs + MOMENT_MS
      if (isFirst) toldMs = now
      const made = await make(isFirst ? store.channel : null)
      if (!isFirst && hasNews(made)) timer ??= setTimeout(tell, toldMs + MOMENT_MS - monotonicMs())
      return made
    },
    async close() {
      if (timer !== undefined) tell()
      await telling
    },
  }
}
