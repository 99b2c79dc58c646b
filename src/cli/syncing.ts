import { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import { isJob } from '../runs/job.js'
import { mistakesFrom } from './config-check.js'
import { type ConfigMistake, mistakesInConfig } from './config-errors.js'
import type { LoadedConfig } from './config-file.js'

/** Whose schedules they are; see `SyncOptions`. */
const SOURCE = 'config'

export interface PutSchedules {
  /** Names that were created or changed. */
  put: string[]
  deleted: string[]
  /** Names that a configuration has put, and this one does not declare: they go on. */
  left: string[]
}

/** Puts the schedules of a configuration. One that has no field for them says nothing about them. */
export async function syncConfig(
  { schedules }: Escapement,
  config: LoadedConfig,
  { isEmbedded, dryRun = false }: { isEmbedded: boolean; dryRun?: boolean },
): Promise<PutSchedules> {
  if (config.schedules === undefined || config.source === undefined) return { put: [], deleted: [], left: [] }
  const prune = config.prune ?? isEmbedded
  const { file } = config.source
  try {
    const options = { source: SOURCE, actor: file, prune, dryRun }
    const { changed, deleted } = await schedules.sync(config.schedules, options)
    if (prune) return { put: changed, deleted, left: [] }
    const others = await schedules.sync({}, { source: SOURCE, prune: true, dryRun: true })
    const left = others.deleted.filter((name) => !(name in config.schedules!))
    return { put: changed, deleted: [], left }
  } catch (error) {
    const mistakes = mistakesOf(config, error)
    throw mistakes.length === 0 ? error : mistakesInConfig(config.source, mistakes, error)
  }
}

/** What was refused, by where it is declared; nothing where the error is of another kind. */
function mistakesOf({ schedules = {} }: LoadedConfig, error: unknown): ConfigMistake[] {
  if (!(error instanceof EscapementError)) return []
  const { name } = error.details as { name?: string }
  switch (error.code) {
    case 'unknown_job':
      return Object.entries(schedules)
        .filter(([, { job }]) => (isJob(job) ? job.name : job) === name)
        .map(([schedule]) => ({
          path: ['schedules', schedule, 'job'],
          message: error.message.replace(/^job: /, ''),
        }))
    case 'gate_closed':
    case 'gate_unavailable':
      return [{ path: ['schedules', name!], message: error.message }]
    case 'schedule_invalid':
      return name === undefined ? [] : mistakesFrom(['schedules', name], error)
    default:
      return []
  }
}
