import type { Logger } from '../logger.js'
import { colours, errorColours } from './colours.js'
import { harmless } from './harmless.js'
import { isWritten, type LogLevel } from './log-level.js'

/** One line for a person: the message, then the facts. */
function line(facts: object, message: string): string {
  const rest = Object.entries(facts).map(([name, value]) =>
    value instanceof Error
      ? value.message
      : `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  )
  return rest.length > 0 ? `${message} (${rest.join(', ')})` : message
}

/** Writes warnings and errors to standard error. */
export function createPrintLogger(level: LogLevel): Logger {
  const from = (least: LogLevel, write: (text: string) => void): Logger['info'] =>
    isWritten(least, level) ? (facts, message) => write(harmless(line(facts, message))) : () => {}
  return {
    debug: from('debug', (text) => console.log(colours.dim(text))),
    info: from('info', (text) => console.log(text)),
    warn: from('warn', (text) => console.error(errorColours.yellow(text))),
    error: from('error', (text) => console.error(errorColours.red(text))),
  }
}
