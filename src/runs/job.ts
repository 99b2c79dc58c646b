import type { StandardSchemaV1 } from '@standard-schema/spec'
import { mistakesError } from '../errors.js'
import type { Logger } from '../logger.js'
import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { RETRY_DEFAULTS, type Retry, type RetryPolicy } from './retry-delay.js'
import type { Run } from './run.js'
import { isStorable } from './storable.js'

/** What a handler is given. Its return value becomes the run's `result`. */
export interface HandlerContext<Input = unknown> {
  job: string
  input: Input
  run: Run
  /** Numbered from 1. */
  attempt: number
  /** The nominal instant of the occurrence; null for a direct run. Use it instead of the time of day. */
  planTime: Date | null
  scope: string | null
  workerId: string
  /** Aborted when the lease is lost, the timeout has passed, or the worker is told to stop. */
  signal: AbortSignal
  log: Logger
}

export interface JobDefinition<Schema extends StandardSchemaV1 = StandardSchemaV1> {
  /** Any Standard Schema (zod, valibot, arktype); inputs are checked when a schedule is put and before a run starts. */
  input?: Schema
  retry?: RetryPolicy
  /**
   * How long one attempt may take; then its signal is aborted and the attempt has failed with `timed_out`.
   * @default '1 hour'
   */
  timeout?: DurationInput
  /**
   * How long a claimed run stays a worker's without renewal. Shorter recovers faster from a crash; longer tolerates
   * a slower database. At least '5s'.
   * @default '30s'
   */
  lease?: DurationInput
  /**
   * Gives the scopes of each plan time of schedules that name none themselves: one run for each. An empty list
   * means that there is nothing to run; when it throws, it is asked again soon.
   */
  scopes?: ScopeProvider
  handler: (context: HandlerContext<StandardSchemaV1.InferOutput<Schema>>) => unknown
}

export type ScopeProvider = (context: { now: Date }) => readonly string[] | Promise<readonly string[]>

export const JOB_DEFAULTS = { timeout: '1 hour', lease: '30s' } satisfies Partial<JobDefinition>

/** A named handler with its policies. The type parameter is what `put` and `enqueue` take as input. */
export interface Job<Input = unknown> {
  readonly name: string
  readonly schema: StandardSchemaV1 | undefined
  readonly retry: Retry
  readonly timeoutMs: number
  readonly leaseMs: number
  readonly scopes: ScopeProvider | undefined
  readonly handler: (context: HandlerContext<never>) => unknown
  /** Only a type: carries what `put` takes as input. */
  readonly inputType?: (input: Input) => void
}

// biome-ignore lint/suspicious/noExplicitAny: a job of whatever input
export type AnyJob = Job<any>

/** Whether something is what `defineJob` gives, be it of another copy of this module, and no mere object literal. */
export function isJob(value: unknown): value is AnyJob {
  const job = (value ?? {}) as Partial<AnyJob>
  return typeof job.name === 'string' && typeof job.handler === 'function' && typeof job.leaseMs === 'number'
}

/** Names are in indexes, which hold no long texts. */
const LONGEST_NAME = 200
const SHORTEST_LEASE_MS = 5_000
/** A timer of the host holds 24.8 days and fires at once beyond. */
const LONGEST_TIMER_MS = 24 * 86_400_000
const RETRY_FIELDS = ['attempts', 'backoff']
const FIELDS = ['input', 'retry', 'timeout', 'lease', 'scopes', 'handler']

/** Defines a job without registering it; every mistake is reported at once. */
export function defineJob<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown>>(
  name: string,
  definition: JobDefinition<Schema>,
): Job<StandardSchemaV1.InferInput<Schema>> {
  return readOrThrow('job_invalid', (report) => {
    if (typeof name !== 'string' || name.trim() === '') return report('name', 'a job needs a name')
    if (name.length > LONGEST_NAME || !isStorable(name)) {
      return report('name', `${quote(name)} – must be a text of at most ${LONGEST_NAME} characters`)
    }
    const inJob: Report = (field, message) => report(`job "${name}": ${field}`, message)
    return readJob(name, definition as unknown as JobDefinition, inJob)
  })
}

function readJob(name: string, definition: Partial<JobDefinition>, report: Report): Job | undefined {
  for (const field of Object.keys(definition)) {
    if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const { handler, retry = {}, timeout = JOB_DEFAULTS.timeout, lease = JOB_DEFAULTS.lease } = definition
  for (const field of Object.keys(retry)) {
    if (!RETRY_FIELDS.includes(field))
      report(`retry.${field}`, `unknown field${didYouMean(field, RETRY_FIELDS)}`)
  }
  const { attempts = RETRY_DEFAULTS.attempts } = retry
  const backoff: readonly DurationInput[] = retry.backoff ?? RETRY_DEFAULTS.backoff
  if (!Array.isArray(backoff))
    return report('retry.backoff', `${quote(backoff)} – must be a list of durations`)
  if (typeof handler !== 'function') report('handler', `${quote(handler)} – must be a function`)
  if (!Number.isInteger(attempts) || attempts < 1) {
    report('retry.attempts', `${quote(attempts)} – must be a whole number of at least 1`)
  }
  const backoffMs = backoff.map((delay, index) => readElapsed(delay, `retry.backoff[${index}]`, report) ?? 0)
  const timeoutMs = readElapsed(timeout, 'timeout', report)
  if (timeoutMs !== undefined && (timeoutMs <= 0 || timeoutMs > LONGEST_TIMER_MS)) {
    report('timeout', `${quote(timeout)} – must be longer than nothing, and at most 24 days`)
  }
  const leaseMs = readElapsed(lease, 'lease', report)
  if (leaseMs !== undefined && (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_TIMER_MS)) {
    report('lease', `${quote(lease)} – must be at least 5 seconds, and at most 24 days`)
  }
  const { scopes } = definition
  if (scopes !== undefined && typeof scopes !== 'function')
    report('scopes', `${quote(scopes)} – must be a function`)
  if (handler === undefined || timeoutMs === undefined || leaseMs === undefined) return undefined
  return {
    name,
    schema: definition.input,
    retry: { attempts: backoffMs.length === 0 ? 1 : attempts, backoffMs },
    timeoutMs,
    leaseMs,
    scopes,
    handler,
  }
}

/** The input as the job's schema makes it, or the error `input_invalid` with every mistake. */
export async function checkInput(job: AnyJob, input: unknown): Promise<unknown> {
  if (!job.schema) return input
  const result = await job.schema['~standard'].validate(input)
  if (!result.issues) return result.value
  throw mistakesError(
    'input_invalid',
    result.issues.map(({ path = [], message }) => ({
      field: ['input', ...path.map((step) => String(typeof step === 'object' ? step.key : step))].join('.'),
      message,
    })),
  )
}
