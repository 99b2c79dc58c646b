import { monotonicMs } from './clock.js'

/**
 * A question to the database that may be asked at any time and by anybody, such as by probes: however many ask, one is
 * under way at a time, and its answer, also that there is none, is kept for `keepMs`.
 *
 * Who asks waits for `patienceMs` at most. The question itself goes on, so that a database that went silent has one
 * connection waiting for it and not one more for each who asks.
 */
export function createSharedReading<T>(
  read: () => Promise<T>,
  { keepMs, patienceMs }: { keepMs: number; patienceMs: number },
): () => Promise<T> {
  let reading: Promise<T> | undefined
  let keptUntilMs = Number.POSITIVE_INFINITY

  function begin(): Promise<T> {
    keptUntilMs = Number.POSITIVE_INFINITY
    const begun = read()
    const onAnswer = () => {
      keptUntilMs = monotonicMs() + keepMs
    }
    begun.then(onAnswer, onAnswer)
    return begun
  }

  return () => {
    if (monotonicMs() >= keptUntilMs) reading = undefined
    reading ??= begin()
    return inTime(reading, patienceMs)
  }
}

function inTime<T>(reading: Promise<T>, patienceMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The database has not answered within ${patienceMs / 1000} s.`))
    const timer = setTimeout(late, patienceMs)
    reading.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
