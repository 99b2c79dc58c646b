import { EscapementError } from '../errors.js'
import { type Logger, withFacts } from '../logger.js'
import { type AnyJob, checkInput } from '../runs/job.js'
import { retryDelayMs } from '../runs/retry-delay.js'
import { storableJson, storableText } from '../runs/storable.js'
import type { ClaimedRow, Outcome } from '../store/queries/runs.js'
import { toRun } from '../store/rows.js'

export interface Execution {
  row: ClaimedRow
  job: AnyJob
  leaseToken: string
  workerId: string
  /** Aborted by the lease keeper, by the timeout, or by a shutdown; its reason says which. */
  abort: AbortController
}

const LONGEST_MESSAGE = 4_000
const LARGEST_RESULT_BYTES = 16 * 1024

/** Runs the handler and says how it ended. Never rejects: whatever a handler does costs its own slot only. */
export async function execute(execution: Execution, logger: Logger): Promise<Outcome> {
  const { row, job, leaseToken, abort } = execution
  const timer = setTimeout(() => abort.abort(timedOut(job)), job.timeoutMs)
  const identity = { runId: row.id, leaseToken, lanesOf: row.lane === null ? null : row.schedule_id }
  const ended = aborted(abort.signal)
  try {
    const input = await Promise.race([checkStoredInput(job, row.input), ended])
    const result = await Promise.race([callHandler(execution, input, logger), ended])
    return { ...identity, state: 'succeeded', result: resultJson(result) }
  } catch (error) {
    // The same input will not fit the next time either.
    const delayMs = error instanceof InputRefused ? null : retryDelayMs(job.retry, row.attempt)
    const failure = describeFailure(error instanceof InputRefused ? error.cause : error)
    return { ...identity, state: delayMs === null ? 'failed' : 'retrying', delayMs: delayMs ?? 0, ...failure }
  } finally {
    clearTimeout(timer)
  }
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

async function callHandler({ row, job, workerId, abort }: Execution, input: unknown, logger: Logger) {
  return job.handler({
    job: job.name,
    input: input as never,
    run: toRun(row),
    attempt: row.attempt,
    planTime: row.plan_time,
    scope: row.scope,
    workerId,
    signal: abort.signal,
    log: withFacts(logger, { runId: row.id, job: job.name, attempt: row.attempt }),
  })
}

function aborted(signal: AbortSignal): Promise<never> {
  const promise = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  // Aborted after the handler has ended, nobody waits for it any more.
  promise.catch(() => {})
  return promise
}

/** A result that is too large to keep must not turn work that was done into a failure. */
function resultJson(result: unknown): string {
  let json: string
  try {
    json = storableJson(result)
  } catch (error) {
    return JSON.stringify({ $unserializable: (error as Error).message })
  }
  const bytes = Buffer.byteLength(json)
  return bytes <= LARGEST_RESULT_BYTES ? json : JSON.stringify({ $tooLarge: { bytes } })
}

/** Of whatever was thrown: anything can be, also what cannot be made into a text. */
function describeFailure(error: unknown): { code: string; message: string; stack: string | null } {
  const read = (get: () => unknown): string | null => {
    try {
      const value = get()
      return value === undefined ? null : cut(String(value))
    } catch {
      return null
    }
  }
  return {
    code: error instanceof EscapementError ? error.code : 'handler_error',
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

/** At most 4,000 characters, and never half a surrogate pair. */
function cut(text: string): string {
  return storableText(text.slice(0, LONGEST_MESSAGE))
}
