import { fileURLToPath } from 'node:url'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import type { SeenSpan } from '../support/spans.js'

const fixture = fileURLToPath(new URL('fixtures/traced.ts', import.meta.url))

it('attempts in another process are linked to the span that asked for the run, and the handler’s spans are theirs', async () => {
  const schema = freshSchemaName()
  const database = postgresUrl()
  const escapement = await createEscapement({ database, schema })
  onTestFinished(async () => {
    await escapement.database.query(`drop schema "${schema}" cascade`)
    await escapement.close()
  })
  async function spansOf(role: 'asks' | 'works', until: string) {
    const process = new FixtureProcess(fixture, [database, schema, role])
    onTestFinished(() => process.kill())
    const said = await process.line(until)
    expect(await process.exitCode()).toBe(0)
    return { said, spans: process.lines.flatMap(({ span }) => (span ? [span as SeenSpan] : [])) }
  }
  const [{ spans: ofAsker, said }, { spans: ofWorker }] = await Promise.all([
    spansOf('asks', 'asked'),
    spansOf('works', 'done'),
  ])

  const [program] = ofAsker.filter(({ name }) => name === 'program')
  expect(ofAsker.filter((span) => span !== program)).toEqual([
    {
      name: 'enqueue charge',
      kind: SpanKind.PRODUCER,
      traceId: program!.traceId,
      spanId: expect.any(String),
      parentSpanId: program!.spanId,
      links: [],
      attributes: {
        'messaging.system': 'escapement',
        'messaging.operation.name': 'enqueue',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'default',
        'messaging.message.id': said.asked,
        'escapement.job': 'charge',
        'escapement.run_id': said.asked,
      },
      status: { code: SpanStatusCode.UNSET },
      exceptions: [],
    },
  ])
  const producer = ofAsker.find(({ kind }) => kind === SpanKind.PRODUCER)!
  const attempts = ofWorker.filter(({ kind }) => kind === SpanKind.CONSUMER)
  const attributes = (attempt: number, outcome: string) => ({
    'messaging.system': 'escapement',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'default',
    'messaging.message.id': said.asked,
    'messaging.client.id': expect.any(String),
    'escapement.job': 'charge',
    'escapement.run_id': said.asked,
    'escapement.trigger': 'direct',
    'escapement.attempt': attempt,
    'escapement.outcome': outcome,
  })
  const linked = {
    name: 'process charge',
    parentSpanId: null,
    links: [{ traceId: producer.traceId, spanId: producer.spanId, isRemote: true, traceState: '' }],
  }
  expect(attempts).toMatchObject([
    { ...linked, status: { code: SpanStatusCode.ERROR, message: 'the card was refused' } },
    { ...linked, status: { code: SpanStatusCode.UNSET }, exceptions: [] },
  ])
  expect(attempts.map((span) => span.attributes)).toEqual([
    { ...attributes(1, 'retrying'), 'error.type': 'handler_error' },
    attributes(2, 'succeeded'),
  ])
  expect(attempts[0]!.exceptions).toEqual([
    {
      'exception.type': 'handler_error',
      'exception.message': 'the card was refused',
      'exception.stacktrace': expect.stringContaining('traced.ts'),
    },
  ])
  expect(new Set(attempts.map(({ traceId }) => traceId)).size).toBe(2)
  expect(ofWorker.filter(({ name }) => name === 'inside').map(({ parentSpanId }) => parentSpanId)).toEqual(
    attempts.map(({ spanId }) => spanId),
  )
})
