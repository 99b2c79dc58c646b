import { EscapementError } from '../errors.js'
import type { Run } from '../runs/run.js'
import { findRun, listRunsOfSchedule } from '../store/queries/runs.js'
import { toRun } from '../store/rows.js'
import type { Store } from '../store/store.js'
import { checkOptions, LIST_RUNS } from './checked-schedules.js'
import { LIST_DEFAULTS, type Schedules } from './schedules.js'

export interface Runs {
  get(id: string): Promise<Run>
  /** The runs of one schedule, newest first, at most 10,000: by plan time, manual ones by when they were asked for. */
  list(options: { schedule: string; limit?: number }): Promise<Run[]>
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function createRuns(store: Store, schedules: Schedules): Runs {
  return {
    async get(id) {
      const row = UUID.test(id) ? await findRun(store, id) : undefined
      if (row) return toRun(row)
      throw new EscapementError('run_not_found', { message: `There is no run "${id}".`, details: { id } })
    },
    async list(options) {
      checkOptions(options, LIST_RUNS, ['schedule'])
      const { schedule, limit = LIST_DEFAULTS.limit } = options
      const { id } = await schedules.get(schedule)
      return (await listRunsOfSchedule(store, { scheduleId: id, limit })).map(toRun)
    },
  }
}
