import { type ErrorCode, EscapementError } from '../errors.js'
import { type Body, OPERATIONS, type Operation, type Query, type Result } from './operations.js'

export interface HttpClientOptions {
  /** Of the server, with the prefix if it is mounted under one: `http://127.0.0.1:4680`. */
  url: string
  /** As `escapement tokens create` made it; a server on this machine that has no tokens needs none. */
  token?: string
  /**
   * How long an answer may take, in milliseconds.
   * @default 30000
   */
  timeoutMs?: number
  /** In place of the global one: to go through a proxy, or straight to a handler in this process. */
  fetch?: (request: Request) => Promise<Response>
}

export const HTTP_CLIENT_DEFAULTS = { timeoutMs: 30_000 } satisfies Partial<HttpClientOptions>

export interface CallOptions {
  /** The version that was read: an edit that came between is not overwritten. 0 creates and never replaces. */
  expectedVersion?: number
  /** The same again gives the same run. */
  idempotencyKey?: string
  timeoutMs?: number
  signal?: AbortSignal
}

export interface Sent<Name extends Operation> {
  params?: Readonly<Record<string, string>>
  query?: Query<Name> | undefined
  body?: Body<Name> | undefined
}

export interface Transport {
  call<Name extends Operation>(name: Name, sent?: Sent<Name>, options?: CallOptions): Promise<Result<Name>>
  /** The answer itself, for a stream; it throws for a problem as `call` does. */
  open(request: Request): Promise<Response>
  requestOf(name: Operation, sent: Sent<Operation>, options: CallOptions): Request
}

export function createTransport({ url, token, timeoutMs, fetch: given }: HttpClientOptions): Transport {
  if (!URL.canParse(url)) {
    throw new EscapementError('option_invalid', {
      message: `url: ${JSON.stringify(url)} – must be the address of a server, such as "http://127.0.0.1:4680"`,
    })
  }
  const base = url.replace(/\/+$/, '')
  const send = given ?? ((request: Request) => fetch(request))

  function requestOf(name: Operation, { params = {}, query, body }: Sent<Operation>, options: CallOptions) {
    const [method, template] = OPERATIONS[name]
    const path = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key]!))
    return new Request(`${base}/api/v1${path}${searchOf(query ?? {})}`, {
      method: method.toUpperCase(),
      headers: headersOf(token, options, body !== undefined),
      signal: signalOf(options, timeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async function open(request: Request): Promise<Response> {
    const response = await send(request).catch((error) => {
      throw unreachable(base, error)
    })
    if (!response.ok) throw await errorOf(response, base)
    return response
  }

  return {
    requestOf,
    open,
    async call(name, sent = {}, options = {}) {
      const response = await open(requestOf(name, sent as Sent<Operation>, options))
      if (response.status === 204) return undefined as never
      return (await response.json()) as never
    },
  }
}

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`
}

function headersOf(token: string | undefined, options: CallOptions, hasBody: boolean): Headers {
  const headers = new Headers({ accept: 'application/json' })
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  if (hasBody) headers.set('content-type', 'application/json')
  const { expectedVersion, idempotencyKey } = options
  if (expectedVersion === 0) headers.set('if-none-match', '*')
  else if (expectedVersion !== undefined) headers.set('if-match', `"${expectedVersion}"`)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  return headers
}

function signalOf({ signal, timeoutMs }: CallOptions, usualMs = HTTP_CLIENT_DEFAULTS.timeoutMs): AbortSignal {
  const deadline = AbortSignal.timeout(timeoutMs ?? usualMs)
  return signal ? AbortSignal.any([signal, deadline]) : deadline
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
}

function unreachable(base: string, cause: unknown): unknown {
  const { name, message, cause: inner } = cause as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'AbortError') return cause
  const reason =
    name === 'TimeoutError'
      ? 'it did not answer in time'
      : (REASONS[inner?.code ?? ''] ?? inner?.message ?? message)
  return new EscapementError('server_unreachable', {
    message: `Cannot reach the server at ${base}: ${reason}.`,
    details: { url: base },
    cause,
  })
}

/** The problem as the error that it is; what is none came from something between us and the server. */
async function errorOf(response: Response, base: string): Promise<EscapementError> {
  const problem = (await response.json().catch(() => null)) as {
    code?: ErrorCode
    detail?: string
    mistakes?: unknown
    details?: object
  } | null
  if (typeof problem?.code !== 'string') {
    return new EscapementError('server_unreachable', {
      message: `The server at ${base} answered ${response.status}, and not in our words: is it Escapement?`,
      details: { url: base, status: response.status },
    })
  }
  const { code, detail = code, mistakes, details } = problem
  return new EscapementError(code, {
    message: detail,
    details: { ...details, ...(mistakes !== undefined && { mistakes }), status: response.status },
  })
}
