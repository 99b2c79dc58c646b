import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { beforeEach, expect, it } from 'vitest'
import { createHandler } from '../../src/server/handler.js'
import { withTraceOf } from '../../src/server/tracing.js'
import { openHarness } from '../support/harness.js'
import { type SeenSpan, traceTo } from '../support/spans.js'

const spans: SeenSpan[] = []
traceTo((span) => spans.push(span))

beforeEach(() => void spans.splice(0))

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' }
const ok = async () => new Response('ok')

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:00Z' })
  h.job('noop', { handler: () => {} })
  return { h, handler: createHandler(h.escapement, { auth: 'local' }) }
}

it('a run that is asked for over HTTP leads back to the caller', async () => {
  const { h, handler } = await open()
  const body = JSON.stringify({ job: 'noop', input: null })
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
  const { status } = await handler(new Request('http://localhost/api/v1/runs', init))
  await h.advance('0s')
  const [enqueue, server, process] = spans
  expect(server).toMatchObject({
    name: 'POST /api/v1/runs',
    kind: SpanKind.SERVER,
    traceId: TRACE,
    parentSpanId: CALLER,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': status,
      'http.route': '/api/v1/runs',
      'url.path': '/api/v1/runs',
      'url.scheme': 'http',
      'server.address': 'localhost',
    },
  })
  expect(enqueue).toMatchObject({ traceId: TRACE, parentSpanId: server!.spanId })
  expect(process!.links).toEqual([
    { traceId: TRACE, spanId: enqueue!.spanId, isRemote: true, traceState: 'vendor=1' },
  ])
})

it('requests are named after their route, and errors of ours are told apart', async () => {
  const { handler } = await open()
  await handler(new Request('http://localhost/api/v1/schedules?limit=1', { headers }))
  await handler(new Request('http://localhost/api/v1/nothing'))
  await expect(
    withTraceOf(new Request('http://localhost/', { method: 'PROPFIND' }), async () => {
      throw new Error('on purpose')
    }),
  ).rejects.toThrow('on purpose')
  await withTraceOf(new Request('http://localhost/'), async () => new Response(null, { status: 503 }))
  expect(
    spans.map(({ name, attributes, status }) => [name, attributes['http.response.status_code'], status.code]),
  ).toEqual([
    ['GET /api/v1/schedules', 200, SpanStatusCode.UNSET],
    ['GET', 404, SpanStatusCode.UNSET],
    ['HTTP', undefined, SpanStatusCode.ERROR],
    ['GET', 503, SpanStatusCode.ERROR],
  ])
})

it('probes and scrapes are not traced, and a request that already has a span gets no second one', async () => {
  const { handler } = await open()
  for (const path of ['/health', '/ready', '/metrics']) {
    expect((await handler(new Request(`http://localhost${path}`))).status).toBe(200)
  }
  await trace.getTracer('framework').startActiveSpan('of the framework', async (span) => {
    await withTraceOf(new Request('http://localhost/api/v1/runs', { headers }), ok)
    span.end()
  })
  expect(spans.map(({ name }) => name)).toEqual(['of the framework'])
})
