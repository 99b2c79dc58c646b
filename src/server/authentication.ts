/**
 * Who asks. Everything is refused that is not known by one of four ways, in this order: the application's own
 * `authenticate`, a bearer token, the dashboard's cookie, and, while no token was ever made, being on this machine.
 *
 * A page on some other site can make a browser send requests here, also under a name of its own that resolves to this
 * machine; the browser then adds what it has of ours. So what needs no header that only our own pages can set is
 * held to the `Host` and the `Origin` of the request.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { ACCESS_ROLES, LOCAL_NAME, type TokenHolder, type Tokens } from '../client/tokens.js'
import type { Identity } from './identity.js'
import { ProblemError } from './problems.js'

export const SESSION_COOKIE = 'escapement_session'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i
/** Set by proxies: whoever comes through one is not on this machine. */
const FORWARDED = /^(?:forwarded|via|x-forwarded-.*|x-original-.*|.*-ip)$/

export interface Authentication {
  tokens: Tokens
  /** Whether whoever is on this machine is let in while no token was ever made. */
  trustsLoopback: boolean
  origins: readonly string[]
  authenticate: ((request: Request) => CustomIdentity | Promise<CustomIdentity>) | undefined
}

/** What the application says of a request: who it is, or null where it does not know. */
export type CustomIdentity = { name: string; role: Identity['role']; group?: string | null } | null

/** Throws the problem that answers a request from nobody we know. */
export function createAuthentication(options: Authentication): (request: Request) => Promise<Identity> {
  const { tokens, origins } = options
  let hasTokens = false

  async function bearer(header: string): Promise<Identity> {
    const [, text = ''] = /^Bearer +([\w.~+/=-]+) *$/i.exec(header) ?? []
    const holder = await tokens.verify(text)
    if (holder === null || holder.sessionId !== null) throw unauthorized()
    return { ...whoOf(holder), via: 'token' }
  }

  /** Undefined for a cookie that opens nothing: it may be of another server on the same host. */
  async function session(text: string, request: Request): Promise<Identity | undefined> {
    const holder = await tokens.verify(text)
    if (holder === null || holder.sessionId === null) return undefined
    const csrfToken = csrfTokenOf(text)
    if (!SAFE_METHODS.includes(request.method)) {
      expectOwnOrigin(request, origins)
      if (!isSame(request.headers.get('x-csrf-token') ?? '', csrfToken)) {
        throw new ProblemError('csrf_missing', {
          detail:
            'A request that the session cookie opens needs the header X-CSRF-Token: GET /api/v1/session has it.',
        })
      }
    }
    return { ...whoOf(holder), via: 'session', sessionId: holder.sessionId, csrfToken }
  }

  return async (request) => {
    const custom = readCustomIdentity((await options.authenticate?.(withoutBody(request))) ?? null)
    if (custom) {
      if (!SAFE_METHODS.includes(request.method)) expectOwnOrigin(request, origins)
      return { name: custom.name, role: custom.role, group: custom.group ?? null, via: 'custom' }
    }
    const header = request.headers.get('authorization')
    // Others, such as Basic, may be for a proxy on the way.
    if (header !== null && /^Bearer\b/i.test(header)) return bearer(header)
    for (const cookie of cookiesOf(request, SESSION_COOKIE)) {
      const identity = await session(cookie, request)
      if (identity) return identity
    }
    if (!options.trustsLoopback) throw unauthorized()
    // Once there was one, this machine needs one too, also when it has expired.
    hasTokens ||= await tokens.exist()
    if (hasTokens) throw unauthorized()
    expectLoopback(request)
    return { name: LOCAL_NAME, role: 'admin', group: null, via: 'local' }
  }
}

export function unauthorized(): ProblemError {
  return new ProblemError('unauthorized', {
    detail:
      'A valid token is needed: send it as "Authorization: Bearer …". Make one with: escapement tokens create <name> --role admin',
    headers: { 'www-authenticate': 'Bearer realm="escapement"' },
  })
}

/** Follows from the session's secret, so that nobody has to keep it. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

/** Several of one name come from several paths; more than a few are none of ours. */
function cookiesOf(request: Request, name: string): string[] {
  const parts = (request.headers.get('cookie') ?? '').split(';').map((part) => part.trim())
  const own = parts.filter((part) => part.startsWith(`${name}=`))
  return own.slice(0, 5).map((part) => part.slice(name.length + 1))
}

/** The body is read later, and once. */
function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal })
}

function whoOf({ name, role, group }: TokenHolder): Pick<Identity, 'name' | 'role' | 'group'> {
  return { name, role, group }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

function hostOf(request: Request): string {
  return request.headers.get('host') ?? new URL(request.url).host
}

/** A browser names the page's origin with whatever may change something. */
function expectOwnOrigin(request: Request, origins: readonly string[]): void {
  const origin = request.headers.get('origin')
  const isCrossSite = request.headers.get('sec-fetch-site') === 'cross-site'
  if (origin === null && !isCrossSite) return
  if (origin !== null && origins.includes(origin)) return
  if (origin !== null && !isCrossSite && URL.canParse(origin) && new URL(origin).host === hostOf(request))
    return
  throw new ProblemError('forbidden', { detail: 'Requests from pages of other origins are not answered.' })
}

function expectLoopback(request: Request): void {
  if (!LOOPBACK.test(hostOf(request)) || [...request.headers.keys()].some((name) => FORWARDED.test(name))) {
    throw new ProblemError('forbidden', {
      detail:
        'Without tokens only this machine is answered. Make one with: escapement tokens create <name> --role admin',
    })
  }
  expectOwnOrigin(request, [])
}

/** What it must not answer is refused: a mistake there would let anybody in. */
function readCustomIdentity(given: CustomIdentity): CustomIdentity {
  if (given === null) return null
  const { name, role, group = null } = given
  const isGroup = group === null || (typeof group === 'string' && group !== '')
  if (typeof name === 'string' && name !== '' && ACCESS_ROLES.includes(role) && isGroup) return given
  throw new TypeError(
    'authenticate must answer { name, role: "viewer" | "operator" | "admin", group? } or null',
  )
}
