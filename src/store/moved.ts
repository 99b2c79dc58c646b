import { EscapementError } from '../errors.js'

/** What `refuse_changes` of migration 0014 raises. */
const MOVED_STATE = 'MV001'

/** The refusal of a database that was moved away, as an error of ours; any other error as it is. */
export function explainMoved(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string }
  return code === MOVED_STATE ? new EscapementError('moved', { message: message!, cause: error }) : error
}

export function isMoved(error: unknown): boolean {
  return error instanceof EscapementError && error.code === 'moved'
}
