import { quote, type Report, readOrThrow } from '../time/report.js'
import { failureOf, notOurs, parsed, problemOf, redirectionOf } from './failures.js'
import type { Operation, Result } from './operations.js'
import { type AnyCallOptions, checkTimeout, makeRequest, type Sent, type Target } from './request.js'

/** What `createHttpClient` takes. */
export interface HttpClientOptions {
  /** Of the server, with the prefix if it is mounted under one: `http://127.0.0.1:4680`. */
  url: string
  /** As `escapement tokens create` made it; a server on this machine that has no tokens needs none. */
  token?: string | undefined
  /**
   * How long an answer may take, in milliseconds; `Infinity` for no limit.
   * @default 30000
   */
  timeoutMs?: number
  /** In place of the global one: to go through a proxy, or straight to a handler in this process. */
  fetch?: (request: Request) => Promise<Response>
}

export const HTTP_CLIENT_DEFAULTS = { timeoutMs: 30_000 } satisfies Partial<HttpClientOptions>

export interface Transport {
  call<Name extends Operation>(name: Name, sent?: Sent<Name>, options?: AnyCallOptions): Promise<Result<Name>>
  requestOf(name: Operation, sent: Sent<Operation>, options: AnyCallOptions): Request
  /** The answer bit by bit, if it is of that type; it throws for a problem as `call` does. */
  stream(request: Request, mediaType: string): AsyncGenerator<Uint8Array>
  /** What to throw for an answer that makes no sense. */
  nonsense(status: number): Error
}

export function createTransport(options: HttpClientOptions): Transport {
  const target = readTarget(options)
  const { base } = target
  const send = options.fetch ?? ((request: Request) => fetch(request))

  /** Whatever goes wrong, as an error that says what it is about. */
  async function attempt<T>({ signal }: Request, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw failureOf(base, error, signal)
    }
  }

  async function open(request: Request): Promise<Response> {
    const response = await attempt(request, async () => send(request))
    const redirection = redirectionOf(base, response)
    if (redirection) throw redirection
    if (response.ok) return response
    throw problemOf(base, response.status, await attempt(request, () => response.text()))
  }

  return {
    requestOf: (name, sent, more) => makeRequest(target, name, sent, more),
    nonsense: (status) => notOurs(base, status),
    async call(name, sent = {}, more = {}) {
      const request = makeRequest(target, name, sent as Sent<Operation>, more)
      const response = await open(request)
      if (response.status === 204) return undefined as never
      const answer = parsed(await attempt(request, () => response.text()))
      if (answer === undefined) throw notOurs(base, response.status)
      return answer as never
    },
    async *stream(request, mediaType) {
      const response = await open(request)
      const type = response.headers.get('content-type') ?? ''
      if (!response.body || type.split(';')[0]!.trim().toLowerCase() !== mediaType) {
        throw notOurs(base, response.status)
      }
      const reader = response.body.getReader()
      try {
        for (;;) {
          const { value, done } = await attempt(request, () => reader.read())
          if (done) return
          yield value
        }
      } finally {
        // It may have broken already.
        await reader.cancel().catch(() => {})
      }
    },
  }
}

/** As the server reads one. */
const TOKEN = /^[\w.~+/=-]+$/

function readTarget({ url, token, timeoutMs = HTTP_CLIENT_DEFAULTS.timeoutMs }: HttpClientOptions): Target {
  return readOrThrow('option_invalid', (report) => {
    const base = readUrl(url, report) ?? ''
    const trimmed = typeof token === 'string' ? token.trim() : token
    // Not repeated: it is a secret, if only a mistyped one.
    if (trimmed !== undefined && !TOKEN.test(trimmed)) report('token', 'is not one of ours')
    checkTimeout(timeoutMs, report)
    return { base, token: trimmed, timeoutMs }
  })
}

/** Without a slash at its end. What may hold a password is not repeated. */
function readUrl(url: unknown, report: Report): string | undefined {
  const shown = String(url).includes('@') ? '' : `${quote(url)} – `
  const refuse = (message: string) => report('url', `${shown}${message}`)
  if (typeof url !== 'string' || !URL.canParse(url)) {
    return refuse('must be the address of a server, such as "http://127.0.0.1:4680"')
  }
  const { protocol, username, password, origin, pathname, search, hash } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return refuse('must begin with http:// or https://')
  if (username !== '' || password !== '') {
    return refuse('must not hold a user and a password: what opens the server is a token')
  }
  if (search !== '' || hash !== '') return refuse('must end with its path, without "?" and "#"')
  return `${origin}${pathname.replace(/\/+$/, '')}`
}
