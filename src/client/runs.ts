import { EscapementError } from '../errors.js'
import type { Run } from '../runs/run.js'
import { findRun, listAttempts, listRunsOfSchedule } from '../store/queries/runs.js'
import { type RunRow, toRun } from '../store/rows.js'
import { type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { type CancelOptions, cancelOne, type RetryReport, retryMany, retryOne } from './cancelling.js'
import { checkOptions, LIST_RUNS, RETRY_RUNS, WITH_REASON } from './checked-schedules.js'
import { createEnqueueing, type Enqueueing } from './enqueueing.js'
import { LIST_DEFAULTS, type Schedules } from './schedules.js'
import type { VerbParts } from './verb.js'

export interface Runs extends Enqueueing {
  get(id: string): Promise<Run>
  /** The runs of one schedule, newest first, at most 10,000: by plan time, manual ones by when they were asked for. */
  list(options: { schedule: string; limit?: number }): Promise<Run[]>
  /** Each failed attempt of a run, oldest first. */
  attempts(id: string): Promise<Attempt[]>
  /** Ends an open run; a handler that is at work on it is told, in whatever process. Repeating it changes nothing. */
  cancel(id: string, options?: CancelOptions): Promise<void>
  /** Gives a failed run one more attempt. */
  retry(id: string): Promise<void>
  /** The same for all runs that the filter finds and that have failed by now, the longest ago first. */
  retryAll(filter?: RetryFilter): Promise<RetryReport>
}

/** One failed try at a run. */
export interface Attempt {
  number: number
  workerId: string | null
  startedAt: Date | null
  finishedAt: Date
  error: { code: string; message: string; stack: string | null }
}

export interface RetryFilter {
  job?: string
  queue?: string
  /** The name of a schedule. */
  schedule?: string
  finishedAfter?: InstantInput
  finishedBefore?: InstantInput
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function createRuns(parts: VerbParts, schedules: Schedules): Runs {
  const { store, bus } = parts
  async function findRow(id: string): Promise<RunRow> {
    const row = UUID.test(id) ? await findRun(store, id) : undefined
    if (row) return row
    throw new EscapementError('run_not_found', { message: `There is no run "${id}".`, details: { id } })
  }

  return {
    ...createEnqueueing(parts),
    get: async (id) => toRun(await findRow(id)),
    async attempts(id) {
      const { id: runId } = await findRow(id)
      return (await listAttempts(store, runId)).map(({ code, message, stack, ...attempt }) => ({
        number: attempt.number,
        workerId: attempt.worker_id,
        startedAt: attempt.started_at,
        finishedAt: attempt.finished_at,
        error: { code, message, stack },
      }))
    },
    async cancel(id, options = {}) {
      checkOptions(options, WITH_REASON)
      await cancelOne(store, bus, await findRow(id), options)
    },
    retry: async (id) => retryOne(store, await findRow(id)),
    async retryAll(filter = {}) {
      checkOptions(filter, RETRY_RUNS)
      const { job, queue, schedule, finishedAfter, finishedBefore } = filter
      const date = (input: InstantInput | undefined, field: string) =>
        input === undefined
          ? undefined
          : new Date(readOrThrow('option_invalid', (report) => readInstant(input, field, report)))
      return retryMany(store, {
        job,
        queue,
        scheduleId: schedule === undefined ? undefined : (await schedules.get(schedule)).id,
        finishedAfter: date(finishedAfter, 'finishedAfter'),
        finishedBefore: date(finishedBefore, 'finishedBefore'),
      })
    },
    async list(options) {
      checkOptions(options, LIST_RUNS, ['schedule'])
      const { schedule, limit = LIST_DEFAULTS.limit } = options
      const { id } = await schedules.get(schedule)
      return (await listRunsOfSchedule(store, { scheduleId: id, limit })).map(toRun)
    },
  }
}
