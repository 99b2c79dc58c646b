import { type Attributes, SpanKind, trace } from '@opentelemetry/api'
import { failSpanBy, isTraced, isTracing, traceContextOf, tracer, withSpan } from '../tracing.js'

/** The span around asking for runs, as far as those who ask have to do with it. */
export interface AskingSpan {
  /** What is stored with the runs, so that their attempts lead back here; null where nothing is traced. */
  readonly traceContext: string | null
  /** Of which job they are, where it is known only by now. */
  name(job: string): void
  /** Which runs there are by now. */
  asked(runs: readonly { id: string }[]): void
}

interface Asked {
  job?: string
  queue?: string | undefined
  schedule?: string
}

const UNTRACED: AskingSpan = { traceContext: null, name() {}, asked() {} }

/**
 * Traces what asks for runs as a producer of messages, by OpenTelemetry's conventions. Spans are named after the job, which says
 * more than the queue.
 */
export async function tracedAsking<T>(
  operation: 'enqueue' | 'trigger' | 'backfill',
  { job, queue, schedule }: Asked,
  work: (span: AskingSpan) => Promise<T>,
): Promise<T> {
  if (!isTracing()) return work(handedOn())
  const span = tracer.startSpan(job === undefined ? operation : `${operation} ${job}`, {
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system': 'escapement',
      'messaging.operation.name': operation,
      'messaging.operation.type': 'send',
      'messaging.destination.name': queue,
      'escapement.job': job,
      'escapement.schedule': schedule,
    },
  })
  const asking: AskingSpan = {
    traceContext: traceContextOf(span),
    name(known) {
      span.updateName(`${operation} ${known}`)
      span.setAttribute('escapement.job', known)
    },
    asked: (runs) => void span.setAttributes(attributesOf(runs)),
  }
  try {
    return await withSpan(span, () => work(asking))
  } catch (error) {
    failSpanBy(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** Without an SDK there may still be somebody else's trace to hand on. */
function handedOn(): AskingSpan {
  const active = trace.getActiveSpan()
  return active && isTraced(active) ? { ...UNTRACED, traceContext: traceContextOf(active) } : UNTRACED
}

function attributesOf(runs: readonly { id: string }[]): Attributes {
  const [first] = runs
  if (first === undefined || runs.length > 1) return { 'messaging.batch.message_count': runs.length }
  return { 'messaging.message.id': first.id, 'escapement.run_id': first.id }
}
