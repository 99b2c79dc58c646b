import { type ErrorCode, EscapementError } from '../errors.js'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
}

/** What it means that sending, or reading what came, failed. Whoever gave a signal gets its own reason back. */
export function failureOf(base: string, error: unknown, signal: AbortSignal): unknown {
  const cause = signal.aborted ? signal.reason : error
  const { name, message, cause: inner } = Object(cause) as Error & { cause?: NodeJS.ErrnoException }
  if (cause instanceof EscapementError) return cause
  if (signal.aborted && name !== 'TimeoutError') return cause
  const reason =
    name === 'TimeoutError'
      ? 'it did not answer in time'
      : (REASONS[inner?.code ?? ''] ?? inner?.message ?? message ?? String(cause))
  return new EscapementError('server_unreachable', {
    message: `Cannot reach the server at ${base}: ${reason}.`,
    details: { url: base },
    cause,
  })
}

/** An answer that came from something between us and the server, or from something else altogether. */
export function notOurs(base: string, status: number): EscapementError {
  return new EscapementError('server_unreachable', {
    message: `The server at ${base} answered ${status}, and not in our words: is it Escapement?`,
    details: { url: base, status },
  })
}

/** Undefined for an answer that is none. In a browser a redirect has neither a status nor a place. */
export function redirectionOf(base: string, response: Response): EscapementError | undefined {
  const { status, type, headers } = response
  if (type !== 'opaqueredirect' && (status < 300 || status > 399)) return undefined
  const location = headers.get('location')
  const place = location !== null && URL.canParse(location, base) ? new URL(location, base) : null
  const where = place ? ` to ${place.origin}${place.pathname}` : ''
  return new EscapementError('server_unreachable', {
    message: `The server at ${base} redirects${where}, which is not followed: give the address of Escapement itself.`,
    details: { url: base, status },
  })
}

/** The problem as the error that it is. */
export function problemOf(base: string, status: number, text: string): EscapementError {
  const problem = parsed(text) as {
    code?: ErrorCode
    detail?: string
    mistakes?: unknown
    details?: object
  } | null
  if (typeof problem?.code !== 'string') return notOurs(base, status)
  const { code, detail = code, mistakes, details } = problem
  return new EscapementError(code, {
    message: detail,
    details: { ...details, ...(mistakes !== undefined && { mistakes }), status },
  })
}

/** Undefined for what is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
