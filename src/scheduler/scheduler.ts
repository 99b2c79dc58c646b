import type { Chance } from '../chance.js'
import { type Clock, monotonicMs } from '../clock.js'
import type { EventBus } from '../events/bus.js'
import { runCreated, tellCancelled } from '../events/run-events.js'
import { actOf, tellActs } from '../events/schedule-events.js'
import type { WorkerCalls } from '../events/worker-calls.js'
import type { Logger } from '../logger.js'
import { createPulse, type PulseState } from '../pulse.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { storableText } from '../runs/storable.js'
import { RUNS_AT_ONCE } from '../schedules/plan.js'
import { listDueProviders } from '../store/queries/planning.js'
import type { Retention } from '../store/queries/pruning.js'
import { readNow } from '../store/queries/schedules.js'
import { setAsideFirst, setAsideProvider } from '../store/queries/set-aside.js'
import { hasTakenTooLong, isCutOff, isRefusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { DurationInput } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { TIMING_KINDS } from '../time/timing.js'
import { createWait, longestSleepMs } from '../wait.js'
import { createAhead } from './ahead.js'
import { createDueFront } from './due-front.js'
import { resumeEnded } from './end-pauses.js'
import { createMinutes } from './minutes.js'
import { createProviders, type ScopesAt, type Wanted } from './providers.js'
import { type CreatedRun, NOTHING_DUE, type TickReport, tick, type WorkerHere } from './tick.js'
import { createUpkeep } from './upkeep.js'

/** How schedulers of this process work, and how long history is kept. */
export interface SchedulerOptions {
  /**
   * How many schedules one tick takes at most: of a herd the first takes 100, and each twice the one before. Larger batches fire a herd faster and hold their
   * locks longer.
   * @default 1000
   */
  batch?: number
  /**
   * How long ended runs are kept: cancelled and skipped ones as long as those that succeeded. `stats` is how long it is kept how many
   * ran in each minute (`statsHistory`). False keeps everything for ever.
   * @default { succeeded: '30 days', failed: '90 days', stats: '30 days' }
   */
  retention?: RetentionOption
}

type RetentionOption = false | { succeeded?: DurationInput; failed?: DurationInput; stats?: DurationInput }

export const SCHEDULER_DEFAULTS = {
  batch: 1000,
  retention: { succeeded: '30 days', failed: '90 days', stats: '30 days' },
} satisfies SchedulerOptions

/** Of a herd: while the database records one, this process plans the other. */
const BATCHES_AT_ONCE = 2
/** The first is small, and each is twice the one before: workers begin while the rest is planned. */
const FIRST_BATCH = 100
/** Long enough to read and plan a batch on a busy machine, and so short that little of it is changed before it is due. */
const LOOK_AHEAD_MS = 250
/** Of what is due with the first one, or hardly later. */
const TOGETHER_MS = 2
/** While nothing is fired by ticks, each of which does. */
const END_PAUSES_EVERY_MS = 1_000
const FIRST_BUSY_MS = 20
const MAX_BUSY_MS = 1_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
const PROVIDER_RETRY_MS = 10_000
/** How long a tick waits for scope providers; slower ones are taken by the tick after their answer. */
const PROVIDER_PATIENCE_MS = 50

export interface Scheduler {
  start(): void
  /** Waits for the tick that is under way. */
  stop(): Promise<void>
  /** Looks at once instead of sleeping on. */
  wake(): void
  /** One batch, for which it waits until the scope providers have answered. */
  tick(): Promise<TickReport>
  /** All that is due: batch after batch, until one comes short. */
  tickWhileDue(): Promise<void>
  /** A whole pass of what it sees to beside its ticks, if one is due. */
  upkeep(): Promise<void>
  /** How its loop turns; null where it was not started. */
  pulse(): PulseState | null
}

interface BatchOptions {
  /** Whether it looks at all that is due, however long that takes. */
  isWhole?: boolean
  /** @default as many as the option `batch` says */
  limit?: number
}

/** Ticks while anything is due, then sleeps until the nearest cursor; waits out a database that is away. */
export function createScheduler(parts: {
  store: Store
  calls: WorkerCalls
  worker: WorkerHere
  clock: Clock
  chance: Chance
  bus: EventBus
  logger: Logger
  jobs: JobRegistry
  /** The version of the zone data that this process computes with. */
  zoneData: string
  batch: number
  retention: Retention | null
}): Scheduler {
  const { store, clock, chance, bus, logger, jobs, zoneData, batch } = parts
  const verbParts = { store, jobs, bus, zoneData, chance }
  const upkeep = createUpkeep(verbParts, clock, parts.retention, logger)
  const minutes = createMinutes(store, logger)
  const wait = createWait(clock)
  const pulse = createPulse()
  const maxSleepMs = longestSleepMs(store.database)
  const front = createDueFront(store, logger, { onFurther: wait.wake })
  const providers = createProviders(jobs, clock, () => {
    front.lookDeep()
    wait.wake()
  })
  const ahead = createAhead(parts, { firstBatch: FIRST_BATCH })
  /** When what was looked for last is due. */
  let aheadForMs = Number.NEGATIVE_INFINITY
  let endPausesAtMs = Number.NEGATIVE_INFINITY
  /** How many schedules a batch takes at the moment. */
  let reach = batch
  let stopping = false
  let loop: Promise<void> | undefined

  /** What this process can take: it need not wake for anything else. */
  const takeable = () => ({
    kinds: TIMING_KINDS,
    providers: localProviders().filter((job) => !providers.isAsking(job)),
  })
  const localProviders = () => jobs.all().flatMap(({ name, scopes }) => (scopes ? [name] : []))

  async function tickOnce(patienceMs: number, options?: BatchOptions): Promise<TickReport> {
    const ended = await endPauses(patienceMs)
    const report = await tickBatch(patienceMs, options)
    return { ...report, due: Math.max(report.due, ended) }
  }

  const endPauses = (patienceMs: number) =>
    resumeEnded(verbParts, { limit: batch, ask: (wanted) => ask(wanted, patienceMs) }, logger)

  async function tickBatch(
    patienceMs: number,
    { isWhole = false, limit = batch }: BatchOptions = {},
  ): Promise<TickReport> {
    const from = isWhole ? null : front.since()
    const scopes = await askDueProviders(patienceMs, from)
    const startedMs = monotonicMs()
    // In herds each of them may have a run.
    const most = Math.min(limit, reach, RUNS_AT_ONCE)
    const { since, ...report } = await tickHalving({ limit: most, since: from }, scopes)
    const { lookMs, due, newest, isCut } = report
    front.looked({ since, ms: lookMs, count: due, newest, isAll: due < most && !isCut })
    emitAll(bus, report)
    const durationMs = monotonicMs() - startedMs
    bus.emit('scheduler.ticked', { durationMs, schedules: report.due, runs: report.runs })
    report.begin()
    return report
  }

  const isAheadDue = () => ahead.hasPlans() && clock.elapsedMs() >= aheadForMs - TOGETHER_MS

  /** Returns whether a tick is needed, as the database has cut this off. */
  async function fireAhead(): Promise<boolean> {
    try {
      await ahead.fire(({ schedules, newest, created, durationMs }) => {
        front.reached(newest)
        tellRuns(bus, created)
        bus.emit('scheduler.ticked', { durationMs, schedules, runs: created.length })
      })
    } catch (error) {
      if (!isCutOff(error) || reach === 1) throw error
      reach = Math.ceil(reach / 2)
      logger.warn(
        { err: error, schedules: reach },
        'what was planned ahead was cut off, and is left to ticks',
      )
      return true
    }
    // Those of schedules that others provide for: the look for what is due next passes them over.
    if (clock.elapsedMs() >= endPausesAtMs) {
      endPausesAtMs = clock.elapsedMs() + END_PAUSES_EVERY_MS
      await endPauses(PROVIDER_PATIENCE_MS)
    }
    return false
  }

  /** Plans what is due in `ms`, and sleeps until then. Resolves to whether it was woken. */
  async function sleepUntilDue(ms: number): Promise<boolean> {
    const passedMs = stopwatch(clock)
    const dueMs = clock.elapsedMs() + ms
    // Whoever is woken again and again meanwhile has planned it already.
    if (!ahead.hasPlans() || Math.abs(dueMs - aheadForMs) > TOGETHER_MS) {
      aheadForMs = dueMs
      await ahead.look(ms + TOGETHER_MS, Math.min(batch, reach))
    }
    const leftMs = ms - passedMs()
    return leftMs > 0 && (await wait.sleep(leftMs))
  }

  const hasMore = ({ due, isCut }: TickReport) => due === batch || isCut

  async function tickWhileDue(): Promise<void> {
    let next = FIRST_BATCH
    const larger = () => {
      const limit = Math.min(next, batch)
      next = 2 * limit
      return { limit }
    }
    const ticks = async () => {
      while (!stopping && hasMore(await tickBatch(PROVIDER_PATIENCE_MS, larger())));
    }
    while (hasMore(await tickOnce(PROVIDER_PATIENCE_MS, larger())) && !stopping) {
      const ends = await Promise.allSettled(Array.from({ length: BATCHES_AT_ONCE }, ticks))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    }
  }

  /**
   * A batch that the database refuses is halved, until the schedule that it cannot store stands alone and is set aside. One
   * that takes too long is halved as well; those that follow are as small, and grow again.
   */
  async function tickHalving(
    { limit, since }: { limit: number; since: Instant | null },
    scopes: ReadonlyMap<string, ScopesAt>,
  ): Promise<TickReport & { since: Instant | null }> {
    const beginning = parts.worker.beginning()
    const limits = {
      limit,
      since,
      kinds: TIMING_KINDS,
      providers: [...scopes.keys()],
      beginning,
      inHerds: limit > FIRST_BATCH && (beginning.length === 0 || !parts.worker.isAtRest()),
    }
    const startedMs = monotonicMs()
    pulse.beat()
    try {
      const report = await tick(parts, limits, scopes)
      const isWhole = report.due < limit
      if (limit >= reach) reach = Math.min(batch, reach + Math.ceil(batch / 10))
      return { ...report, isCut: report.isCut || (!isWhole && limit < batch), since }
    } catch (error) {
      const half = Math.ceil(limit / 2)
      if (isCutOff(error) && limit > 1) {
        logger.warn(
          { err: error, schedules: limit },
          'a batch was cut off, and is tried with half as many schedules',
        )
        reach = half
        // It may have been the look, over all that cannot be swept away.
        if (hasTakenTooLong(error))
          front.looked({ since, ms: monotonicMs() - startedMs, count: 0, newest: null, isAll: false })
        return tickHalving({ limit: half, since: since ?? front.since() }, scopes)
      }
      if (hasTakenTooLong(error)) await front.cutOff({ since, ms: monotonicMs() - startedMs })
      if (!isRefusal(error)) throw error
      if (limit > 1) return tickHalving({ limit: half, since }, scopes)
      await setAsideFirst(store, limits, `it cannot be stored: ${(error as Error).message}`)
      return { ...NOTHING_DUE, due: 1, lookMs: 0, isCut: true, since }
    }
  }

  /** One that fails is asked again in a while; its schedules do not hold up the others until then. */
  async function askDueProviders(
    patienceMs: number,
    since: Instant | null,
  ): Promise<ReadonlyMap<string, ScopesAt>> {
    const local = localProviders()
    const due =
      local.length === 0
        ? []
        : await looking(since, () => listDueProviders(store, { providers: local, since }))
    const { scopes, failed } = await ask(due, patienceMs)
    for (const { job, error } of failed) {
      logger.error({ job, err: error }, 'a scope provider failed; it is asked again')
      const reason = `its scopes: ${error instanceof Error ? error.message : String(error)}`
      await setAsideProvider(store, job, storableText(reason), PROVIDER_RETRY_MS)
    }
    return scopes
  }

  async function looking<Result>(since: Instant | null, look: () => Promise<Result>): Promise<Result> {
    const startedMs = monotonicMs()
    return look().catch(async (error) => {
      if (hasTakenTooLong(error)) await front.cutOff({ since, ms: monotonicMs() - startedMs })
      throw error
    })
  }

  async function ask(wanted: readonly Wanted[], patienceMs: number) {
    const now = wanted.length === 0 ? Number.NaN : await readNow(store)
    return providers.answers(wanted, now, patienceMs)
  }

  async function run(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS
    let busyMs = FIRST_BUSY_MS
    // Where nothing is known to be due, one look comes first: it is all that an idle scheduler asks.
    let isDue = false
    /** Whether it was just found to be due: then it comes before what else is to be done. */
    let isFound = false
    let hasMoreUpkeep = false
    pulse.begin()
    while (!stopping) {
      pulse.beat()
      try {
        minutes.look()
        if (!isFound) hasMoreUpkeep = await upkeep.step()
        isFound = false
        pulse.beat()
        if (isDue && isAheadDue()) {
          isDue = await fireAhead()
          if (isDue) continue
        } else if (isDue) await tickWhileDue()
        const ms = await front.msUntilWake(takeable())
        // Nothing else need have asked the database for anything.
        backoffMs = FIRST_BACKOFF_MS
        pulse.passed(0)
        if (hasMoreUpkeep || (ms <= 0 && !isDue)) {
          isFound = ms <= 0 && !isDue
          isDue = ms <= 0
          continue
        }
        // Still due although the batch was short: another scheduler holds them, and may yet die with them.
        busyMs = ms > 0 ? FIRST_BUSY_MS : Math.min(busyMs * 2, MAX_BUSY_MS)
        const isNear = ms > 0 && ms <= LOOK_AHEAD_MS
        const sleepMs = ms > 0 ? Math.min(isNear ? ms : ms - LOOK_AHEAD_MS, maxSleepMs) : busyMs
        pulse.passed(sleepMs)
        const isWoken = await (isNear ? sleepUntilDue(ms) : wait.sleep(sleepMs))
        isDue = isNear && !isWoken
      } catch (error) {
        if (backoffMs === FIRST_BACKOFF_MS)
          logger.error({ err: error }, 'the scheduler waits for the database')
        pulse.waitsOut(backoffMs)
        await wait.sleep(backoffMs)
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  return {
    tick: () => tickOnce(Number.POSITIVE_INFINITY, { isWhole: true }),
    tickWhileDue,
    async upkeep() {
      minutes.look()
      while (await upkeep.step());
      await minutes.settled()
    },
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
      await Promise.all([loop, minutes.stop()])
      await front.settled()
      loop = undefined
    },
  }
}

/** What has passed since now by the clock that sleeps go by: one that a test sets stands still. */
function stopwatch(clock: Clock): () => number {
  const [startedAt, startedMs] = [clock.now(), clock.elapsedMs()]
  return () => (startedAt === null ? clock.elapsedMs() - startedMs : clock.now()! - startedAt)
}

function emitAll(bus: EventBus, { created, ended, acts, replaced }: TickReport): void {
  tellCancelled(bus, replaced)
  tellActs(bus, acts)
  if (bus.has('run.created')) tellRuns(bus, created())
  tellActs(
    bus,
    ended.map((schedule) => actOf('finish', schedule, { isDeleted: schedule.is_deleted })),
  )
}

function tellRuns(bus: EventBus, created: readonly CreatedRun[]): void {
  if (!bus.has('run.created')) return
  for (const { run, schedule } of created) bus.emit('run.created', runCreated(run, schedule))
}
