import type { Clock } from './clock.js'
import { databaseClock } from './clock.js'
import { type Logger, silentLogger } from './logger.js'
import { type NoticeRule, type Notification, readNotifications } from './runs/notification.js'
import { isStorable } from './runs/storable.js'
import { SCHEDULER_DEFAULTS, type SchedulerOptions } from './scheduler/scheduler.js'
import { type DatabaseSource, isServer } from './store/open.js'
import type { PoolerOption } from './store/pooler-probe.js'
import type { ClientLike, PoolLike } from './store/postgres-session.js'
import type { Retention } from './store/queries/pruning.js'
import { SWEEPER_DEFAULTS, type SweeperOptions } from './sweeper/sweeper.js'
import { didYouMean } from './time/did-you-mean.js'
import { readElapsed } from './time/duration.js'
import { quote, type Report, readOrThrow } from './time/report.js'
import { HOOKS, type TransitionHooks } from './transitions/change.js'
import { WORKER_DEFAULTS, type WorkerOptions } from './worker/worker.js'

/**
 * Where everything is kept:
 * - a PostgreSQL URL, `postgres://user:password@host:5432/name`;
 * - `'memory:'`, or `{ directory }`, for PGlite inside this process;
 * - a `pg` pool or a connected `pg` client of your own, or the `database` of another Escapement: these stay yours to
 *   close.
 */
export type DatabaseOption = DatabaseSource

/** What `createEscapement` takes. */
export interface EscapementOptions {
  /**
   * Where everything is kept.
   * @default { directory: './.escapement' }
   */
  database?: DatabaseOption | undefined
  /**
   * The schema that holds all tables of Escapement. Two schemas are two independent systems.
   * @default 'escapement'
   */
  schema?: string
  /**
   * Whether to bring the schema up to date when starting. Without it, an outdated schema is refused.
   * @default true
   */
  migrate?: boolean
  /**
   * Whether a transaction pooler (PgBouncer in transaction mode) stands before PostgreSQL. Then nothing is kept in sessions: other
   * processes are looked for by polling, and a killed worker is missed when its leases end. `detect` finds it out at the start.
   * @default 'detect'
   */
  pooler?: PoolerOption
  /** Where operators read what happens. Without it nothing is written. */
  logger?: Logger
  /** Whose clock decides; only tests have a reason to set it (see `escapement/testing`). */
  clock?: Clock
  /** How its scheduler works. */
  scheduler?: SchedulerOptions
  /** How its worker works. */
  worker?: WorkerOptions
  /** How its sweeper works. */
  sweeper?: SweeperOptions
  /**
   * Who is told, by a run, that a schedule is broken or that a run has failed. What fails in a worker of this process is told by
   * these: give all processes with workers the same.
   * @default []
   */
  notify?: readonly Notification[]
}

export const ESCAPEMENT_DEFAULTS = {
  database: { directory: './.escapement' },
  schema: 'escapement',
  migrate: true,
  pooler: 'detect',
  notify: [],
} satisfies EscapementOptions

export interface Settings {
  database: DatabaseOption
  schema: string
  migrate: boolean
  pooler: PoolerOption
  logger: Logger
  clock: Clock
  scheduler: { batch: number; retention: Retention | null }
  worker: Required<WorkerOptions>
  sweeper: SweeperSettings
  notify: readonly NoticeRule[]
}

type SweeperSettings = TransitionHooks & Required<Omit<SweeperOptions, keyof TransitionHooks>>

const FIELDS = [
  'database',
  'schema',
  'migrate',
  'pooler',
  'logger',
  'clock',
  'scheduler',
  'worker',
  'sweeper',
  'notify',
] satisfies (keyof EscapementOptions)[]

/** Checks all options and fills in the defaults; every mistake is reported at once. */
export function readOptions(options: EscapementOptions): Settings {
  return readOrThrow('option_invalid', (report) => {
    refuseUnknown(options, '', FIELDS, report)
    refuseUnknown(options.scheduler ?? {}, 'scheduler.', Object.keys(SCHEDULER_DEFAULTS), report)
    refuseUnknown(options.worker ?? {}, 'worker.', Object.keys(WORKER_DEFAULTS), report)
    refuseUnknown(options.sweeper ?? {}, 'sweeper.', [...Object.keys(SWEEPER_DEFAULTS), ...HOOKS], report)
    const settings: Settings = {
      database: options.database ?? ESCAPEMENT_DEFAULTS.database,
      schema: options.schema ?? ESCAPEMENT_DEFAULTS.schema,
      migrate: options.migrate ?? ESCAPEMENT_DEFAULTS.migrate,
      pooler: options.pooler ?? ESCAPEMENT_DEFAULTS.pooler,
      logger: options.logger ?? silentLogger,
      clock: options.clock ?? databaseClock,
      scheduler: {
        batch: options.scheduler?.batch ?? SCHEDULER_DEFAULTS.batch,
        retention: readRetention(options.scheduler?.retention ?? SCHEDULER_DEFAULTS.retention, report),
      },
      worker: { ...WORKER_DEFAULTS, ...options.worker },
      sweeper: { ...SWEEPER_DEFAULTS, ...options.sweeper },
      notify: readNotifications(options.notify ?? ESCAPEMENT_DEFAULTS.notify, 'notify', report),
    }
    checkDatabase(settings.database, report)
    checkPooler(settings, report)
    checkSchema(settings.schema, report)
    checkCount(settings.scheduler.batch, 'scheduler.batch', report)
    checkCount(settings.worker.concurrency, 'worker.concurrency', report)
    checkSweeper(settings.sweeper, report)
    const { queues, drain } = settings.worker
    if ((readElapsed(drain, 'worker.drain', report) ?? 0) > LONGEST_TIMER_MS) {
      report('worker.drain', `${quote(drain)} – must be at most 24 days`)
    }
    const isQueue = (name: unknown) => typeof name === 'string' && isStorable(name)
    if (!Array.isArray(queues) || queues.length === 0 || !queues.every(isQueue)) {
      report('worker.queues', `${quote(queues)} – must be a list of at least one queue`)
    }
    return settings
  })
}

function checkSweeper(sweeper: SweeperSettings, report: Report): void {
  checkCount(sweeper.batchSize, 'sweeper.batchSize', report)
  const intervalMs = readElapsed(sweeper.interval, 'sweeper.interval', report)
  if (intervalMs !== undefined && (intervalMs < 1 || intervalMs > LONGEST_TIMER_MS)) {
    report(
      'sweeper.interval',
      `${quote(sweeper.interval)} – must be longer than nothing, and at most 24 days`,
    )
  }
  if (sweeper.retention !== false) readElapsed(sweeper.retention, 'sweeper.retention', report)
  if (sweeper.indexes !== 'create' && sweeper.indexes !== 'check') {
    report('sweeper.indexes', `${quote(sweeper.indexes)} – must be "create" or "check"`)
  }
  if (typeof sweeper.wake !== 'boolean')
    report('sweeper.wake', `${quote(sweeper.wake)} – must be true or false`)
  for (const hook of HOOKS) {
    const value = sweeper[hook]
    if (value !== undefined && typeof value !== 'function')
      report(`sweeper.${hook}`, `${quote(value)} – must be a function`)
  }
}

/** A timer of the host holds 24.8 days and fires at once beyond. */
const LONGEST_TIMER_MS = 24 * 86_400_000

function refuseUnknown(options: object, prefix: string, known: readonly string[], report: Report): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) report(`${prefix}${name}`, `unknown option${didYouMean(name, known)}`)
  }
}

const POSTGRES_URL = /^postgres(?:ql)?:\/\/./

function checkDatabase(database: unknown, report: Report): void {
  if (database === 'memory:') return
  if (typeof database === 'string') {
    if (POSTGRES_URL.test(database) && URL.canParse(database.replace(':///', '://localhost/'))) return
    // Not quoted: what is not a URL may still hold a password.
    report(
      'database',
      'is not a PostgreSQL URL; write postgres://user:password@host:5432/name (special characters percent-encoded)',
    )
    return
  }
  const given = database as Partial<PoolLike & ClientLike & { directory: string }>
  if (typeof given?.connect === 'function' || typeof given?.query === 'function') return
  if (typeof given?.directory === 'string' && given.directory !== '') return
  report('database', 'must be a PostgreSQL URL, "memory:", { directory }, or a pg pool or client')
}

function checkPooler({ pooler, database }: Settings, report: Report): void {
  if (typeof pooler !== 'boolean' && pooler !== 'detect') {
    report('pooler', `${quote(pooler)} – must be true, false or "detect"`)
  } else if (pooler === true && !isServer(database)) {
    report('pooler', 'true – there is a pooler only before a PostgreSQL URL, pool or client of your own')
  }
}

// PostgreSQL cuts longer names silently, and reserves pg_ for itself.
const LONGEST_NAME_BYTES = 63

function checkSchema(schema: unknown, report: Report): void {
  if (typeof schema !== 'string' || schema === '' || schema.includes('\0')) {
    report('schema', `${quote(schema)} – must be the name of a schema`)
  } else if (Buffer.byteLength(schema) > LONGEST_NAME_BYTES) {
    report('schema', `${quote(schema)} – is longer than ${LONGEST_NAME_BYTES} bytes`)
  } else if (schema.startsWith('pg_')) {
    report('schema', `${quote(schema)} – names that begin with pg_ belong to PostgreSQL`)
  }
}

const INT4_MAX = 2_147_483_647

function checkCount(value: unknown, field: string, report: Report): void {
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > INT4_MAX) {
    report(field, `${quote(value)} – must be a whole number from 1 to ${INT4_MAX}`)
  }
}

/** Null keeps ended runs for ever. */
function readRetention(option: unknown, report: Report): Retention | null {
  if (option === false) return null
  if (typeof option !== 'object' || option === null || Array.isArray(option)) {
    report('scheduler.retention', `${quote(option)} – must be false, or { succeeded, failed, stats }`)
    return null
  }
  const { retention } = SCHEDULER_DEFAULTS
  refuseUnknown(option, 'scheduler.retention.', Object.keys(retention), report)
  const { succeeded, failed, stats } = { ...retention, ...option }
  return {
    succeededMs: readElapsed(succeeded, 'scheduler.retention.succeeded', report) ?? 0,
    failedMs: readElapsed(failed, 'scheduler.retention.failed', report) ?? 0,
    statsMs: readElapsed(stats, 'scheduler.retention.stats', report) ?? 0,
  }
}

export type Role = 'scheduler' | 'worker' | 'sweeper'

/** What `start` takes. */
export interface StartOptions {
  /**
   * What this process does. Any number of processes may do the same.
   * @default ['scheduler', 'worker', 'sweeper']
   */
  roles?: readonly Role[]
}

export const START_DEFAULTS = { roles: ['scheduler', 'worker', 'sweeper'] } satisfies StartOptions

/** The roles that are asked for; one that there is none of would else start nothing, and say nothing. */
export function readRoles(options: StartOptions): readonly Role[] {
  return readOrThrow('option_invalid', (report) => {
    refuseUnknown(options, '', Object.keys(START_DEFAULTS), report)
    const { roles = START_DEFAULTS.roles } = options
    if (!Array.isArray(roles) || roles.length === 0) {
      return report('roles', `${quote(roles)} – must be a list of at least one role`)
    }
    for (const role of roles) {
      if (START_DEFAULTS.roles.includes(role)) continue
      const hint = didYouMean(String(role), START_DEFAULTS.roles)
      report('roles', `${quote(role)} – must be "scheduler", "worker" or "sweeper"${hint}`)
    }
    return roles
  })
}
