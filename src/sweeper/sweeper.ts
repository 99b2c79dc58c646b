import { type Clock, monotonicMs } from '../clock.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import { createPulse, type PulseState } from '../pulse.js'
import { releaseQuarantine } from '../store/queries/transition-log.js'
import { msUntilDue } from '../store/queries/transition-sweep.js'
import { isCutOff, isRefusedByServer } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { DurationInput } from '../time/duration.js'
import { noCounts, type SweepReport, sumCounts, type TransitionHooks } from '../transitions/change.js'
import type { IndexPolicy } from '../transitions/declaration.js'
import type { TransitionRegistry } from '../transitions/registry.js'
import type { SweptTable } from '../transitions/table.js'
import { createWait } from '../wait.js'
import { sweepTable, type TableSweep } from './sweep.js'
import { HookFailure, tellChanges } from './telling.js'
import { createLogUpkeep } from './upkeep.js'

/** The hooks given here hear of all tables, before those of the declarations. */
export interface SweeperOptions extends TransitionHooks {
  /**
   * The longest sleep. It bounds how late a due time is seen that was written while a sweeper slept, without `wake`.
   * @default '1 minute'
   */
  interval?: DurationInput
  /**
   * How many rows of a table one sweep changes, in one transaction. Larger batches are faster and hold their locks longer.
   * @default 500
   */
  batchSize?: number
  /**
   * Whether declaring puts a trigger on the due columns that wakes sleeping sweepers. It fires once for each statement that
   * writes one, and costs that a notification.
   * @default false
   */
  wake?: boolean
  /**
   * `create` builds the indexes that sweeps need when a table is declared, on a server without holding up writers; `check`
   * changes nothing, and refuses a declaration whose index is missing with the statement that makes it.
   * @default 'create'
   */
  indexes?: IndexPolicy
  /**
   * How long the log keeps what it holds of rows that are gone or have another due time by now. What rows still have is kept in
   * any case. False keeps everything.
   * @default '90 days'
   */
  retention?: DurationInput | false
}

export const SWEEPER_DEFAULTS = {
  interval: '1 minute',
  batchSize: 500,
  wake: false,
  indexes: 'create',
  retention: '90 days',
} satisfies SweeperOptions

const FIRST_BUSY_MS = 20
const MAX_BUSY_MS = 1_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
const FIRST_REST_MS = 1_000
/** Of wakes that come in a stream: one look in so many milliseconds. */
const SHORTEST_SLEEP_MS = 20

/**
 * The server ends our statements by itself, before we give its answer up: who merely hangs up leaves one behind that waits for a
 * lock, and another the next time.
 */
const LIMITS = `set local statement_timeout = '12s'`
/** Somebody who has locked a whole table keeps the others waiting for no longer than this. */
const LOOK_LIMITS = `${LIMITS}; set local lock_timeout = '1s'`

/** What `transitions.sweep` takes. */
export interface SweepOptions {
  /**
   * Whether rows that were set aside are tried again.
   * @default false
   */
  quarantined?: boolean
}

export const SWEEP_DEFAULTS = { quarantined: false } satisfies SweepOptions

export interface Sweeper {
  start(): void
  /** Waits for the sweep that is under way. */
  stop(): Promise<void>
  /** Looks at once instead of sleeping on. */
  wake(): void
  /** One batch of each table that has rows due. */
  sweep(options?: SweepOptions): Promise<SweepReport>
  /** Milliseconds until a row is due; null when none is to come. */
  msUntilDue(): Promise<number | null>
  /** Prunes the log, all of it. */
  prune(): Promise<void>
  /** How its loop turns; null where it was not started. */
  pulse(): PulseState | null
}

export function createSweeper(parts: {
  store: Store
  clock: Clock
  bus: EventBus
  logger: Logger
  tables: TransitionRegistry
  hooks: TransitionHooks
  intervalMs: number
  batchSize: number
  retentionMs: number | null
}): Sweeper {
  const { store, clock, bus, logger, tables, batchSize, intervalMs, retentionMs } = parts
  const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))
  const wait = createWait(clock)
  const pulse = createPulse()
  const upkeep = createLogUpkeep(limited(LOOK_LIMITS), clock, { retentionMs, logger, onSlice: pulse.beat })
  /** How many rows a batch takes at the moment, where not as many as it may. */
  const reaches = new WeakMap<SweptTable, number>()
  /** Tables of which the last sweep has left rows: these need not be asked whether they have any. */
  const leftover = new WeakSet<SweptTable>()
  let stopping = false
  let loop: Promise<void> | undefined

  async function sweepOne(table: SweptTable): Promise<Pick<TableSweep, 'counts' | 'errors'>> {
    const hooks = [parts.hooks, table.hooks]
    const reach = reaches.get(table) ?? batchSize
    try {
      const sweep = await sweepTable(limited(LIMITS), table, { batchSize: reach, hooks })
      reaches.set(table, Math.min(batchSize, reach + Math.ceil(batchSize / 10)))
      await tellChanges(sweep.changes, { clock, bus, logger, hooks, onTold: pulse.beat })
      return sweep
    } catch (error) {
      if (!(error instanceof HookFailure ? error.isCutOff : isCutOff(error))) throw error
      if (reach === 1) throw new CutOff((error as Error).message, { cause: error })
      logger.warn(
        { table: table.name, rows: reach, err: error },
        'a sweep was cut off, and is tried with half as many rows',
      )
      reaches.set(table, Math.ceil(reach / 2))
      // In the next pass: the other tables have their turn before.
      return { counts: { ...noCounts(), truncated: true }, errors: [] }
    }
  }

  function limited(limits: string): Store {
    return {
      ...store,
      transaction: (work) =>
        store.transaction(async (session, tx) => {
          await tx.script(limits)
          return work(session, tx)
        }),
    }
  }

  const look = (table: SweptTable) =>
    limited(LOOK_LIMITS).transaction((session) => msUntilDue(session, table))

  /** Rethrows what is not the fault of one table: a database that does not answer. */
  function noteFailure(table: SweptTable, error: unknown): string {
    if (!(error instanceof HookFailure || error instanceof CutOff) && !isRefusedByServer(error)) throw error
    logger.error({ table: table.name, err: error }, 'a table could not be swept; it is tried again')
    return (error as Error).message
  }

  /** What cannot be swept is reported, and the other tables go on; a database that does not answer ends all of it. */
  async function sweepAll(wanted: readonly SweptTable[]): Promise<Pass> {
    const startedMs = monotonicMs()
    const swept: SweepReport = { ...noCounts(), tables: [], errors: [] }
    const failed: SweptTable[] = []
    for (const table of wanted) {
      pulse.beat()
      try {
        const isDue = leftover.delete(table) || (await look(table)) === 0
        const sweep = isDue ? await sweepOne(table) : { counts: noCounts(), errors: [] }
        if (sweep.counts.truncated) leftover.add(table)
        swept.tables.push({ table: table.name, ...sweep.counts })
        swept.errors.push(...sweep.errors)
        for (const { key, message } of sweep.errors) {
          logger.warn(
            { table: table.name, key, reason: message },
            'a row cannot be changed and was set aside',
          )
        }
      } catch (error) {
        const message = noteFailure(table, error)
        failed.push(table)
        swept.tables.push({ table: table.name, ...noCounts() })
        swept.errors.push({ table: table.name, message })
      }
    }
    const report = { ...swept, ...sumCounts(swept.tables) }
    const { updated, deleted, quarantined } = report
    bus.emit('sweeper.swept', { durationMs: monotonicMs() - startedMs, updated, deleted, quarantined })
    return { report, failed }
  }

  /** A table that cannot be asked is looked at again soon: that sweep of it fails as well, and lets it rest. */
  async function nearest(wanted: readonly SweptTable[]): Promise<number | null> {
    const waits: number[] = []
    for (const table of wanted) {
      pulse.beat()
      try {
        const ms = await look(table)
        if (ms !== null) waits.push(ms)
      } catch (error) {
        noteFailure(table, error)
        waits.push(FIRST_REST_MS)
      }
    }
    return waits.length === 0 ? null : Math.min(...waits)
  }

  async function run(): Promise<void> {
    const rests = createRests(intervalMs, clock)
    let backoffMs = FIRST_BACKOFF_MS
    let busyMs = FIRST_BUSY_MS
    pulse.begin()
    while (!stopping) {
      pulse.beat()
      try {
        const { report, failed } = await sweepAll(rests.rested(tables.all()))
        rests.note(failed, tables.all())
        backoffMs = FIRST_BACKOFF_MS
        pulse.passed(0)
        await upkeep.step(tables.all(), report.updated + report.deleted)
        if (report.truncated) continue
        const ms = (await nearest(rests.rested(tables.all()))) ?? intervalMs
        // Still due although none was left: somebody else holds the rows, and may yet give them back.
        busyMs = ms > 0 ? FIRST_BUSY_MS : Math.min(busyMs * 2, MAX_BUSY_MS)
        const sleepMs = Math.min(ms > 0 ? ms : busyMs, intervalMs, rests.msUntilNext())
        pulse.passed(sleepMs)
        const isWoken = await wait.sleep(sleepMs)
        if (isWoken && !stopping) await pause(SHORTEST_SLEEP_MS)
      } catch (error) {
        if (backoffMs === FIRST_BACKOFF_MS) logger.error({ err: error }, 'the sweeper waits for the database')
        pulse.waitsOut(backoffMs)
        await wait.sleep(backoffMs)
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  return {
    async sweep({ quarantined = SWEEP_DEFAULTS.quarantined } = {}) {
      const all = tables.all()
      if (quarantined) {
        await releaseQuarantine(
          store,
          all.flatMap(({ fields }) => fields.map(({ id }) => id)),
        )
      }
      return (await sweepAll(all)).report
    },
    msUntilDue: () => nearest(tables.all()),
    prune: () => upkeep.turn(tables.all()),
    wake: wait.wake,
    pulse: pulse.state,
    start() {
      stopping = false
      loop ??= run()
    },
    async stop() {
      stopping = true
      pulse.end()
      wait.wake()
      await loop
      loop = undefined
    },
  }
}

/** A sweep was cut off that had one row only. */
class CutOff extends Error {}

interface Pass {
  report: SweepReport
  /** Tables of which nothing was done. */
  failed: readonly SweptTable[]
}

/** Tables that cannot be swept rest for longer each time, and hold nobody else up. */
function createRests(longestMs: number, { elapsedMs }: Clock) {
  const resting = new Map<SweptTable, { until: number; ms: number }>()
  return {
    rested: (tables: readonly SweptTable[]) =>
      tables.filter((table) => (resting.get(table)?.until ?? 0) <= elapsedMs()),
    note(failed: readonly SweptTable[], tables: readonly SweptTable[]) {
      for (const table of tables) {
        const rest = resting.get(table)
        if (failed.includes(table)) {
          const ms = Math.min(rest ? rest.ms * 2 : FIRST_REST_MS, longestMs)
          resting.set(table, { ms, until: elapsedMs() + ms })
        } else if (rest && rest.until <= elapsedMs()) resting.delete(table)
      }
    },
    msUntilNext: () =>
      Math.max(1, Math.min(...[...resting.values()].map(({ until }) => until)) - elapsedMs()),
  }
}
