/**
 * Keeps the log of transitions from growing for ever: a slice of it at a time, in the order of its key, each going on where the
 * last one ended, so that the cost of a slice does not grow with the log.
 */
import type { Clock } from '../clock.js'
import type { Logger } from '../logger.js'
import { type LogPosition, pruneLog, pruneQuarantine } from '../store/queries/transition-log.js'
import type { Store } from '../store/store.js'
import type { SweptField, SweptTable } from '../transitions/table.js'

const EVERY_MS = 60_000
const SLICE = 5_000

export interface LogUpkeep {
  /** Slices, if their time has come: one, and twice as much as was logged since, so that the log is never ahead. */
  step(tables: readonly SweptTable[], logged: number): Promise<void>
  /** A whole turn, now. */
  turn(tables: readonly SweptTable[]): Promise<void>
}

/** Without a retention the log is kept, and only what was set aside is tidied up. */
export function createLogUpkeep(
  store: Store,
  { elapsedMs }: Clock,
  { retentionMs, logger, onSlice }: { retentionMs: number | null; logger: Logger; onSlice: () => void },
): LogUpkeep {
  let lastAt = elapsedMs()
  let loggedSince = 0
  let [place, after]: [number, LogPosition | null] = [0, null]

  /** Returns whether a turn through all fields is complete. */
  async function slice(tables: readonly SweptTable[]): Promise<boolean> {
    const fields = tables.flatMap((table) => table.fields.map((field) => ({ table, field })))
    const next = fields[place]
    onSlice()
    if (!next) {
      place = 0
      return true
    }
    const { table, field } = next
    try {
      if (after === null) await pruneQuarantine(store, table, field)
      after =
        retentionMs === null
          ? null
          : await pruneLog(store, table, field, { after, limit: SLICE, retentionMs })
    } catch (error) {
      after = null
      tell(error, table, field)
    }
    if (after === null) place += 1
    return false
  }

  function tell(error: unknown, { name }: SweptTable, field: SweptField): void {
    // Where policies hide rows nobody can say whose row is gone. So it was declared, with a warning then.
    const { code, routine } = error as { code?: unknown; routine?: unknown }
    const isHidden = code === '42501' && routine !== 'aclcheck_error'
    logger[isHidden ? 'debug' : 'warn'](
      { table: name, field: field.name, err: error },
      'a log of transitions was not pruned',
    )
  }

  return {
    async step(tables, logged) {
      loggedSince += logged
      if (elapsedMs() - lastAt < EVERY_MS) return
      lastAt = elapsedMs()
      let slices = 1 + Math.ceil((2 * loggedSince) / SLICE)
      loggedSince = 0
      while (slices-- > 0 && !(await slice(tables)));
    },
    async turn(tables) {
      ;[place, after] = [0, null]
      while (!(await slice(tables)));
    },
  }
}
