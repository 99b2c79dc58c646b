/** Where Escapement writes what an operator should know. A pino logger fits as it is. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Adds `facts` to every line. */
export function withFacts(logger: Logger, facts: object): Logger {
  return {
    debug: (more, message) => logger.debug({ ...facts, ...more }, message),
    info: (more, message) => logger.info({ ...facts, ...more }, message),
    warn: (more, message) => logger.warn({ ...facts, ...more }, message),
    error: (more, message) => logger.error({ ...facts, ...more }, message),
  }
}
