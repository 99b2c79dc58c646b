/**
 * Counts what ran in each minute, once the minute is over: see store/queries/minutes.ts. It goes on beside the ticks, on a connection
 * of its own: with thousands of runs a second it takes a second or more, and nothing that is due waits for it.
 */
import { monotonicMs } from '../clock.js'
import type { Logger } from '../logger.js'
import { countMinutes } from '../store/queries/minutes.js'
import type { Store } from '../store/store.js'

/** After a pause, and in a database that has not counted yet. */
const BACK_MS = 6 * 3_600_000
const MINUTE_MS = 60_000
const LARGEST_PORTION_MS = 8 * MINUTE_MS
/** More than the one minute that each portion counts again: else it would end where the last one did, for ever. */
const SMALLEST_PORTION_MS = 2 * MINUTE_MS
const AFTER_FAILURE_MS = MINUTE_MS

export interface Minutes {
  /** Begins to count if a minute has ended since the last time. */
  look(): void
  /** Resolves when what was begun is done. */
  settled(): Promise<void>
  /** Ends after the portion that is under way; what is left is found the next time. */
  stop(): Promise<void>
}

export function createMinutes(store: Store, logger: Logger): Minutes {
  let through: Date | null = null
  /** Halved where it fails: what is too much for the deadline of a statement would be so again. */
  let portionMs = LARGEST_PORTION_MS
  let lookAtMs = Number.NEGATIVE_INFINITY
  let isStopping = false
  let counting: Promise<void> | undefined

  /** As sleeps are measured: by the clock that is set by hand where there is one. */
  const nowMs = () => store.now()?.getTime() ?? monotonicMs()

  async function count(): Promise<void> {
    try {
      let counted: Awaited<ReturnType<typeof countMinutes>>
      do {
        counted = await countMinutes(store, { through, backMs: BACK_MS, portionMs })
        through = counted.through ?? through
      } while (counted.has_more && !isStopping)
      lookAtMs = nowMs() + counted.ms_until_next
      // Whatever made it fail is over.
      if (!counted.has_more) portionMs = LARGEST_PORTION_MS
    } catch (error) {
      lookAtMs = nowMs() + AFTER_FAILURE_MS
      portionMs = Math.max(SMALLEST_PORTION_MS, portionMs / 2)
      logger.warn({ err: error }, 'what ran in the last minutes is counted later')
    }
  }

  const settled = async () => counting

  return {
    look() {
      if (counting !== undefined || nowMs() < lookAtMs) return
      isStopping = false
      counting = count().finally(() => {
        counting = undefined
      })
    },
    settled,
    stop() {
      isStopping = true
      return settled()
    },
  }
}
