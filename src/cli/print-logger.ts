import pc from 'picocolors'
import type { Logger } from '../logger.js'

/** One line for a person: the message, then the facts. */
function line(facts: object, message: string): string {
  const rest = Object.entries(facts).map(([name, value]) =>
    value instanceof Error
      ? value.message
      : `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  )
  return rest.length > 0 ? `${message} (${rest.join(', ')})` : message
}

/** Writes warnings and errors to standard error; the rest is for a log, not for a terminal. */
export const printLogger: Logger = {
  debug() {},
  info: (facts, message) => console.log(line(facts, message)),
  warn: (facts, message) => console.error(pc.yellow(line(facts, message))),
  error: (facts, message) => console.error(pc.red(line(facts, message))),
}
