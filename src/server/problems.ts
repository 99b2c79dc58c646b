import { type ErrorCode, EscapementError, type Mistake } from '../errors.js'
import { withSecurityHeaders } from './security-headers.js'

/** All that is not here is content that is well-formed and wrong: 422. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  malformed_request: 400,
  unauthorized: 401,
  forbidden: 403,
  csrf_missing: 403,
  not_found: 404,
  schedule_not_found: 404,
  run_not_found: 404,
  token_not_found: 404,
  method_not_allowed: 405,
  gate_closed: 409,
  run_open: 409,
  already_decided: 409,
  schedule_exists: 409,
  moved: 410,
  version_conflict: 412,
  body_too_large: 413,
  media_type_unsupported: 415,
  internal_error: 500,
  database_unreachable: 503,
  database_busy: 503,
  closed: 503,
  too_many_readers: 503,
}

export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 422
}

/** RFC 9457, with our code, and every mistake of an input apart. */
interface Problem {
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  mistakes?: readonly Mistake[]
  details?: Readonly<Record<string, unknown>>
}

export interface ProblemFacts {
  detail: string
  mistakes?: readonly Mistake[]
  details?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
}

/** Thrown inside a request to answer it with a problem. */
export class ProblemError extends Error {
  readonly code: ErrorCode
  readonly facts: ProblemFacts

  constructor(code: ErrorCode, facts: ProblemFacts) {
    super(facts.detail)
    this.code = code
    this.facts = facts
  }
}

export function problemResponse(code: ErrorCode, { headers = {}, ...facts }: ProblemFacts): Response {
  const status = statusOf(code)
  const problem: Problem = {
    type: `urn:escapement:problem:${code}`,
    title: titleOf(code),
    status,
    code,
    ...facts,
  }
  const response = Response.json(problem, {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
  return withSecurityHeaders(response)
}

/** `schedule_not_found` → `Schedule not found`. */
function titleOf(code: ErrorCode): string {
  const words = code.replaceAll('_', ' ')
  return words[0]!.toUpperCase() + words.slice(1)
}

/** The answer to what went wrong on purpose; undefined where it was not. */
export function problemOf(error: unknown): Response | undefined {
  if (error instanceof ProblemError) return problemResponse(error.code, error.facts)
  if (!(error instanceof EscapementError)) return undefined
  const { mistakes, ...details } = error.details as { mistakes?: readonly Mistake[] }
  return problemResponse(error.code, {
    detail: error.message,
    ...(mistakes !== undefined && { mistakes }),
    ...(Object.keys(details).length > 0 && { details }),
    ...(statusOf(error.code) === 503 && { headers: { 'retry-after': '1' } }),
  })
}
