/** From all that is written to nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Whether what is of one level is written where another is the least. */
export function isWritten(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
}
