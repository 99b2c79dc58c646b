import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { beforeEach, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'
import { type SeenSpan, traceTo } from '../support/spans.js'

const spans: SeenSpan[] = []
traceTo((span) => spans.push(span))
const tracer = trace.getTracer('test')

beforeEach(() => void spans.splice(0))

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  return h
}

const named = (name: string) => spans.filter((span) => span.name === name)
const linkedTo = ({ traceId, spanId }: SeenSpan) => [{ traceId, spanId, isRemote: true, traceState: '' }]

it('each run of a batch is linked to the one span that asked for all', async () => {
  const h = await open()
  await h.runs.enqueueMany('noop', [
    { input: 1, queue: 'default' },
    { input: 2, queue: 'other' },
  ])
  await h.escapement.database.transaction((tx) => h.runs.enqueue('noop', 3, { tx }))
  await h.advance('0s')
  const [batch, single] = named('enqueue noop')
  expect(batch).toMatchObject({
    kind: SpanKind.PRODUCER,
    attributes: { 'messaging.batch.message_count': 2, 'escapement.job': 'noop' },
  })
  expect(batch!.attributes).not.toHaveProperty('messaging.destination.name')
  const links = named('process noop').map((span) => span.links)
  expect(links).toHaveLength(2)
  expect(links).toEqual(expect.arrayContaining([linkedTo(batch!), linkedTo(single!)]))
})

it('callers that share a statement keep each their own', async () => {
  const h = await open()
  const asked = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      tracer.startActiveSpan(name, async (span) => {
        const { id } = await h.runs.enqueue('noop', name)
        span.end()
        return { id, traceId: span.spanContext().traceId }
      }),
    ),
  )
  await h.advance('0s')
  const linked = named('process noop').map(({ attributes, links }) => ({
    id: attributes['escapement.run_id'],
    traceId: links[0]!.traceId,
  }))
  const byId = (a: { id: unknown }, b: { id: unknown }) => (String(a.id) < String(b.id) ? -1 : 1)
  expect(linked.sort(byId)).toEqual(asked.sort(byId))
})

it('a trigger and a backfill are asked for in spans too, and runs of a timing by nobody', async () => {
  const h = await open()
  await h.schedules.put('s', { job: 'noop', timing: every('1 minute'), catchUp: 'none' })
  h.jump('5 minutes')
  await h.advance('1 minute')
  await h.schedules.backfill('s', { from: '2026-03-01T12:00:00Z', to: h.now() })
  await h.schedules.trigger('s')
  await h.advance('0s')
  const [backfill] = named('backfill noop')
  const [trigger] = named('trigger noop')
  expect(backfill!.attributes).toMatchObject({
    'escapement.schedule': 's',
    'messaging.batch.message_count': 4,
  })
  const linksOf = (kind: string) =>
    named('process noop').flatMap(({ attributes, links }) =>
      attributes['escapement.trigger'] === kind ? [links] : [],
    )
  expect(linksOf('scheduled')).toEqual([[], []])
  expect(linksOf('backfill')).toEqual(Array(4).fill(linkedTo(backfill!)))
  expect(linksOf('manual')).toEqual([linkedTo(trigger!)])
  expect(named('process noop')[1]!.attributes).toMatchObject({
    'escapement.schedule': 's',
    'escapement.scope': 'global',
    'escapement.plan_time': '2026-03-01T12:06:00.000Z',
  })
})

it('what cannot be asked for, what a gate turns away and what is refused say so', async () => {
  const h = await open()
  h.job('closed', { gate: () => ({ reason: 'shut' }), handler: () => {} })
  h.job('cancelled', { handler: ({ run }) => h.runs.cancel(run.id) })
  await expect(h.schedules.trigger('none')).rejects.toMatchObject({ code: 'schedule_not_found' })
  await h.runs.enqueue('closed', null)
  await h.runs.enqueue('cancelled', null)
  await h.advance('0s')
  expect(named('trigger')).toMatchObject([
    { attributes: { 'error.type': 'schedule_not_found' }, status: { code: SpanStatusCode.ERROR } },
  ])
  expect(named('process closed')).toMatchObject([
    { attributes: { 'escapement.outcome': 'skipped' }, status: { code: SpanStatusCode.UNSET } },
  ])
  expect(named('process cancelled')).toMatchObject([
    { attributes: { 'escapement.outcome': 'refused' }, status: { code: SpanStatusCode.ERROR } },
  ])
})

it('a handler is traced within a transaction of its own too, and what it asks for is its child', async () => {
  const h = await open()
  h.job('parent', {
    transactional: true,
    handler: async ({ tx }) => {
      await tx.query('select 1')
      await h.runs.enqueue('noop', null, { tx })
    },
  })
  await h.runs.enqueue('parent', null)
  await h.advance('0s')
  const [parent] = named('process parent')
  expect(named('enqueue noop')).toMatchObject([{ parentSpanId: parent!.spanId, traceId: parent!.traceId }])
})

it('a worker that was started within a trace is no part of it', async () => {
  const h = await open()
  const inside = new Promise<unknown>((resolve) => {
    h.job('looks', {
      scopes: () => {
        resolve(trace.getActiveSpan())
        return []
      },
      handler: () => {},
    })
  })
  await h.schedules.put('s', { job: 'looks', timing: every('1 second') })
  h.jump('1 minute')
  await tracer.startActiveSpan('program', async (program) => {
    await h.escapement.start({ roles: ['scheduler'] })
    program.end()
  })
  expect(await inside).toBeUndefined()
})
