import type { WorkerCalls } from '../events/worker-calls.js'
import type { Run, RunTrigger } from '../runs/run.js'
import { isUuid } from '../runs/uuid.js'
import { findRun, listRunsOfSchedule } from '../store/queries/runs.js'
import { type RunRow, toRun } from '../store/rows.js'
import { readTogether, type Session } from '../store/store.js'
import { type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import {
  type CancelOptions,
  cancelOne,
  type RetryReport,
  retryMany,
  retryOne,
  runNotFound,
} from './cancelling.js'
import { checkOptions, LIST_RUNS, RETRY_RUNS, SEARCH_RUNS, WITH_REASON } from './checked-schedules.js'
import { createEnqueueing, type Enqueueing } from './enqueueing.js'
import { type Attempt, type RunDetails, readAttempts, readDetails } from './run-details.js'
import { type RunPage, type RunSearchOptions, searchRuns } from './run-search.js'
import { forbidden } from './schedule-errors.js'
import { LIST_DEFAULTS, type Schedules } from './schedules.js'
import type { VerbParts } from './verb.js'

export interface Runs extends Enqueueing {
  get(id: string): Promise<Run>
  /** The runs of one schedule, newest first, at most 10,000: by plan time, manual ones by when they were asked for. */
  list(options: { schedule: string; limit?: number }): Promise<Run[]>
  /**
   * Runs of all schedules and of none, newest first, page by page: by plan time, or where a run has none by when it was asked
   * for. Where only states of ended runs are asked for, of no schedule in particular and not within one group, they come by
   * when they ended. `from` and `to` are about the same time.
   *
   * However many runs there are, a page takes a bounded look: one that finds too little in it is short, or empty, and has a
   * `nextPageToken` all the same.
   */
  search(options?: RunSearchOptions): Promise<RunPage>
  /** A run with its attempts, its lease, what its schedule was when it asked for it, and in what that has changed since. */
  details(id: string): Promise<RunDetails>
  /** Each failed attempt of a run, oldest first. */
  attempts(id: string): Promise<Attempt[]>
  /** Ends an open run; a handler that is at work on it is told, in whatever process. Repeating it changes nothing. */
  cancel(id: string, options?: CancelOptions): Promise<void>
  /** Gives a failed run one more attempt. */
  retry(id: string): Promise<void>
  /** The same for all runs that the filter finds and that have failed by now, the longest ago first. */
  retryAll(filter?: RetryFilter): Promise<RetryReport>
}

/** Which failed runs `runs.retryAll` is for; an empty one is for all. */
export interface RetryFilter {
  /** Those of this job. */
  job?: string
  /** Those of this queue. */
  queue?: string
  /** The name of a schedule. */
  schedule?: string
  /** Those that this asked for. */
  trigger?: RunTrigger
  /** Those that ended then or later. */
  finishedAfter?: InstantInput
  /** Those that ended before then. */
  finishedBefore?: InstantInput
  /** Those whose plan time, or where they have none the time at which they were asked for, is this or later. */
  plannedAfter?: InstantInput
  /** The same, before this. */
  plannedBefore?: InstantInput
}

export function createRuns(parts: VerbParts, schedules: Schedules, calls: WorkerCalls): Runs {
  const { store, group } = parts

  async function findRow(id: string, session: Session = store): Promise<RunRow> {
    const row = isUuid(id) ? await findRun(session, id, group) : undefined
    if (row) return row
    throw runNotFound(id)
  }

  /** Within a group its schedule must still be in it when what belongs to it is read. */
  const together = <T>(id: string, read: (session: Session, row: RunRow) => Promise<T>): Promise<T> =>
    readTogether(store, async (session) => read(session, await findRow(id, session)))

  return {
    ...(group === undefined ? createEnqueueing(parts, calls) : noEnqueueing(group)),
    async get(id) {
      const row = await findRow(id)
      return toRun(row, row)
    },
    details: (id) => together(id, readDetails),
    async attempts(id) {
      if (group !== undefined) return together(id, (session, row) => readAttempts(session, row.id))
      return readAttempts(store, (await findRow(id)).id)
    },
    async cancel(id, options = {}) {
      checkOptions(options, WITH_REASON)
      await cancelOne(parts, await findRow(id), options)
    },
    retry: async (id) => retryOne(parts, await findRow(id)),
    async retryAll(filter = {}) {
      checkOptions(filter, RETRY_RUNS)
      const { job, queue, schedule, trigger } = filter
      const date = (field: `${'finished' | 'planned'}${'After' | 'Before'}`) => {
        const input = filter[field]
        return input === undefined
          ? undefined
          : new Date(readOrThrow('option_invalid', (report) => readInstant(input, field, report)))
      }
      return retryMany(parts, {
        job,
        queue,
        group,
        scheduleId: schedule === undefined ? undefined : (await schedules.get(schedule)).id,
        trigger,
        finishedAfter: date('finishedAfter'),
        finishedBefore: date('finishedBefore'),
        plannedAfter: date('plannedAfter'),
        plannedBefore: date('plannedBefore'),
      })
    },
    async list(options) {
      checkOptions(options, LIST_RUNS, ['schedule'])
      const { schedule, limit = LIST_DEFAULTS.limit } = options
      const { id } = await schedules.get(schedule)
      return (await listRunsOfSchedule(store, { scheduleId: id, group, limit })).map((row) => toRun(row, row))
    },
    async search(options = {}) {
      checkOptions(options, SEARCH_RUNS)
      const { schedule, scheduleId } = options
      const named = schedule === undefined ? scheduleId : (await schedules.get(schedule)).id
      if (scheduleId !== undefined && named !== scheduleId) return { runs: [], nextPageToken: null }
      return searchRuns(parts, options, named)
    },
  }
}

/** A direct run belongs to no schedule, and so to no group. */
function noEnqueueing(group: string): Enqueueing {
  const refuse = async () => {
    throw forbidden('Runs cannot be asked for directly', group)
  }
  return { enqueue: refuse, enqueueMany: refuse }
}
