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
  const identity = { runId: row.id, leaseToken }
  try {
    const input = await checkInput(job, row.input)
    const result = await Promise.race([callHandler(execution, input, logger), aborted(abort.signal)])
    return { ...identity, state: 'succeeded', result: resultJson(result) }
  } catch (error) {
    const delayMs = codeOf(error) === 'input_invalid' ? null : retryDelayMs(job.retry, row.attempt)
    return {
      ...identity,
      state: delayMs === null ? 'failed' : 'retrying',
      delayMs: delayMs ?? 0,
      code: codeOf(error),
      message: cut(error instanceof Error ? error.message : String(error)),
      stack: error instanceof Error && error.stack !== undefined ? cut(error.stack) : null,
    }
  } finally {
    clearTimeout(timer)
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
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
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

function codeOf(error: unknown): string {
  return error instanceof EscapementError ? error.code : 'handler_error'
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
