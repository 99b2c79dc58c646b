/**
 * The HTTP API as one fetch handler. A request passes, in this order: who asks (nobody unknown gets further, not even to
 * learn which paths there are), which operation it is, whether they may, what they send, and then the operation itself.
 */
import { type Context, Hono } from 'hono'
import type { AccessRole } from '../client/tokens.js'
import type { Escapement } from '../escapement.js'
import type { Logger } from '../logger.js'
import { isContended, isCutOff, isRefusal } from '../store/refusal.js'
import { createAuthentication } from './authentication.js'
import { createDashboard } from './dashboard.js'
import { createEventHub } from './event-hub.js'
import { type Identity, mayDo } from './identity.js'
import { type MetricsOnDemand, metricsOnDemand } from './metrics.js'
import { API_PREFIX, createOpenApi } from './openapi.js'
import { type HandlerOptions, type HandlerSettings, readHandlerOptions } from './options.js'
import { createPages } from './pages.js'
import { underPrefix } from './prefix.js'
import { ProblemError, problemOf, problemResponse } from './problems.js'
import { createRedaction, type Redaction } from './redaction.js'
import { readRequest } from './request.js'
import { Answer, type Call, type Route } from './route.js'
import { createRoutes } from './routes/index.js'
import { withSecurityHeaders } from './security-headers.js'
import { nameRoute, withTraceOf } from './tracing.js'

/** What any framework can serve. */
export type FetchHandler = (request: Request) => Promise<Response>

export interface ApiHandler extends FetchHandler {
  /** Ends the streams of events that are open, and counts for metrics no more. */
  close(): void
}

type Env = { Variables: { identity: Identity } }

export function createHandler(escapement: Escapement, options: HandlerOptions = {}): ApiHandler {
  const settings = readHandlerOptions(options)
  const hub = createEventHub(escapement, settings.events)
  const metrics = metricsOnDemand(escapement)
  const app = createApp({ escapement, settings, metrics, routes: createRoutes(hub) })
  const bare: FetchHandler = async (request) => app.fetch(request)
  const handler = settings.prefix === '' ? bare : underPrefix(bare, settings.prefix)
  const traced: FetchHandler = (request) => withTraceOf(request, () => handler(request))
  return Object.assign(traced, {
    close() {
      metrics.close()
      hub.close().catch(() => {})
    },
  })
}

interface AppParts {
  escapement: Escapement
  settings: HandlerSettings
  metrics: MetricsOnDemand
  routes: Readonly<Record<string, Route>>
}

/** Every path is declared with a role; one that is not is not there. */
export function createApp({ escapement, settings, metrics, routes }: AppParts): Hono<Env> {
  const app = new Hono<Env>()
  const document = createOpenApi(routes, settings.prefix)
  const pages = createPages({ escapement, document, metrics })
  const dashboard = settings.dashboard ? createDashboard(settings.prefix) : undefined
  const open = new Set(openPaths(routes, pages))
  const authenticate = createAuthentication({
    tokens: escapement.tokens,
    trustsLoopback: settings.auth === 'local',
    origins: settings.origins,
    authenticate: settings.authenticate,
  })
  const redaction = createRedaction(settings.redact)

  app.use(async (context, next) => {
    const { method, path, raw } = context.req
    const file = await dashboard?.answer(raw, path)
    if (file) return withSecurityHeaders(file)
    if (!open.has(`${method === 'HEAD' ? 'GET' : method} ${path}`)) {
      context.set('identity', await authenticate(raw))
    }
    await next()
    withSecurityHeaders(context.res)
  })
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, (context) => {
      expectAccess(context.get('identity'), page)
      return page.answer()
    })
  }
  for (const route of Object.values(routes)) {
    const path = `${API_PREFIX}${route.spec.path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    app.on(route.spec.method, path, (context) => {
      nameRoute(context.req.method, `${API_PREFIX}${route.spec.path}`)
      return perform(route, context, { escapement, settings, redaction, authenticate })
    })
  }
  app.notFound((context) => notFound(context, app))
  app.onError((error, context) =>
    withSecurityHeaders(problemOf(error) ?? unexpected(error, context, settings.logger)),
  )
  return app
}

/** Exactly these need nobody known. */
function openPaths(
  routes: Readonly<Record<string, Route>>,
  pages: Readonly<Record<string, { role: string }>>,
): string[] {
  return [
    ...Object.values(routes)
      .filter(({ spec }) => spec.role === 'anyone')
      .map(({ spec }) => `${spec.method.toUpperCase()} ${API_PREFIX}${spec.path}`),
    ...Object.entries(pages)
      .filter(([, { role }]) => role === 'anyone')
      .map(([path]) => `GET ${path}`),
  ]
}

function expectAccess(
  identity: Identity | undefined,
  { role, groups }: { role: AccessRole | 'anyone'; groups: 'own' | 'refused' },
): void {
  if (role === 'anyone') return
  if (!identity || !mayDo(identity, role)) {
    throw new ProblemError('forbidden', { detail: `This needs the role "${role}".` })
  }
  if (groups === 'refused' && identity.group !== null) {
    throw new ProblemError('forbidden', { detail: 'This is not for a token that is limited to a group.' })
  }
}

interface Performing {
  escapement: Escapement
  settings: HandlerSettings
  redaction: Redaction
  authenticate: (request: Request) => Promise<Identity>
}

/** Whether a request would still be let in, by the same identity. */
async function isSameAs(
  identity: Identity,
  request: Request,
  authenticate: Performing['authenticate'],
): Promise<boolean> {
  try {
    const { role, group } = await authenticate(request)
    return role === identity.role && group === identity.group
  } catch (error) {
    if (error instanceof ProblemError) return false
    throw error
  }
}

async function perform(
  route: Route,
  context: Context<Env>,
  { escapement, settings, redaction, authenticate }: Performing,
): Promise<Response> {
  const { spec, handler } = route
  const identity = context.get('identity')
  expectAccess(identity, spec)
  const request = context.req.raw
  const { expectedVersion, ...read } = await readRequest(
    { spec, params: context.req.param() as Record<string, string> },
    request,
    Math.min(settings.bodyLimit, spec.bodyLimit ?? Number.POSITIVE_INFINITY),
  )
  redaction.check(read.body)
  const { schedules, runs } =
    (identity?.group ?? null) === null ? escapement : escapement.inGroup(identity.group!)
  const actor = identity?.name ?? 'nobody'
  const edit = { actor, ...(expectedVersion !== undefined && { expectedVersion }) }
  const isStillKnown = () => isSameAs(identity, request, authenticate)
  const { redacts } = redaction
  const call = { ...read, schedules, runs, escapement, identity, actor, edit, request, isStillKnown, redacts }
  const given = await handler(call as Call)
  if (given instanceof Response) return given
  const { body, status, headers } = given instanceof Answer ? given : new Answer(given, {})
  if (spec.answer === null) return new Response(null, { status: 204, headers })
  return Response.json(redaction.hide(body), { status: status ?? 200, headers })
}

/** Known paths with another method say so. */
function notFound({ req }: Context<Env>, app: Hono<Env>): Response {
  const allowed = METHODS.filter((method) => app.router.match(method, req.path)[0].length > 1)
  if (allowed.length === 0) {
    return problemResponse('not_found', { detail: `There is nothing at ${req.path.slice(0, 200)}.` })
  }
  return problemResponse('method_not_allowed', {
    detail: `${req.method} is not possible here: use ${allowed.join(', ')}.`,
    headers: { allow: allowed.join(', ') },
  })
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** What the database refuses is the caller's value, and an outage is nobody's fault; the rest is ours. */
function unexpected(error: unknown, { req }: Context<Env>, logger: Logger): Response {
  // Nobody reads this answer.
  if (req.raw.signal.aborted) return problemResponse('malformed_request', { detail: 'The client has gone.' })
  if (isRefusal(error)) {
    return problemResponse('value_out_of_range', {
      detail: `The database refused a value: ${(error as Error).message}`,
    })
  }
  if (isContended(error)) {
    return problemResponse('database_busy', {
      detail: 'Somebody else holds what this needs. Try again soon.',
      headers: { 'retry-after': '1' },
    })
  }
  if (isCutOff(error) || isUnreachable(error)) {
    logger.warn({ method: req.method, path: req.path, err: error }, 'a request found no database')
    return problemResponse('database_unreachable', {
      detail: 'The database does not answer. Try again soon.',
      headers: { 'retry-after': '1' },
    })
  }
  logger.error({ method: req.method, path: req.path, err: error }, 'a request failed')
  return problemResponse('internal_error', { detail: 'Something went wrong; the log says what.' })
}

function isUnreachable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return (
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P0[1-3]|53300|08...)$/.test(
      String(code),
    ) || /timeout exceeded when trying to connect/.test(String(message))
  )
}
