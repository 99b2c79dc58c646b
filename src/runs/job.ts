import type { StandardSchemaV1 } from '@standard-schema/spec'
import { mistakesError } from '../errors.js'
import type { Logger } from '../logger.js'
import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { type JsonSchema, jsonSchemaOf } from './input-schema.js'
import {
  BACKOFF_DEFAULTS,
  type ExponentialBackoff,
  RETRY_DEFAULTS,
  type Retry,
  type RetryPolicy,
} from './retry-delay.js'
import type { Run } from './run.js'
import { isStorable, jsonMistake } from './storable.js'

/** What a handler is given. Its return value becomes the run's `result`. */
export interface HandlerContext<Input = unknown, Transactional extends boolean = boolean> {
  job: string
  input: Input
  run: Run
  /** The name that its schedule has; null for a direct run, and when the schedule is gone. */
  schedule: string | null
  /** Numbered from 1. */
  attempt: number
  /** The nominal instant of the occurrence; null for a direct run. Use it instead of the time of day. */
  planTime: Date | null
  /** The plan time before that one, by the timing that planned the run: [previousPlanTime, planTime) is its interval. */
  previousPlanTime: Date | null
  scope: string | null
  workerId: string
  /** Aborted when the lease is lost, the timeout has passed, the run was cancelled, or the worker is told to stop. */
  signal: AbortSignal
  log: Logger
  /**
   * How far it has come, from 0 to 1, for those who watch, with a note of at most 1,000 characters. Written down about
   * once a second.
   */
  progress(fraction: number, note?: string): void
  /** Adds to the run's counters. With `errors` above 0, a run that succeeds counts as failed for the breaker. */
  totals(counters: Readonly<Record<string, number>>): void
  /** Renews the lease now. Rejects with `lease_lost`, or `cancelled`, if the run is not this attempt's any more. */
  heartbeat(): Promise<void>
  /**
   * Of a `transactional` job: what is written through it is committed together with the run's success, or not at all.
   */
  tx: Transactional extends true ? HandlerTransaction : undefined
}

/** A transaction on the user's own rows, as `database.transaction` gives it. */
export interface HandlerTransaction {
  query<Row = Record<string, unknown>>(text: string, params?: readonly HandlerParam[]): Promise<Row[]>
  script(text: string): Promise<void>
}

type HandlerScalar = null | boolean | number | string | Date
type HandlerParam = HandlerScalar | readonly HandlerScalar[]

/** What a gate is asked about. `schedule` is the name of the schedule; null for a direct run. */
export interface GateContext<Input = unknown> {
  schedule: string | null
  input: Input
}

/** True lets work begin; otherwise the reason why not. */
export type GateAnswer = true | { reason: string }

export type OnStale = 'retry' | 'fail'

/** What `defineJob` and `escapement.job` take beside the name: a handler, and how its runs are treated. */
export interface JobDefinition<
  Schema extends StandardSchemaV1 = StandardSchemaV1,
  Transactional extends boolean = boolean,
> {
  /** Any Standard Schema (zod, valibot, arktype); inputs are checked when a schedule is put and before a run starts. */
  input?: Schema
  /**
   * The same in JSON Schema. Workers publish it, and processes that ask for the job by its name check inputs against it.
   * Without it, it is what `input` says of itself, as schemas of zod and arktype do; false publishes none.
   */
  inputSchema?: JsonSchema | false
  /** When a failed attempt is followed by another one. */
  retry?: RetryPolicy
  /**
   * How long one attempt may take; then its signal is aborted and the attempt has failed with `timed_out`. That of a
   * transactional job is 30 seconds by default where there is one session: on the embedded database, a client, a pool of one.
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
  /**
   * What becomes of a run whose worker died or lost its lease: `retry` tries it again, so that it may be executed
   * twice; `fail` ends it as failed with `stale_lease`, so that it is executed at most once. `fail` takes
   * `retry: { attempts: 1 }`.
   * @default 'retry'
   */
  onStale?: OnStale
  /** How many of its runs may be worked on at once in all processes together. Without it, any number. */
  concurrency?: number
  /**
   * A field of the input, such as `customer` or `order.id`: of runs that have the same there, one is worked on at a
   * time, in all processes together. Those without that field are not held back.
   */
  concurrencyKey?: string
  /**
   * A precondition: asked when a schedule of this job is put or resumed, which is refused while it is closed, and before
   * a run starts, which is then skipped with the reason.
   */
  gate?: (context: GateContext<StandardSchemaV1.InferOutput<Schema>>) => GateAnswer | Promise<GateAnswer>
  /**
   * Gives the handler a transaction, `tx`, that commits together with the run's success: what is written through it
   * happens exactly once.
   * @default false
   */
  transactional?: Transactional
  /** The work. What it returns is the result of the run. */
  handler: (context: HandlerContext<StandardSchemaV1.InferOutput<Schema>, Transactional>) => unknown
}

export type ScopeProvider = (context: { now: Date }) => readonly string[] | Promise<readonly string[]>

export const JOB_DEFAULTS = {
  timeout: '1 hour',
  lease: '30s',
  onStale: 'retry',
  transactional: false,
} satisfies Partial<JobDefinition>

/** A named handler with its policies. The type parameter is what `put` and `enqueue` take as input. */
export interface Job<Input = unknown> {
  readonly name: string
  readonly schema: StandardSchemaV1 | undefined
  /** What is published of its input. */
  readonly inputSchema: JsonSchema | null
  readonly retry: Retry
  readonly timeoutMs: number
  /** Whether it was given: on the embedded database a transactional job has another default. */
  readonly hasOwnTimeout: boolean
  readonly leaseMs: number
  readonly scopes: ScopeProvider | undefined
  readonly onStale: OnStale
  readonly concurrency: number | null
  /** The path into the input. */
  readonly concurrencyKey: readonly string[] | null
  readonly gate: ((context: GateContext<never>) => GateAnswer | Promise<GateAnswer>) | undefined
  readonly transactional: boolean
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
/** What the database counts up to: nothing that is tried again gets there. */
const MOST = 2_147_483_647
const RETRY_FIELDS = ['attempts', 'backoff']
const BACKOFF_FIELDS = ['first', 'factor', 'max', 'jitter']
const FIELDS = [
  'input',
  'inputSchema',
  'retry',
  'timeout',
  'lease',
  'scopes',
  'onStale',
  'concurrency',
  'concurrencyKey',
  'gate',
  'transactional',
  'handler',
]

/** Defines a job without registering it; every mistake is reported at once. */
export function defineJob<
  Schema extends StandardSchemaV1 = StandardSchemaV1<unknown>,
  Transactional extends boolean = false,
>(name: string, definition: JobDefinition<Schema, Transactional>): Job<StandardSchemaV1.InferInput<Schema>> {
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
  if (!isObject(definition)) {
    return report('definition', `${quote(definition)} – must be an object with a handler`)
  }
  for (const field of Object.keys(definition)) {
    if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const {
    input,
    handler,
    retry = {},
    timeout = JOB_DEFAULTS.timeout,
    lease = JOB_DEFAULTS.lease,
  } = definition
  const inputSchema = readInputSchema(definition, report)
  if (!isObject(retry)) return report('retry', `${quote(retry)} – must be an object with attempts, backoff`)
  for (const field of Object.keys(retry)) {
    if (!RETRY_FIELDS.includes(field))
      report(`retry.${field}`, `unknown field${didYouMean(field, RETRY_FIELDS)}`)
  }
  const { attempts = RETRY_DEFAULTS.attempts } = retry
  const backoff = readBackoff(retry.backoff ?? RETRY_DEFAULTS.backoff, report)
  if (typeof handler !== 'function') report('handler', `${quote(handler)} – must be a function`)
  if (!isCount(attempts)) {
    report(
      'retry.attempts',
      `${quote(attempts)} – must be a whole number from 1 to ${MOST}, which is for ever`,
    )
  }
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
  const { gate, onStale = JOB_DEFAULTS.onStale, transactional = JOB_DEFAULTS.transactional } = definition
  if (gate !== undefined && typeof gate !== 'function') report('gate', `${quote(gate)} – must be a function`)
  if (onStale !== 'retry' && onStale !== 'fail') {
    report('onStale', `${quote(onStale)} – must be "retry" or "fail"`)
  }
  const hasOneAttempt = attempts === 1 || (Array.isArray(backoff) && backoff.length === 0)
  if (onStale === 'fail' && !hasOneAttempt) {
    report('onStale', '"fail" – means at most once, so it takes retry: { attempts: 1 }')
  }
  if (typeof transactional !== 'boolean') {
    report('transactional', `${quote(transactional)} – must be true or false`)
  }
  const { concurrency = null, concurrencyKey = null } = definition
  if (concurrency !== null && !isCount(concurrency)) {
    report(
      'concurrency',
      `${quote(concurrency)} – must be a whole number from 1 to ${MOST}; leave it out for any number`,
    )
  }
  if (concurrencyKey !== null && !(typeof concurrencyKey === 'string' && KEY_PATH.test(concurrencyKey))) {
    report('concurrencyKey', `${quote(concurrencyKey)} – must name a field of the input, such as "customer"`)
  }
  if (handler === undefined || timeoutMs === undefined || leaseMs === undefined || backoff === undefined) {
    return undefined
  }
  return {
    name,
    schema: input,
    inputSchema,
    retry: { attempts: hasOneAttempt ? 1 : attempts, backoff },
    timeoutMs,
    hasOwnTimeout: definition.timeout !== undefined,
    leaseMs,
    scopes,
    onStale,
    concurrency,
    concurrencyKey: concurrencyKey?.split('.') ?? null,
    gate,
    transactional,
    handler,
  }
}

/** What is published of the input. */
function readInputSchema({ input, inputSchema }: Partial<JobDefinition>, report: Report): JsonSchema | null {
  if (input !== undefined && typeof input?.['~standard']?.validate !== 'function') {
    report('input', `${quote(input)} – must be a Standard Schema, such as those of zod, valibot and arktype`)
    return null
  }
  if (inputSchema === undefined) return input === undefined ? null : jsonSchemaOf(input)
  if (inputSchema === false) return null
  if (!isObject(inputSchema)) {
    report('inputSchema', `${quote(inputSchema)} – must be a JSON Schema, or false`)
    return null
  }
  const mistake = jsonMistake(inputSchema, 'inputSchema')
  if (mistake) report(mistake.field, mistake.message)
  return inputSchema
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST
}

const KEY_PATH = /^[^.{},"\\\s]+(\.[^.{},"\\\s]+)*$/

function readBackoff(backoff: unknown, report: Report): Retry['backoff'] | undefined {
  if (Array.isArray(backoff)) {
    return backoff.map((delay, index) => readElapsed(delay, `retry.backoff[${index}]`, report) ?? 0)
  }
  if (typeof backoff !== 'object' || backoff === null) {
    return report(
      'retry.backoff',
      `${quote(backoff)} – must be a list of durations, or { first, factor, max, jitter }`,
    )
  }
  for (const field of Object.keys(backoff)) {
    if (!BACKOFF_FIELDS.includes(field)) {
      report(`retry.backoff.${field}`, `unknown field${didYouMean(field, BACKOFF_FIELDS)}`)
    }
  }
  const { first, factor, max, jitter } = { ...BACKOFF_DEFAULTS, ...(backoff as ExponentialBackoff) }
  const firstMs = readElapsed(first, 'retry.backoff.first', report)
  const maxMs = readElapsed(max, 'retry.backoff.max', report)
  if (!(typeof factor === 'number' && factor >= 1 && factor <= 100)) {
    report('retry.backoff.factor', `${quote(factor)} – must be a number from 1 to 100`)
  }
  if (!(typeof jitter === 'number' && jitter >= 0 && jitter <= 1)) {
    report('retry.backoff.jitter', `${quote(jitter)} – must be a number from 0 to 1`)
  }
  return firstMs === undefined || maxMs === undefined ? undefined : { firstMs, factor, maxMs, jitter }
}

/** The input as the job's schema makes it, or the error `input_invalid` with every mistake; `at` is where it was given. */
export async function checkInput(job: AnyJob, input: unknown, at = 'input'): Promise<unknown> {
  if (!job.schema) return input
  const result = await job.schema['~standard'].validate(input)
  if (!result.issues) return result.value
  throw mistakesError(
    'input_invalid',
    result.issues.map(({ path = [], message }) => ({
      field: [at, ...path.map((step) => String(typeof step === 'object' ? step.key : step))].join('.'),
      message,
    })),
  )
}
