import { askProviders } from '../client/scopes.js'
import { type Clock, monotonicMs } from '../clock.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { listDueProviders, msUntilWake } from '../store/queries/planning.js'
import { readNow } from '../store/queries/schedules.js'
import type { Store } from '../store/store.js'
import { TIMING_KINDS } from '../time/timing.js'
import { createWait } from '../wait.js'
import { resumeEnded } from './end-pauses.js'
import { reconcile } from './reconcile.js'
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
const RECONCILE_EVERY_MS = 5 * 60_000

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
  jobs: JobRegistry
  batch: number
}): Scheduler {
  const { store, bus, logger, jobs, batch } = parts
  const wait = createWait(parts.clock)
  let stopping = false
  let loop: Promise<void> | undefined

  async function tickOnce(): Promise<TickReport> {
    const providers = jobs.all().flatMap(({ name, scopes }) => (scopes ? [name] : []))
    const scopes = providers.length === 0 ? new Map() : await askDueProviders(providers)
    const ended = await resumeEnded({ store, jobs, bus }, batch)
    const limits = { limit: batch, kinds: TIMING_KINDS, providers: [...scopes.keys()] }
    const report = await tick(store, limits, scopes, logger)
    emitAll(bus, report)
    return { ...report, due: Math.max(report.due, Math.min(ended, batch)) }
  }

  async function askDueProviders(providers: readonly string[]) {
    const due = await listDueProviders(store, providers)
    if (due.length === 0) return new Map<string, readonly string[]>()
    return askProviders(jobs, due, await readNow(store), (job, error) =>
      logger.error({ job, err: error }, 'a scope provider failed; it is asked again'),
    )
  }

  async function run(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS
    let busyMs = FIRST_BUSY_MS
    let reconciledAt = Number.NEGATIVE_INFINITY
    while (!stopping) {
      try {
        if (monotonicMs() - reconciledAt >= RECONCILE_EVERY_MS) {
          await reconcile(store, { suspectsOnly: true })
          reconciledAt = monotonicMs()
        }
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

function emitAll(bus: EventBus, { created, finished }: TickReport): void {
  for (const run of created) {
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
  for (const { id, name, version } of finished) {
    bus.emit('schedule.finished', { scheduleId: id, schedule: name, version })
  }
}
