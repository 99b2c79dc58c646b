import type { StandardSchemaV1 } from '@standard-schema/spec'
import { createRuns, type Runs } from './client/runs.js'
import { createSchedules, type Schedules } from './client/schedules.js'
import { EscapementError } from './errors.js'
import { createEventBus, type EventName, type Listener } from './events/bus.js'
import { type EscapementOptions, readOptions, type Settings } from './options.js'
import { type AnyJob, defineJob, type Job, type JobDefinition } from './runs/job.js'
import { createJobRegistry, type JobRegistry } from './runs/job-registry.js'
import { createScheduler, type Scheduler } from './scheduler/scheduler.js'
import type { Database } from './store/database.js'
import { migrate } from './store/migrate.js'
import { openDatabase } from './store/open.js'
import { createStore, type Store } from './store/store.js'
import { VERSION } from './version.js'
import { createWorker, type Worker } from './worker/worker.js'

export type Role = 'scheduler' | 'worker'

export interface StartOptions {
  /**
   * What this process does. Any number of processes may do the same.
   * @default ['scheduler', 'worker']
   */
  roles?: readonly Role[]
}

export const START_DEFAULTS = { roles: ['scheduler', 'worker'] } satisfies StartOptions

/** A scheduler and run queue on one database. */
export interface Escapement {
  /** The connection, for your own statements on either database. */
  readonly database: Database
  readonly schedules: Schedules
  readonly runs: Runs
  /** Defines and registers a job, or registers one that `defineJob` made. */
  job<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown>>(
    name: string,
    definition: JobDefinition<Schema>,
  ): Job<StandardSchemaV1.InferInput<Schema>>
  job<Input>(job: Job<Input>): Job<Input>
  /** Hears what this process does. Returns the function that ends it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Starts the loops; a second call changes nothing. */
  start(options?: StartOptions): Promise<void>
  /** Stops the loops after what is under way; `start` begins again. */
  stop(): Promise<void>
  /** Stops, then lets go of the database. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
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
}

export async function assemble(options: EscapementOptions): Promise<Assembly> {
  const settings = readOptions(options)
  const database = await openDatabase(settings.database)
  try {
    await prepareSchema(database, settings)
  } catch (error) {
    await database.close()
    throw error
  }
  return wire(database, settings)
}

async function prepareSchema(database: Database, { schema, migrate: allowed }: Settings): Promise<void> {
  const { migrations } = await migrate(database, schema, { dryRun: !allowed })
  if (allowed || migrations.length === 0) return
  throw new EscapementError('schema_outdated', {
    message: `The schema "${schema}" lacks ${migrations.length} migration(s). Run: escapement migrate`,
    details: { schema, missing: migrations.map(({ name }) => name) },
  })
}

function wire(database: Database, settings: Settings): Assembly {
  const { logger, clock } = settings
  const store = createStore(database, settings.schema, clock)
  const bus = createEventBus(logger)
  const jobs = createJobRegistry()
  const schedules = createSchedules({ store, jobs, bus })
  const runs = createRuns(store, schedules)
  const scheduler = createScheduler({ store, clock, bus, logger, batch: settings.scheduler.batch })
  const worker = createWorker({ store, clock, bus, logger, jobs, version: VERSION, ...settings.worker })

  bus.on('schedule.changed', () => scheduler.wake())
  bus.on('run.created', () => worker.wake())
  const wakeUp = (payload: string) => {
    if (payload !== 'runs') scheduler.wake()
    if (payload !== 'schedules') worker.wake()
  }

  let stopListening: (() => Promise<void>) | undefined
  let closed: Promise<void> | undefined

  const escapement: Escapement = {
    database,
    schedules,
    runs,
    job(nameOrJob: string | AnyJob, definition?: JobDefinition): AnyJob {
      const job = typeof nameOrJob === 'string' ? defineJob(nameOrJob, definition!) : nameOrJob
      jobs.add(job)
      return job
    },
    on: bus.on,
    async start({ roles = START_DEFAULTS.roles } = {}) {
      stopListening ??= await database.listen(store.channel, wakeUp)
      if (roles.includes('worker')) await worker.start()
      if (roles.includes('scheduler')) scheduler.start()
    },
    async stop() {
      await scheduler.stop()
      await worker.stop()
      await stopListening?.()
      stopListening = undefined
    },
    close() {
      closed ??= escapement.stop().then(() => database.close())
      return closed
    },
    [Symbol.asyncDispose]: () => escapement.close(),
  }
  return { escapement, settings, store, jobs, scheduler, worker }
}
