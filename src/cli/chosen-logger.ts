import type { Logger } from '../logger.js'
import { createJsonLogger } from './json-logger.js'
import type { LogFlags } from './log-flags.js'
import { createPrintLogger } from './print-logger.js'

export function loggerOf({ log, logLevel }: LogFlags): Logger {
  return log === 'json' ? createJsonLogger(logLevel) : createPrintLogger(logLevel)
}
