import type { Logger } from '../logger.js'
import { isMoved } from '../store/moved.js'

/**
 * For the loops of a process: that everything was moved away is the same news from each of them, and from each of their
 * attempts. It is told once, with what to do.
 */
export function tellMovedOnce(logger: Logger): Logger {
  const told = new Set<string>()
  const unlessMoved =
    (write: Logger['error']): Logger['error'] =>
    (facts, message) => {
      const { err } = facts as { err?: unknown }
      if (!isMoved(err)) return write(facts, message)
      const { message: reason } = err as Error
      if (told.has(reason)) return
      told.add(reason)
      logger.error({}, `${reason} This process does nothing any more: stop it.`)
    }
  return {
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: unlessMoved((facts, message) => logger.warn(facts, message)),
    error: unlessMoved((facts, message) => logger.error(facts, message)),
  }
}
