import type { JsonSchema } from './input-schema.js'
import type { AnyJob, OnStale } from './job.js'
import type { Retry } from './retry-delay.js'

/** What workers publish of a job, for processes that do not have its code. */
export interface JobPolicies {
  retry: Retry
  timeoutMs: number
  leaseMs: number
  onStale: OnStale
  /** How many of its runs may be worked on at once in all processes together; null for any number. */
  concurrency: number | null
  /** The steps to the field of the input by which runs are kept apart; null for none. */
  concurrencyKey: readonly string[] | null
  transactional: boolean
  /** Whether it has a precondition that is asked before anything begins. */
  gate: boolean
  /** Whether it gives the scopes of schedules that name none. */
  provider: boolean
  /** The JSON Schema of its input, where it has one. */
  inputSchema: JsonSchema | null
}

export function policiesOf(job: AnyJob): JobPolicies {
  const { retry, timeoutMs, leaseMs, onStale, concurrency, concurrencyKey, transactional, inputSchema } = job
  return {
    retry,
    timeoutMs,
    leaseMs,
    onStale,
    concurrency,
    concurrencyKey,
    transactional,
    gate: job.gate !== undefined,
    provider: job.scopes !== undefined,
    inputSchema,
  }
}
