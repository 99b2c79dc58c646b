/**
 * Stable codes: programs branch on them, so one is added freely but never renamed.
 */
export type ErrorCode =
  | 'option_invalid'
  | 'job_invalid'
  | 'unknown_job'
  | 'schedule_invalid'
  | 'schedule_not_found'
  | 'schedule_exists'
  | 'already_decided'
  | 'not_a_plan_time'
  | 'forbidden'
  | 'run_open'
  | 'range_too_large'
  | 'provider_failed'
  | 'run_not_found'
  | 'token_not_found'
  | 'forbidden'
  | 'timing_invalid'
  | 'transition_invalid'
  | 'input_invalid'
  | 'version_conflict'
  | 'database_unreachable'
  | 'database_unusable'
  | 'database_busy'
  | 'session_needed'
  | 'directory_in_use'
  | 'directory_unusable'
  | 'moved'
  | 'export_invalid'
  | 'target_not_empty'
  | 'schema_newer'
  | 'schema_outdated'
  | 'value_out_of_range'
  | 'config_invalid'
  | 'port_unavailable'
  | 'server_unreachable'
  | 'body_consumed'
  | 'lease_lost'
  | 'stale_lease'
  | 'cancelled'
  | 'run_not_open'
  | 'run_not_failed'
  | 'gate_closed'
  | 'gate_unavailable'
  | 'timed_out'
  | 'closed'
  | 'malformed_request'
  | 'request_invalid'
  | 'unauthorized'
  | 'csrf_missing'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'media_type_unsupported'
  | 'too_many_readers'
  | 'internal_error'

/** One thing that is wrong with an input: where, what was given, and what to do. */
export interface Mistake {
  /** Dotted path from the caller's point of view, such as `timing.expression`. */
  field: string
  message: string
}

export interface ErrorFacts {
  message: string
  details?: Readonly<Record<string, unknown>>
  cause?: unknown
}

/** The only class of error that Escapement throws on purpose. Branch on `code`, show `message`. */
export class EscapementError extends Error {
  override readonly name = 'EscapementError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, { message, details = {}, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/** Reports every mistake of one input at once: `details.mistakes` holds them apart. */
export function mistakesError(code: ErrorCode, mistakes: readonly Mistake[]): EscapementError {
  const message = mistakes.map(({ field, message }) => `${field}: ${message}`).join('\n')
  return new EscapementError(code, { message, details: { mistakes } })
}
