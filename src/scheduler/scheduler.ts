import type { Clock } from '../clock.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import { msUntilWake } from '../store/queries/planning.js'
import type { Store } from '../store/store.js'
import { createWait } from '../wait.js'
import { type TickReport, tick } from './tick.js'

export interface SchedulerOptions {
  /**
   * How many schedules one tick takes. Larger batches fire a herd faster and hold their locks longer.
   * @default 1000
   */
  batch?: number
}

export const SCHEDULER_DEFAULTS = { batch: 1000 } satisfies SchedulerOptions

/** The longest sleep: bounds how late a change is seen whose notification was lost. */
const MAX_SLEEP_MS = 5_000
const FIRST_BUSY_MS = 20
const MAX_BUSY_MS = 1_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000

export interface Scheduler {
  start(): void
  /** Waits for the tick that is under way. */
  stop(): Promise<void>
  /** Looks at once instead of sleeping on. */
  wake(): void
  /** One batch. */
  tick(): Promise<TickReport>
}

/** Ticks while anything is due, then sleeps until the nearest cursor; waits out a database that is away. */
export function createScheduler(parts: {
  store: Store
  clock: Clock
  bus: EventBus
  logger: Logger
  batch: number
}): Scheduler {
  const { store, bus, logger, batch } = parts
  const wait = createWait(parts.clock)
  let stopping = false
  let loop: Promise<void> | undefined

  async function tickOnce(): Promise<TickReport> {
    const report = await tick(store, batch, logger)
    for (const run of report.created) {
      bus.emit('run.created', {
        runId: run.id,
        job: run.job,
        scheduleId: run.schedule_id,
        schedule: run.schedule,
        scope: run.scope,
        planTime: run.plan_time,
        attempt: 0,
        durationMs: null,
        error: null,
      })
    }
    for (const { id, name, version } of report.finished) {
      bus.emit('schedule.finished', { scheduleId: id, schedule: name, version })
    }
    return report
  }

  async function run(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS
    let busyMs = FIRST_BUSY_MS
    while (!stopping) {
      try {
        const { due } = await tickOnce()
        backoffMs = FIRST_BACKOFF_MS
        if (due === batch) continue
        const ms = (await msUntilWake(store)) ?? MAX_SLEEP_MS
        // Still due although the batch was short: another scheduler holds them, and may yet die with them.
        busyMs = ms > 0 ? FIRST_BUSY_MS : Math.min(busyMs * 2, MAX_BUSY_MS)
        await wait.sleep(ms > 0 ? Math.min(ms, MAX_SLEEP_MS) : busyMs)
      } catch (error) {
        if (backoffMs === FIRST_BACKOFF_MS)
          logger.error({ err: error }, 'the scheduler waits for the database')
        await wait.sleep(backoffMs)
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  return {
    tick: tickOnce,
    wake: wait.wake,
    start() {
      stopping = false
      loop ??= run()
    },
    async stop() {
      stopping = true
      wait.wake()
      await loop
      loop = undefined
    },
  }
}
