import { monotonicMs } from '../clock.js'
import type { Session } from '../store/store.js'

/** An answer that took longer than this is given again, for nine times as long: reading takes a tenth of the time at most. */
const LONG_MS = 100
const REST = 9
const MOST_KEPT_MS = 5_000

/**
 * A read whose cost grows with the number of rows, for any number of callers: those who ask at the same time share one, and
 * an answer that took long is given again for up to five seconds, so that watching a large system does not load it.
 */
export function sharedRead<T>(session: Session, read: () => Promise<T>): () => Promise<T> {
  let last: { answer: Promise<T>; untilMs: number; now: number | undefined } | undefined
  return () => {
    const now = session.now()?.getTime()
    if (last && last.now === now && monotonicMs() < last.untilMs) return last.answer
    const beganMs = monotonicMs()
    const own = { answer: read(), untilMs: Number.POSITIVE_INFINITY, now }
    last = own
    const settle = (isKept: boolean) => {
      const endedMs = monotonicMs()
      const tookMs = endedMs - beganMs
      own.untilMs = isKept && tookMs > LONG_MS ? endedMs + Math.min(REST * tookMs, MOST_KEPT_MS) : 0
    }
    own.answer.then(
      () => settle(true),
      () => settle(false),
    )
    return own.answer
  }
}
