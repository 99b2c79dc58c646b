import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { failSpanBy, isTraced, tracer } from '../tracing.js'

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
}

/** Asked every few seconds, by whom nobody would look for in a trace. */
const PROBES = /\/(?:health|ready|metrics)$/

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Answers a request as a part of the caller's trace, in a span of its own: what it asks for is linked to the caller. Where an
 * instrumentation of the server has opened a span for the request, that one serves.
 */
export async function withTraceOf(request: Request, work: () => Promise<Response>): Promise<Response> {
  const active = trace.getActiveSpan()
  const { protocol, pathname, hostname } = new URL(request.url)
  if ((active && isTraced(active)) || PROBES.test(pathname)) return work()
  const caller = propagation.extract(ROOT_CONTEXT, request.headers, HEADERS)
  const method = METHODS.includes(request.method) ? request.method : '_OTHER'
  const attributes = {
    'http.request.method': method,
    'url.scheme': protocol.slice(0, -1),
    'url.path': pathname,
    'server.address': hostname,
  }
  const name = method === '_OTHER' ? 'HTTP' : method
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, caller)
  if (!isTraced(span)) return work()
  try {
    const response = await context.with(trace.setSpan(caller, span), work)
    span.setAttribute('http.response.status_code', response.status)
    if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    return response
  } catch (error) {
    failSpanBy(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** Names the span of the request that is being answered after its route, which paths with names in them are too many for. */
export function nameRoute(method: string, route: string): void {
  const span = trace.getActiveSpan()
  span?.updateName(`${method} ${route}`)
  span?.setAttribute('http.route', route)
}
