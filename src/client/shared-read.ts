import { monotonicMs } from '../clock.js'
import type { Session } from '../store/store.js'

/** An answer that took longer than this is given again. */
const LONG_MS = 100
const KEPT_FOR_MS = 5_000

/**
 * A read whose cost grows with the number of rows, for any number of callers: those who ask at the same time share one, and
 * an answer that took long is given again for five seconds, so that watching a large system does not load it.
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
      own.untilMs = isKept && endedMs - beganMs > LONG_MS ? endedMs + KEPT_FOR_MS : 0
    }
    own.answer.then(
      () => settle(true),
      () => settle(false),
    )
    return own.answer
  }
}
