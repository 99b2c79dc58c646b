/**
 * Keeps the log of transitions from growing for ever: a slice of it at a time, in the order of its key, each going on where the
 * last one ended, so that the cost of a slice does not grow with the log.
 */
import { monotonicMs } from '../clock.js'
import type { Logger } from '../logger.js'
import { type LogPosition, pruneLog, pruneQuarantine } from '../store/queries/transition-log.js'
import type { Store } from '../store/store.js'
import type { SweptTable } from '../transitions/table.js'

const EVERY_MS = 60_000
const SLICE = 5_000

export interface LogUpkeep {
  /** One slice, if its time has come. */
  step(tables: readonly SweptTable[]): Promise<void>
  /** A whole turn, now. */
  turn(tables: readonly SweptTable[]): Promise<void>
}

export function createLogUpkeep(store: Store, retentionMs: number, logger: Logger): LogUpkeep {
  let lastAt = monotonicMs()
  let [place, after]: [number, LogPosition | null] = [0, null]

  /** Returns whether a turn through all fields is complete. */
  async function slice(tables: readonly SweptTable[]): Promise<boolean> {
    // A row that policies hide looks as if it were gone.
    const fields = tables
      .filter(({ hasRowSecurity }) => !hasRowSecurity)
      .flatMap((table) => table.fields.map((field) => ({ table, field })))
    const next = fields[place]
    if (!next) {
      place = 0
      return true
    }
    try {
      if (after === null) await pruneQuarantine(store, next.table, next.field)
      after = await pruneLog(store, next.table, next.field, { after, limit: SLICE, retentionMs })
    } catch (error) {
      after = null
      logger.warn(
        { table: next.table.name, field: next.field.name, err: error },
        'a log of transitions was not pruned',
      )
    }
    if (after === null) place += 1
    return false
  }

  return {
    async step(tables) {
      if (monotonicMs() - lastAt < EVERY_MS) return
      lastAt = monotonicMs()
      await slice(tables)
    },
    async turn(tables) {
      ;[place, after] = [0, null]
      while (!(await slice(tables)));
    },
  }
}
