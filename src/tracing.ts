/**
 * Traces by OpenTelemetry's API alone. Without an SDK in the process there are no spans: nothing is made active, nothing is
 * stored, and asking costs about as much as a call of a function.
 *
 * A run is asked for in one trace and worked on in another, perhaps days later and several times: attempts are linked to the span
 * that asked, by the W3C trace context that is stored with the run, and are not children of it.
 */
import {
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { VERSION } from './version.js'

export const tracer = trace.getTracer('escapement', VERSION)

/**
 * Whether there is an SDK. Asked before anything is said of a span: the attributes of one for each run would cost more than all
 * else that a worker does for it.
 */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  const isOurs = provider instanceof ProxyTracerProvider
  return !isOurs || provider.getDelegateTracer('escapement', VERSION) !== undefined
}

/** Whether a span is part of a trace, be it one that is not sampled. */
export function isTraced(span: Span): boolean {
  return isSpanContextValid(span.spanContext())
}

/** Calls `work` with the span active: what is traced in it belongs to the span. */
export function withSpan<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work)
}

/** For what goes on for long after it was begun: whoever's trace it was begun in, it is no part of it. */
export function outsideOfTraces<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work)
}

export function failSpan(
  span: Span,
  { code, message, stack }: { code: string; message: string; stack?: string | null },
): void {
  span.recordException({ name: code, message, ...(stack && { stack }) })
  span.setAttribute('error.type', code)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}

/** The same for whatever was thrown. */
export function failSpanBy(span: Span, thrown: unknown): void {
  const error: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { message, stack = null, name, code = name } = error
  failSpan(span, { code: String(code), message, stack })
}

/** What W3C asks all to carry at least. A longer one is left out rather than cut. */
const LONGEST_STATE = 512

/** `traceparent`, and after a blank `tracestate` where there is one, as it is stored with a run. */
export function traceContextOf(span: Span): string {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const parent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
  const state = traceState?.serialize() ?? ''
  return state === '' || state.length > LONGEST_STATE ? parent : `${parent} ${state}`
}

const TRACE_CONTEXT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?: (.*))?$/

/** The link to the span whose context was stored; none where it is not one. */
export function linksTo(traceContext: string | null): Link[] {
  const [, traceId, spanId, flags, state] = (traceContext && TRACE_CONTEXT.exec(traceContext)) || []
  if (!traceId || !spanId || !flags) return []
  const traceState = state ? { traceState: createTraceState(state) } : {}
  const linked = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...traceState }
  return isSpanContextValid(linked) ? [{ context: linked }] : []
}
