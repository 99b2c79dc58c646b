import type { Clock } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { type AnyJob, checkInput, type HandlerTransaction } from '../runs/job.js'
import { isNonRetryable, isRetryAfter, retryDelayMs } from '../runs/retry-delay.js'
import { LARGEST_RESULT_BYTES, storableJson, storablePrefix } from '../runs/storable.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import type { HeldLease } from '../store/queries/leases.js'
import type { Outcome } from '../store/queries/outcomes.js'
import { durationToMs } from '../time/duration.js'
import type { AttemptSpan } from './attempt-span.js'
import { contextOf } from './context.js'
import type { Interrupt } from './interrupt.js'
import type { Telling } from './telling.js'

export interface Execution {
  row: ClaimedRow
  job: AnyJob
  leaseToken: string
  workerId: string
  lease: HeldLease
  /** Told by the lease keeper, by the timeout, or by a shutdown. */
  interrupt: Interrupt
  telling: Telling
  span: AttemptSpan
  /** How much of the jitter falls to the retry of this attempt, from 0 to 1. */
  jitter: number
  /** Its handler has not ended yet. */
  isBusy: boolean
  /** Claimed, and waiting for a connection: nothing of it has begun. */
  isWaiting?: boolean
  /** The worker has stopped and waits no longer: what this attempt did not say by now is not said. */
  isGivenUp?: boolean
}

const LONGEST_MESSAGE = 4_000

interface Surroundings {
  logger: Logger
  clock: Clock
}

/**
 * Runs the handler and says how it ended. Never rejects, and never throws: whatever a handler does costs its own slot only. What is
 * done at once is answered at once, with neither timer nor race.
 */
export function execute(
  execution: Execution,
  parts: Surroundings,
  tx?: HandlerTransaction,
): Outcome | Promise<Outcome> {
  const { job, row, span } = execution
  if (job.schema || job.gate) return executeInSteps(execution, parts, tx)
  try {
    const work = span.within(() => job.handler(contextOf(execution, row.input, parts.logger, tx) as never))
    return isThenable(work) ? settle(execution, parts, work) : succeeded(execution, work)
  } catch (error) {
    return outcomeOf(execution, failureOf(error, execution))
  }
}

async function settle(
  execution: Execution,
  { clock }: Surroundings,
  work: PromiseLike<unknown>,
): Promise<Outcome> {
  const { interrupt } = execution
  const stopTimer = startTimer(execution, clock)
  try {
    return succeeded(execution, await interrupt.race(work))
  } catch (error) {
    return outcomeOf(execution, failureOf(error, execution))
  } finally {
    stopTimer()
  }
}

/** The time that it has begins when it is first waited for: for checking the input, the gate and the handler together. */
async function executeInSteps(
  execution: Execution,
  { logger, clock }: Surroundings,
  tx: HandlerTransaction | undefined,
): Promise<Outcome> {
  const { job, row, interrupt, span } = execution
  let stopTimer: (() => void) | undefined
  const call = <T>(begin: () => T | PromiseLike<T>): T | Promise<T> => {
    const work = span.within(begin)
    if (!isThenable(work)) return work
    stopTimer ??= startTimer(execution, clock)
    return interrupt.race(work)
  }
  try {
    const input = job.schema ? await call(() => checkStoredInput(job, row.input)) : row.input
    if (job.gate) {
      const { gate } = job
      const answer = await call(() => gate({ schedule: row.schedule_name, input: input as never }))
      if (answer !== true) return outcomeOf(execution, skippedBy(answer))
    }
    const result = await call(() => job.handler(contextOf(execution, input, logger, tx) as never))
    return succeeded(execution, result)
  } catch (error) {
    return outcomeOf(execution, failureOf(error, execution))
  } finally {
    stopTimer?.()
  }
}

function startTimer({ job, interrupt }: Execution, clock: Clock): () => void {
  return clock.after(job.timeoutMs, () => interrupt.abort(timedOut(job)))
}

function succeeded(execution: Execution, result: unknown): Outcome {
  return outcomeOf(execution, { state: 'succeeded', result: resultJson(result) })
}

function isThenable<T>(work: T | PromiseLike<T>): work is PromiseLike<T> {
  return typeof (work as PromiseLike<T> | null)?.then === 'function'
}

type Ending = { state: 'succeeded'; result: string } | Failure
type Failure = {
  state: 'retrying' | 'failed' | 'skipped'
  delayMs: number
  code: string
  message: string
  stack: string | null
}

/** An outcome of a run as it was claimed. */
export function outcomeOf({ row, leaseToken, telling }: Execution, ending: Ending): Outcome {
  const of =
    row.schedule_id === null
      ? null
      : {
          scheduleId: row.schedule_id,
          trigger: row.trigger,
          planTime: row.plan_time,
          isLaned: row.lane !== null,
          hasBreaker: row.has_breaker,
        }
  return { runId: row.id, leaseToken, lotId: row.lot_id, of, totals: telling.counted, ...ending }
}

/** Codes are ours to give: whatever else a handler throws or lets through is its own error. */
export function failureOf(error: unknown, { job, row, interrupt, jitter }: Execution): Failure {
  const delayMs = delayAfter(error, job, { attempt: row.attempt, jitter })
  const code =
    error instanceof InputRefused
      ? 'input_invalid'
      : error instanceof EscapementError && error === interrupt.reason
        ? error.code
        : 'handler_error'
  return {
    state: delayMs === null ? 'failed' : 'retrying',
    delayMs: delayMs ?? 0,
    code,
    ...describe(error instanceof InputRefused ? error.cause : error),
  }
}

function delayAfter(
  error: unknown,
  job: AnyJob,
  { attempt, jitter }: { attempt: number; jitter: number },
): number | null {
  const delayMs = retryDelayMs(job.retry, attempt, jitter)
  try {
    // The same input will not fit the next time either.
    if (error instanceof InputRefused || isNonRetryable(error)) return null
    return delayMs !== null && isRetryAfter(error) ? durationToMs(error.after, 'after') : delayMs
  } catch {
    return delayMs
  }
}

/** Whatever a gate answers but true closes it; without a reason too. */
function skippedBy(answer: unknown): Failure {
  const { message } = describe((answer as { reason?: unknown } | null)?.reason ?? 'Its gate is closed.')
  return { state: 'skipped', delayMs: 0, code: 'gate_closed', message, stack: null }
}

/** Tells a refused input apart from whatever a handler may throw. */
class InputRefused extends Error {}

async function checkStoredInput(job: AnyJob, input: unknown): Promise<unknown> {
  try {
    return await checkInput(job, input)
  } catch (error) {
    throw new InputRefused('', { cause: error })
  }
}

/** A result that is too large to keep must not turn work that was done into a failure. */
function resultJson(result: unknown): string {
  let json: string
  try {
    json = storableJson(result)
  } catch (error) {
    return JSON.stringify({ $unserializable: describe(error).message })
  }
  const bytes = Buffer.byteLength(json)
  return bytes <= LARGEST_RESULT_BYTES ? json : JSON.stringify({ $tooLarge: { bytes } })
}

/** Of whatever was thrown: anything can be, also what cannot be made into a text. */
function describe(error: unknown): { message: string; stack: string | null } {
  const read = (get: () => unknown): string | null => {
    try {
      const value = get()
      return value === undefined ? null : cut(String(value))
    } catch {
      return null
    }
  }
  return {
    message:
      read(() => (error instanceof Error ? error.message : String(error))) ?? 'threw what cannot be told',
    stack: read(() => (error instanceof Error ? error.stack : undefined)),
  }
}

function timedOut(job: AnyJob): EscapementError {
  return new EscapementError('timed_out', {
    message: `The handler took longer than its timeout of ${job.timeoutMs / 1000} s.`,
  })
}

function cut(text: string): string {
  return storablePrefix(text, LONGEST_MESSAGE)
}
