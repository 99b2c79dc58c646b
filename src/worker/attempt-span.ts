import { SpanKind } from '@opentelemetry/api'
import type { ClaimedRow } from '../store/queries/claiming.js'
import type { Outcome } from '../store/queries/outcomes.js'
import { failSpan, failSpanBy, isTracing, linksTo, tracer, withSpan } from '../tracing.js'

/** The span of one attempt: a trace of its own, linked to the span that asked for the run. */
export interface AttemptSpan {
  /** Calls what is the user's with the span active. */
  within<T>(work: () => T): T
  /** Ends it with what became of the attempt; null where that was refused, as the run is no longer this attempt's. */
  end(outcome: Outcome | null): void
  /** Ends it where nobody could say what became of it. */
  fail(error: unknown): void
}

const UNTRACED: AttemptSpan = { within: (work) => work(), end() {}, fail() {} }

const REFUSED = {
  code: 'lease_lost',
  message: 'The outcome was refused: the run is no longer this attempt’s.',
}

export function startAttemptSpan(row: ClaimedRow, workerId: string): AttemptSpan {
  if (!isTracing()) return UNTRACED
  const span = tracer.startSpan(`process ${row.job}`, {
    kind: SpanKind.CONSUMER,
    // Whoever started the worker may have done that in a trace, which has nothing to do with this.
    root: true,
    links: linksTo(row.trace_context),
    attributes: {
      'messaging.system': 'escapement',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': row.queue,
      'messaging.message.id': row.id,
      'messaging.client.id': workerId,
      'escapement.job': row.job,
      'escapement.run_id': row.id,
      'escapement.attempt': row.attempt,
      'escapement.trigger': row.trigger,
      'escapement.schedule': row.schedule_name ?? undefined,
      'escapement.scope': row.scope ?? undefined,
      'escapement.plan_time': row.plan_time?.toISOString(),
    },
  })
  return {
    within: (work) => withSpan(span, work),
    end(outcome) {
      const state = outcome?.state ?? 'refused'
      span.setAttribute('escapement.outcome', state)
      if (outcome === null) failSpan(span, REFUSED)
      else if (outcome.state === 'failed' || outcome.state === 'retrying') failSpan(span, outcome)
      span.end()
    },
    fail(error) {
      failSpanBy(span, error)
      span.end()
    },
  }
}
