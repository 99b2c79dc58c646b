/**
 * The built-in job `http`: calls a URL for a run. What is in an input may come from people who must not reach everything that this
 * machine can reach, so where a call goes is judged when it is dialled (`place.ts`, `dial.ts`).
 */
import { hostNow, monotonicMs } from '../clock.js'
import { EscapementError, type Mistake } from '../errors.js'
import { defineJob, type HandlerContext, type Job } from '../runs/job.js'
import { NonRetryableError } from '../runs/retry-delay.js'
import { durationToMs } from '../time/duration.js'
import { type Report, readOrThrow } from '../time/report.js'
import { callOf } from './call.js'
import { AddressRefused } from './dial.js'
import { type Answer, type Call, exchange } from './exchange.js'
import { HTTP_INPUT, type HttpJobInput } from './input.js'
import {
  HTTP_JOB_DEFAULTS,
  type HttpJobOptions,
  type HttpJobSettings,
  readHttpJobOptions,
} from './options.js'
import { describeCall, failureOf, type HttpJobResult, resultOf } from './outcome.js'
import type { TemplateFields } from './template.js'

export const HTTP_JOB = 'http'

/** The longest call ends before this; it is here for what ends in no other way. */
const ATTEMPT_TIMEOUT = '16 minutes'

/**
 * The job `http`, to be registered: `escapement.job(httpJob({ secrets: { default: 'whsec_…' } }))`. It calls a URL of the public internet
 * by https; an answer of 2xx is success, 408, 425, 429, 500 and above and whatever the network does are tried again, all else has failed.
 */
export function httpJob(options: HttpJobOptions = {}): Job<HttpJobInput> {
  return readOrThrow('job_invalid', (report) => {
    const inJob: Report = (field, message) => report(`job "${HTTP_JOB}": ${field}`, message)
    const settings = readHttpJobOptions(options, inJob)
    return withItsMistakes(report, () =>
      defineJob(HTTP_JOB, {
        input: HTTP_INPUT,
        retry: { ...HTTP_JOB_DEFAULTS.retry, ...options.retry },
        timeout: ATTEMPT_TIMEOUT,
        handler: (context) => perform(context, settings),
      }),
    )
  })
}

function withItsMistakes<T>(report: Report, define: () => T): T | undefined {
  try {
    return define()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    for (const { field, message } of error.details.mistakes as readonly Mistake[]) report(field, message)
    return undefined
  }
}

async function perform(
  context: HandlerContext<HttpJobInput>,
  settings: HttpJobSettings,
): Promise<HttpJobResult> {
  const { input, signal } = context
  const call = callOf(input, fieldsOf(context), settings.secrets, hostNow())
  const timeoutMs = input.timeout === undefined ? settings.timeoutMs : durationToMs(input.timeout, 'timeout')
  const startedAt = monotonicMs()
  const answer = await withDeadline(signal, timeoutMs, (ends) => exchange(call, settings, ends)).catch(
    (error) => {
      signal.throwIfAborted()
      throw notAnswered(call, error)
    },
  )
  const failure = failureOf(call, answer, hostNow())
  if (failure) throw failure
  return resultOf(answer, monotonicMs() - startedAt)
}

function fieldsOf(context: HandlerContext<HttpJobInput>): TemplateFields {
  const { run, job, schedule, scope, planTime, previousPlanTime, attempt, input } = context
  return {
    run: { id: run.id },
    job,
    schedule,
    scope,
    planTime: planTime?.toISOString() ?? null,
    previousPlanTime: previousPlanTime?.toISOString() ?? null,
    trigger: run.trigger,
    attempt,
    event: input.event,
  }
}

/** Ends the work when the handler's signal does, or after so long; what it says then is why. */
async function withDeadline(
  signal: AbortSignal,
  ms: number,
  work: (ends: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
  const follow = () => ending.abort(signal.reason)
  signal.addEventListener('abort', follow)
  if (signal.aborted) follow()
  try {
    return await work(ending.signal)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}

function notAnswered(call: Call, error: unknown): Error {
  if (error instanceof AddressRefused) {
    return new NonRetryableError(`${describeCall(call)} was not sent: ${error.message}`, { cause: error })
  }
  return new Error(`${describeCall(call)} failed: ${reasonOf(error)}`, { cause: error })
}

/** Of several addresses each may have failed for a reason of its own. */
function reasonOf(error: unknown): string {
  const errors = error instanceof AggregateError ? error.errors : [error]
  return errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
}
