import { createEscapement, type Escapement } from '../escapement.js'
import type { Logger } from '../logger.js'
import type { EscapementOptions, Role } from '../options.js'
import { allJobs } from './built-in-jobs.js'
import type { LoadedConfig } from './config-file.js'
import { declareAll } from './declaring.js'
import type { HeldDatabase } from './held-database.js'
import { type PutSchedules, syncConfig } from './syncing.js'

/** What every configuration of a process is opened with. */
export interface Ground {
  held: HeldDatabase
  logger: Logger
  roles: readonly Role[]
  /** Whether the schedules of a configuration are put. */
  syncs: boolean
  /** The options of a configuration, with what the command line says instead. */
  optionsOf(config: LoadedConfig): EscapementOptions
  /** Tells people of its runs. */
  tellRuns(escapement: Escapement): void
}

/** One load of the configuration, at work. */
export interface Generation {
  readonly escapement: Escapement
  readonly config: LoadedConfig
  /** Declares its transitions. */
  declare(): Promise<void>
  /** Puts its schedules, where this process does; with `dryRun`, only says what that would change. */
  put(options?: { dryRun?: boolean }): Promise<PutSchedules>
  start(): Promise<void>
}

/** Opens it and registers its jobs. No more than that is done yet. */
export async function openGeneration(ground: Ground, config: LoadedConfig): Promise<Generation> {
  const { held, logger, roles, syncs } = ground
  const escapement = await createEscapement({
    ...ground.optionsOf(config),
    logger,
    database: held.database,
  })
  try {
    for (const job of allJobs(config)) escapement.job(job)
    ground.tellRuns(escapement)
  } catch (error) {
    await escapement.close()
    throw error
  }
  return {
    escapement,
    config,
    declare: () => declareAll(escapement, config),
    async put({ dryRun = false } = {}) {
      if (!syncs) return { put: [], deleted: [], left: [] }
      return syncConfig(escapement, config, { isEmbedded: held.isEmbedded, dryRun })
    },
    start: () => escapement.start({ roles }),
  }
}
