import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'

/** A span that has ended, as the tests look at it and as it travels between processes. */
export interface SeenSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string | null
  links: { traceId: string; spanId: string; isRemote: boolean; traceState: string }[]
  attributes: Record<string, unknown>
  status: { code: number; message?: string }
  exceptions: unknown[]
}

let see: ((span: SeenSpan) => void) | undefined

/**
 * Sets up an SDK as programs do, which hands over each span that ends. There is one in a process: where files share it,
 * spans go to the file that asked last.
 */
export function traceTo(next: (span: SeenSpan) => void): void {
  const isSetUp = see !== undefined
  see = next
  if (!isSetUp) setUp()
}

function setUp(): void {
  const exporter: SpanExporter = {
    export(spans, done) {
      for (const span of spans) see!(seen(span))
      done({ code: 0 })
    },
    shutdown: async () => {},
  }
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
}

function seen(span: ReadableSpan): SeenSpan {
  const { traceId, spanId } = span.spanContext()
  return {
    name: span.name,
    kind: span.kind,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    links: span.links.map(({ context: linked }) => ({
      traceId: linked.traceId,
      spanId: linked.spanId,
      isRemote: linked.isRemote ?? false,
      traceState: linked.traceState?.serialize() ?? '',
    })),
    attributes: span.attributes,
    status: span.status,
    exceptions: span.events.filter(({ name }) => name === 'exception').map(({ attributes }) => attributes),
  }
}
