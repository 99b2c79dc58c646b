import { Hono } from 'hono'
import { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import type { Logger } from '../logger.js'
import { isStorable } from '../runs/storable.js'
import { quote } from '../time/report.js'
import { zoneDataVersion } from '../time/zone.js'
import { VERSION } from '../version.js'

export type FetchHandler = (request: Request) => Promise<Response>

const LOOPBACK_HOSTS = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/
const MAX_PAGE = 1000

/** The HTTP API as one fetch handler. It answers this machine only: see the check of `Host` and `Origin`. */
export function createHandler(escapement: Escapement, logger: Logger): FetchHandler {
  const app = new Hono()

  // A page on some other site can make a browser send requests here, also under a name of its own that resolves to
  // this machine. Such a request carries a foreign Host or Origin.
  app.use(async (context, next) => {
    const origin = context.req.header('origin')
    const host = context.req.header('host') ?? new URL(context.req.url).host
    if (!LOOPBACK_HOSTS.test(host)) return problem(403, 'forbidden', 'Only loopback hosts are answered.')
    if (origin !== undefined && new URL(context.req.url).origin !== origin) {
      return problem(403, 'forbidden', 'Requests from other origins are not answered.')
    }
    return next()
  })

  app.get('/health', async (context) => {
    await escapement.database.query('select 1')
    return context.json({ status: 'ok', version: VERSION, zoneData: zoneDataVersion() })
  })

  app.get('/api/v1/schedules', async (context) => {
    const limit = Number(context.req.query('limit') ?? '100')
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
      const given = quote(context.req.query('limit'))
      return problem(422, 'option_invalid', `limit: ${given} – must be a whole number from 1 to ${MAX_PAGE}`)
    }
    const pageToken = context.req.query('pageToken') ?? ''
    if (!isStorable(pageToken)) return problem(422, 'option_invalid', 'pageToken: is not one of ours')
    const schedules = await escapement.schedules.list({ after: pageToken, limit })
    const nextPageToken = schedules.length === limit ? schedules.at(-1)!.name : null
    return context.json({ schedules, nextPageToken })
  })

  app.get('/api/v1/doctor', async (context) => context.json(await escapement.doctor()))

  app.get('/api/v1/audit', async (context) => context.json(await escapement.audit()))

  app.get('/api/v1/transitions', async (context) =>
    context.json({ transitions: await escapement.transitions.list() }),
  )

  app.post('/api/v1/transitions/sweep', async (context) => {
    const body: unknown = await context.req.json().catch(() => ({}))
    const { quarantined = false } = (body ?? {}) as { quarantined?: unknown }
    if (typeof quarantined !== 'boolean') {
      return problem(422, 'option_invalid', `quarantined: ${quote(quarantined)} – must be true or false`)
    }
    return context.json(await escapement.transitions.sweep({ quarantined }))
  })

  app.notFound((context) =>
    problem(404, 'not_found', `There is no ${context.req.method} ${context.req.path}.`),
  )
  app.onError((error, context) => {
    if (error instanceof EscapementError) return problem(422, error.code, error.message)
    logger.error({ route: context.req.path, err: error }, 'a request failed')
    return problem(500, 'internal_error', 'Something went wrong; the log says what.')
  })
  return async (request) => app.fetch(request)
}

function problem(status: number, code: string, detail: string): Response {
  return Response.json(
    { type: `urn:escapement:${code}`, status, code, detail },
    { status, headers: { 'content-type': 'application/problem+json' } },
  )
}
