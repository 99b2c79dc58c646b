import { pino } from 'pino'
import type { Logger } from '../logger.js'
import type { LogLevel } from './log-level.js'

/** One record per line on standard output, written before the call returns: nothing is lost when the process ends. */
export function createJsonLogger(level: LogLevel): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // What became of an attempt is told by code and message: it is no Error, and has neither type nor stack.
    serializers: { err: (err) => (err instanceof Error ? pino.stdSerializers.err(err) : err) },
  })
}
