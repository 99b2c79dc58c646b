import { z } from 'zod'
import { csrfTokenOf, SESSION_COOKIE, unauthorized } from '../authentication.js'
import { Answer, routesOf, spec } from '../route.js'
import { Session } from '../schemas/token.js'

const common = { path: '/session', groups: 'own', tag: 'Session' } as const

export const SESSION_SPECS = {
  openSession: spec({
    ...common,
    method: 'post',
    role: 'anyone',
    summary: 'Open a session of the dashboard with a token',
    description:
      'Sets a cookie that scripts cannot read and other sites cannot send. It lasts twelve hours, and no longer than the token.',
    body: z.strictObject({ token: z.string().max(200) }),
    // Anybody may send one.
    bodyLimit: 1_024,
    answer: Session,
    problems: [],
  }),
  getSession: spec({
    ...common,
    method: 'get',
    role: 'viewer',
    summary: 'Who asks, and what they may do',
    answer: Session,
    problems: [],
  }),
  closeSession: spec({
    ...common,
    method: 'delete',
    role: 'viewer',
    summary: 'End the session',
    answer: null,
    problems: [],
  }),
}

/** For the whole host: what is mounted under a path here may be under another for the browser. */
function cookie(value: string, request: Request, rest: string): Record<string, string> {
  const isSecure =
    new URL(request.url).protocol === 'https:' ||
    /^https\b/i.test(request.headers.get('x-forwarded-proto') ?? '')
  const secure = isSecure ? '; Secure' : ''
  return {
    'set-cookie': `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${rest}`,
  }
}

export const sessionRoutes = routesOf(SESSION_SPECS, {
  async openSession({ escapement, body, request }) {
    const holder = await escapement.tokens.verify(body.token)
    if (holder === null || holder.sessionId !== null) throw unauthorized()
    const { token, expiresAt } = await escapement.tokens.openSession(holder.tokenId)
    const { name, role, group } = holder
    return new Answer(
      { name, role, group, via: 'session' as const, csrfToken: csrfTokenOf(token) },
      { headers: cookie(token, request, `; Expires=${expiresAt.toUTCString()}`) },
    )
  },
  getSession: ({ identity: { name, role, group, via, csrfToken = null } }) => ({
    name,
    role,
    group,
    via,
    csrfToken,
  }),
  async closeSession({ escapement, identity, request }) {
    if (identity.sessionId !== undefined) await escapement.tokens.revoke(identity.sessionId)
    return new Answer(undefined, { headers: cookie('', request, '; Max-Age=0') })
  },
})
