import { EscapementError } from '../errors.js'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Is the server running, and is the port right?',
  ENOTFOUND: 'there is no host of that name.',
  EAI_AGAIN: 'the host name could not be looked up.',
  ETIMEDOUT: 'no answer. Is a firewall in between?',
  ECONNRESET: 'the connection was cut. Does the server want TLS (?sslmode=require)?',
  '28P01': 'the password is wrong.',
  '28000': 'this user may not connect.',
  '3D000': 'there is no database of that name. Create it first: createdb NAME',
  '53300': 'the server has no connection left.',
  '57P03': 'the server is starting up or shutting down.',
}

/** Says in one line where we tried to connect and what to do; a password in the URL is never repeated. */
export function unreachable(url: string | undefined, cause: unknown): EscapementError {
  const code = String((cause as { code?: unknown }).code ?? '')
  const message = cause instanceof Error ? cause.message : String(cause)
  const reason = REASONS[code] ?? refusedParameter(message) ?? message
  const target = url === undefined ? 'the given pool' : describeTarget(url)
  return new EscapementError('database_unreachable', {
    message: `Cannot use PostgreSQL at ${target}: ${reason}`,
    details: { target, code },
    cause,
  })
}

/** PgBouncer takes few of the parameters that a URL can have. */
function refusedParameter(message: string): string | undefined {
  const [, name] = /unsupported startup parameter: (\S+)/.exec(message) ?? []
  if (name === undefined) return
  return `the pooler refuses "${name}". Take it out of the URL, or name it in the pooler's ignore_startup_parameters.`
}

/** Host, port and database of a URL, without user or password. */
function describeTarget(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url)
    return `${hostname || 'localhost'}:${port || '5432'}${pathname}`
  } catch {
    return 'the given URL'
  }
}
