import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Chance, hostChance } from './chance.js'
import { type AuditReport, audit } from './client/audit.js'
import { checkOptions, FORECAST } from './client/checked-schedules.js'
import { type Claiming, createClaiming } from './client/claiming.js'
import type { Diagnosis } from './client/diagnosis.js'
import { type Examination, examine } from './client/doctor.js'
import { type Forecast, type ForecastOptions, forecast } from './client/forecast.js'
import { createGauges, type Gauges } from './client/gauges.js'
import { createReadiness, type Health, healthOf, type Readiness } from './client/health.js'
import { tellMovedOnce } from './client/moved-logger.js'
import { createMoving, expectHere, type Moving } from './client/moving.js'
import { createOverview, type Overview } from './client/overview.js'
import { createRuns, type Runs } from './client/runs.js'
import { createSchedules, type Schedules } from './client/schedules.js'
import { createTokens, type Tokens } from './client/tokens.js'
import { createTransitions, type Transitions } from './client/transitions.js'
import { EscapementError } from './errors.js'
import { createBridge } from './events/bridge.js'
import {
  type AllEvents,
  type AnyEvent,
  createEventBus,
  type Listener,
  type MissedEvents,
} from './events/bus.js'
import { noticeCreated, tellCreated } from './events/run-events.js'
import { createWorkerCalls } from './events/worker-calls.js'
import {
  type EscapementOptions,
  readOptions,
  readRoles,
  type Settings,
  type StartOptions,
} from './options.js'
import { readLabel } from './runs/assignment.js'
import { type AnyJob, defineJob, type Job, type JobDefinition } from './runs/job.js'
import { createJobRegistry, type JobRegistry } from './runs/job-registry.js'
import { reconcile } from './scheduler/reconcile.js'
import { createScheduler, type Scheduler } from './scheduler/scheduler.js'
import type { Connections, Database } from './store/database.js'
import { migrate } from './store/migrate.js'
import { openDatabase } from './store/open.js'
import { findGroups } from './store/queries/groups.js'
import { createStore, type Store } from './store/store.js'
import { SWEEP_JOB, sweepJob } from './sweeper/sweep-job.js'
import { createSweeper, type Sweeper } from './sweeper/sweeper.js'
import { durationToMs } from './time/duration.js'
import { type Instant, type InstantInput, readInstant } from './time/instant.js'
import { readOrThrow } from './time/report.js'
import { ZONE_DATA } from './time/zone-data.js'
import { outsideOfTraces } from './tracing.js'
import { createTransitionRegistry, type TransitionRegistry } from './transitions/registry.js'
import { VERSION } from './version.js'
import { longestSleepMs } from './wait.js'
import { createWorker, type Worker } from './worker/worker.js'

/** A scheduler and run queue on one database. */
export interface Escapement extends Overview, Moving {
  /** The connection, for your own statements on either database. */
  readonly database: Database
  readonly schedules: Schedules
  readonly runs: Runs
  /** Rows of your own tables that change when their time comes. */
  readonly transitions: Transitions
  /**
   * The same verbs, limited to the schedules of one group and their runs: all others are as if there were none. Direct runs
   * belong to no group and cannot be asked for.
   */
  inGroup(group: string): GroupAccess
  /** Whether runs are begun at all, in all processes. */
  readonly claiming: Claiming
  /** Who may use the HTTP API. */
  readonly tokens: Tokens
  /** Defines and registers a job, or registers one that `defineJob` made. */
  job<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown>, Transactional extends boolean = false>(
    name: string,
    definition: JobDefinition<Schema, Transactional>,
  ): Job<StandardSchemaV1.InferInput<Schema>>
  job<Input>(job: Job<Input>): Job<Input>
  /** Compares the ledger with the plan times computed anew; finds nothing where all is well. */
  audit(range?: {
    from?: InstantInput
    to?: InstantInput
    /** How many schedules to look at; `pageToken` goes on after them. */
    limit?: number
    pageToken?: string
  }): Promise<AuditReport>
  /** What is wrong or worth knowing, with what to do about it, problems first; an empty list is health. Changes nothing. */
  doctor(): Promise<Diagnosis[]>
  /** The same with the versions, the schema's level, the skew of the clocks and how long a notification takes. */
  examine(): Promise<Examination>
  /** Mends damaged cursors; returns the names of the schedules that it mended. */
  reconcile(): Promise<string[]>
  /**
   * How many runs are to come in each bucket of time, by queue and group; `schedules.planned` tells which schedules ask for them. With
   * very many schedules it is an estimate, and says so.
   */
  forecast(options: ForecastOptions): Promise<Forecast>
  /** Whether the loops of this process turn: asks nobody, and holds through an outage of the database. */
  health(): Health
  /** Whether this process can do what it is asked for: the database answers, its schema fits, and nobody stops it. */
  ready(): Promise<Readiness>
  /** How things stand, for metrics: read at most every five seconds, at a cost that does not grow. Never rejects. */
  gauges(): Promise<Gauges>
  /** Hears what this process does. Returns the function that ends it. */
  on<Name extends keyof AllEvents>(name: Name, listener: Listener<Name>): () => void
  /**
   * Hears every event: what this process does, and what the others on the database do, as far as they tell it. Whatever was
   * not told is announced to `onMissed`. Needs no `start`. Resolves once the others are heard; the answer ends it.
   */
  onAny(
    listener: (told: AnyEvent) => unknown,
    onMissed?: (missed: MissedEvents) => unknown,
  ): Promise<() => Promise<void>>
  /**
   * In which groups schedules are, by their ids: null for one in none. Of one that is gone, the group that it was last in, where
   * that is still known.
   */
  groupsOf(scheduleIds: readonly string[]): Promise<Map<string, string | null>>
  /** Starts the loops; a second call changes nothing. */
  start(options?: StartOptions): Promise<void>
  /** Stops the loops after what is under way; `start` begins again. */
  stop(): Promise<void>
  /** Stops, then lets go of the database. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What is given to those who may see and change one group only. */
export interface GroupAccess {
  readonly schedules: Schedules
  readonly runs: Runs
}

/** Opens the database, brings its schema up to date, and puts the parts together. */
export async function createEscapement(options: EscapementOptions = {}): Promise<Escapement> {
  return (await assemble(options)).escapement
}

/** What `createEscapement` puts together, for those who drive the parts by hand. */
export interface Assembly {
  escapement: Escapement
  settings: Settings
  store: Store
  jobs: JobRegistry
  scheduler: Scheduler
  worker: Worker
  sweeper: Sweeper
  /** The tables that were declared. */
  tables: TransitionRegistry
}

export async function assemble(options: EscapementOptions, chance: Chance = hostChance): Promise<Assembly> {
  const settings = readOptions(options)
  const connections = await openDatabase(settings.database, settings.pooler)
  if (settings.pooler === 'detect' && connections.inner.mode === 'pooled') {
    settings.logger.info(
      { pooler: true },
      'a transaction pooler stands before the database: other processes are looked for by polling',
    )
  }
  try {
    await prepareSchema(connections.outer, settings)
  } catch (error) {
    await closeBoth(connections)
    throw error
  }
  return wire(connections, settings, chance)
}

async function closeBoth({ inner, outer }: Connections): Promise<void> {
  await inner.close()
  await outer.close()
}

async function prepareSchema(database: Database, { schema, migrate: allowed }: Settings): Promise<void> {
  const { migrations } = await migrate(database, schema, { dryRun: !allowed })
  if (allowed || migrations.length === 0) return
  throw new EscapementError('schema_outdated', {
    message: `The schema "${schema}" lacks ${migrations.length} migration(s). Run: escapement migrate`,
    details: { schema, missing: migrations.map(({ name }) => name) },
  })
}

function wire(connections: Connections, settings: Settings, chance: Chance): Assembly {
  const { clock } = settings
  const logger = tellMovedOnce(settings.logger)
  const { inner, outer: database } = connections
  const store = createStore(inner, settings.schema, clock)
  const outer = createStore(database, settings.schema, clock)
  const bus = createEventBus(logger)
  const bridge = createBridge(store, bus, logger)
  const jobs = createJobRegistry()
  const parts = { store, jobs, bus, zoneData: ZONE_DATA, chance }
  const schedules = createSchedules(parts)
  const calls = createWorkerCalls(store)
  const runs = createRuns(parts, schedules, calls)
  const scheduler = createScheduler({
    store,
    calls,
    worker: {
      beginning: () => worker.beginning(),
      isAtRest: () => worker.isAtRest(),
      offer: (wanted) => worker.offer(wanted),
      expectLots: () => worker.expectLots(),
    },
    clock,
    chance,
    bus,
    logger,
    jobs,
    zoneData: ZONE_DATA,
    ...settings.scheduler,
  })
  const worker = createWorker({
    store,
    transactions: outer,
    clock,
    chance,
    bus,
    logger,
    jobs,
    version: VERSION,
    rules: settings.notify,
    onFollowed({ broken, notices }) {
      for (const { scheduleId, schedule, version, reason } of broken) {
        logger.warn({ schedule, reason }, 'a schedule is broken: it runs no more until it is resumed')
        bus.emit('schedule.broken', { scheduleId, schedule, version, reason })
      }
      tellCreated(bus, notices.map(noticeCreated))
    },
    ...settings.worker,
  })

  const tables = createTransitionRegistry()
  const { interval, retention, batchSize, indexes, wake, ...hooks } = settings.sweeper
  const sweeper = createSweeper({
    store,
    clock,
    bus,
    logger,
    tables,
    hooks,
    batchSize,
    // Whom no trigger can wake looks by itself as often as the other loops do.
    intervalMs: Math.min(
      durationToMs(interval, 'sweeper.interval'),
      wake && !inner.canListen ? longestSleepMs(inner) : Number.POSITIVE_INFINITY,
    ),
    retentionMs: retention === false ? null : durationToMs(retention, 'sweeper.retention'),
  })
  const transitions = createTransitions({
    store,
    database,
    tables,
    logger,
    indexes,
    wake,
    sweep: sweeper.sweep,
    onDeclared() {
      // Only where there is something to sweep: another process of these jobs may have it.
      if (!jobs.get(SWEEP_JOB)) jobs.add(sweepJob(sweeper))
      sweeper.wake()
    },
  })

  for (const name of ['schedule.changed', 'schedule.paused', 'schedule.resumed'] as const) {
    bus.on(name, () => scheduler.wake())
  }
  // Else notifications say so, to all processes alike.
  if (!inner.canListen) {
    bus.on('run.created', () => worker.wake())
    bus.on('run.cancelled', () => worker.check())
  }
  const wakeUp = (payload: string) => {
    if (payload === 'cancelled') return worker.check()
    if (payload === 'transitions') return sweeper.wake()
    if (payload !== 'runs') scheduler.wake()
    if (payload !== 'schedules') worker.wake()
  }

  let stopListening: (() => Promise<void>) | undefined
  let closed: Promise<void> | undefined
  let isStopping = false
  const databaseIsReady = createReadiness(store)
  let last: Promise<unknown> = Promise.resolve()

  // Starting and stopping take turns: a start that is asked for during a stop begins after it.
  function inTurn(step: () => Promise<void>): Promise<void> {
    const turn = last.then(step)
    last = turn.catch(() => {})
    return turn
  }

  async function stop(): Promise<void> {
    // Side by side: a worker claims nothing more from here on, however long a tick takes.
    await Promise.all([worker.stop(), scheduler.stop(), sweeper.stop()])
    const stopped = stopListening
    stopListening = undefined
    await stopped?.()
  }

  const claiming = createClaiming(store, bus)
  const examineAll = () => examine({ store, zoneData: ZONE_DATA, tables: tables.all })

  const escapement: Escapement = {
    ...createOverview(parts, claiming),
    ...createMoving({ store, outer }),
    database,
    schedules,
    runs,
    transitions,
    inGroup(group) {
      const label = readOrThrow('option_invalid', (report) => readLabel(group, 'group', report))
      const limited = { ...parts, group: label }
      const own = createSchedules(limited)
      return { schedules: own, runs: createRuns(limited, own, calls) }
    },
    claiming,
    tokens: createTokens(store),
    job(nameOrJob: string | AnyJob, definition?: JobDefinition): AnyJob {
      const job = typeof nameOrJob === 'string' ? defineJob(nameOrJob, definition!) : nameOrJob
      jobs.add(job)
      return job
    },
    audit: ({ from, to, ...page } = {}) =>
      audit(outer, ZONE_DATA, {
        ...page,
        ...(from !== undefined && { from: instant(from, 'from') }),
        ...(to !== undefined && { to: instant(to, 'to') }),
      }),
    doctor: async () => (await examineAll()).findings,
    examine: examineAll,
    reconcile: () => reconcile(store, ZONE_DATA),
    async forecast(options) {
      checkOptions(options, FORECAST, ['from', 'to', 'bucket'])
      const { from, to, bucket, ...filter } = options
      return forecast(store, {
        ...filter,
        from: instant(from, 'from'),
        to: instant(to, 'to'),
        bucketMs: durationToMs(bucket, 'bucket'),
      })
    },
    health: () => healthOf({ scheduler, worker, sweeper }, { store, jobs }),
    ready: async () => (isStopping ? { ready: false, reason: 'stopping' } : databaseIsReady()),
    gauges: createGauges(store, connections.use),
    on: bus.on,
    async onAny(hear, missed = () => {}) {
      if (closed) throw new EscapementError('closed', { message: 'This Escapement is closed.' })
      return bridge.onAny({ hear, missed })
    },
    groupsOf: (scheduleIds) => findGroups(store, scheduleIds),
    async start(options = {}) {
      const roles = readRoles(options)
      isStopping = closed !== undefined
      const begin = async () => {
        await expectHere(store)
        stopListening ??= await inner.listen(store.channel, wakeUp)
        if (roles.includes('worker')) await worker.start()
        if (roles.includes('scheduler')) scheduler.start()
        if (roles.includes('sweeper')) sweeper.start()
      }
      await inTurn(() => outsideOfTraces(begin))
    },
    stop() {
      isStopping = true
      return inTurn(stop)
    },
    close() {
      isStopping = true
      closed ??= inTurn(stop)
        .finally(calls.close)
        .finally(bridge.close)
        .catch((error) => logger.warn({ err: error }, 'stopping failed; the database is closed all the same'))
        .then(() => closeBoth(connections))
      return closed
    },
    [Symbol.asyncDispose]: () => escapement.close(),
  }
  return { escapement, settings, store, jobs, scheduler, worker, sweeper, tables }
}

function instant(input: InstantInput, field: string): Instant {
  return readOrThrow('option_invalid', (report) => readInstant(input, field, report))
}
