/** Stable codes: programs branch on them, so one is added freely but never renamed. What each means is in the reference. */
export type ErrorCode =
  /** An option, a filter or an argument of a call is unknown, missing or out of range. */
  | 'option_invalid'
  /** A job cannot be registered: its definition is wrong, or there is one of its name already. */
  | 'job_invalid'
  /** The definition of a schedule is wrong. */
  | 'schedule_invalid'
  /** A timing cannot be read, or yields nothing. */
  | 'timing_invalid'
  /** The input does not fit the schema of the job. */
  | 'input_invalid'
  /** The declaration of a transition does not fit its table, or itself. */
  | 'transition_invalid'
  /** The configuration file is missing, cannot be loaded, or holds what is wrong. */
  | 'config_invalid'
  /** What is to be imported is no whole export, or is one of another schema version. */
  | 'export_invalid'
  /** No worker has ever published a job of that name, and this process has none. */
  | 'unknown_job'
  /** The schedule has no such plan time; `details.nearest` has those around it. */
  | 'not_a_plan_time'
  /** The range holds more than is answered or filled at once: ask for a shorter one. */
  | 'range_too_large'
  /** The database refused a value, or holds one that a program cannot hold exactly. */
  | 'value_out_of_range'
  /** There is no schedule of that name. */
  | 'schedule_not_found'
  /** There is no run of that id, or it was pruned. */
  | 'run_not_found'
  /** There is no token of that id. */
  | 'token_not_found'
  /** There is a schedule of that name already. */
  | 'schedule_exists'
  /** The schedule was changed or deleted since you read it: read it again. */
  | 'version_conflict'
  /** The plan time was decided already, so that it can no longer be skipped or taken back. */
  | 'already_decided'
  /** A run that is still open is in the way: of the same schedule, or of all before a move. */
  | 'run_open'
  /** The run has ended already. */
  | 'run_not_open'
  /** Only a failed run can be tried again. */
  | 'run_not_failed'
  /** The gate of the job is closed; its reason is in the message. */
  | 'gate_closed'
  /** The job has a gate, and this process does not have its code: ask a server that has it. */
  | 'gate_unavailable'
  /** The job did not give scopes, or this process has no code to ask for them. */
  | 'provider_failed'
  /** It took longer than it may: a handler its `timeout`, an export what its reader may take. */
  | 'timed_out'
  /** The lease of an attempt was lost: the run belongs to another worker, and the attempt no longer counts. */
  | 'lease_lost'
  /** The worker died or was stopped while it worked on a run of a job with `onStale: 'fail'`. */
  | 'stale_lease'
  /** It was given up on purpose: a run that was cancelled, an export that nobody reads, a question that was answered with no. */
  | 'cancelled'
  /** The request cannot be read: its body is no JSON in UTF-8, or its host or path is none. */
  | 'malformed_request'
  /** A field of the request is wrong; `mistakes` names each. */
  | 'request_invalid'
  /** The body is larger than is taken. */
  | 'body_too_large'
  /** The body was read before it came to Escapement, by a parser that is mounted before it. */
  | 'body_consumed'
  /** The body is of another type than JSON, or is encoded. */
  | 'media_type_unsupported'
  /** There is no token, or it is unknown, expired or revoked. */
  | 'unauthorized'
  /** The role, the group or the origin of the caller does not allow it. */
  | 'forbidden'
  /** A request that is opened by the session cookie lacks its `X-CSRF-Token`. */
  | 'csrf_missing'
  /** There is nothing at this path. */
  | 'not_found'
  /** The path does not know this method. */
  | 'method_not_allowed'
  /** As many read events as may at once. */
  | 'too_many_readers'
  /** Something went wrong that should not; the log says what. */
  | 'internal_error'
  /** The database does not answer. */
  | 'database_unreachable'
  /** Somebody else holds what this needs: a lock, or the only session. Try again soon. */
  | 'database_busy'
  /** The database cannot be used as it is: it is too old, lacks rights, or holds something else. The message says what to do. */
  | 'database_unusable'
  /** It needs a session of its own, which there is none behind a transaction pooler: connect directly. */
  | 'session_needed'
  /** The schema lacks migrations, and `migrate` is false. */
  | 'schema_outdated'
  /** The schema was migrated by a newer version than this. */
  | 'schema_newer'
  /** Everything was moved to another database: nothing can be changed here any more. */
  | 'moved'
  /** There is something already where an export is to be imported. */
  | 'target_not_empty'
  /** Another process has the folder of the embedded database. */
  | 'directory_in_use'
  /** The folder of the embedded database cannot be read, written or locked, or holds something else. */
  | 'directory_unusable'
  /** The port cannot be listened on. */
  | 'port_unavailable'
  /** No server answers at the URL, or something else does. */
  | 'server_unreachable'
  /** It was closed, or is shutting down. */
  | 'closed'

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
