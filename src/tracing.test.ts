import { createTraceState, type Span, type SpanContext, trace } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { isTraced, isTracing, linksTo, traceContextOf, tracer } from './tracing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const of = (spanContext: SpanContext): Span => trace.wrapSpanContext(spanContext)

describe('the trace context of a run', () => {
  it.each([
    [1, undefined, `00-${TRACE}-${SPAN}-01`],
    [0, undefined, `00-${TRACE}-${SPAN}-00`],
    [1, 'a=1,b=2', `00-${TRACE}-${SPAN}-01 a=1,b=2`],
    [1, `a=${'x'.repeat(250)},b=${'x'.repeat(255)},c=1`, `00-${TRACE}-${SPAN}-01`],
  ])('with flags %i and state %s leads back to its span', (traceFlags, state, text) => {
    const traceState = state === undefined ? {} : { traceState: createTraceState(state) }
    const span = of({ traceId: TRACE, spanId: SPAN, traceFlags, ...traceState })
    expect(traceContextOf(span)).toBe(text)
    const [link, ...others] = linksTo(text)
    expect(others).toEqual([])
    expect(link!.context).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true })
    expect(link!.context.traceState?.serialize()).toBe(text.split(' ')[1])
  })

  it.each([
    null,
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  ])('leads nowhere from %j', (text) => {
    expect(linksTo(text)).toEqual([])
  })
})

it('without an SDK nothing is traced', () => {
  expect(isTracing()).toBe(false)
  expect(isTraced(tracer.startSpan('anything', { root: true }))).toBe(false)
})
