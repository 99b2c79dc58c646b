import type { HttpJobOptions } from './http-job/options.js'
import type { EscapementOptions } from './options.js'
import type { AnyJob } from './runs/job.js'
import type { Notification } from './runs/notification.js'
import type { ScheduleDefinition } from './schedules/schedule.js'
import type { TransitionDeclaration } from './transitions/declaration.js'
import type { DeclaredTable } from './transitions/row-declaration.js'

/** What `escapement.config.ts` exports as its default: the code and the declared schedules of a process. */
export interface EscapementConfig {
  /** The jobs whose code this process has. */
  jobs?: readonly AnyJob[]
  /** By name; put when `up` or `scheduler` starts, which changes nothing where nothing has changed. */
  schedules?: Readonly<Record<string, ScheduleDefinition>>
  /** By table, or as `fromDrizzle` and `fromPrisma` give them: what becomes of rows when their time comes. */
  transitions?: Readonly<Record<string, TransitionDeclaration>> | readonly DeclaredTable[]
  /**
   * Whether schedules that a configuration has put, and that this one no longer declares, are deleted; their runs are kept.
   * By default they are on the embedded database, which one process has to itself. On PostgreSQL an older version of this
   * file, or the file of another service, may have put them: there they stay, and are named when the process starts.
   */
  prune?: boolean
  /** Who is told, by a run, of what goes wrong. */
  notify?: readonly Notification[]
  /** How the built-in job `http` calls; false for a process without it. A job of that name in `jobs` takes its place. */
  http?: HttpJobOptions | false
  /** The command line decides the database; all else can be set here. */
  options?: Omit<EscapementOptions, 'database' | 'clock' | 'logger' | 'notify'>
}

/** Gives the configuration its type; it does nothing else. */
export function defineConfig(config: EscapementConfig): EscapementConfig {
  return config
}
