import { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import type { Logger } from '../logger.js'
import { VERSION } from '../version.js'
import { colours, errorColours } from './colours.js'
import type { LoadedConfig } from './config-file.js'
import { harmless } from './harmless.js'
import type { LogFlags } from './log-flags.js'
import type { PutSchedules } from './syncing.js'
import { logRuns, printRuns } from './told-runs.js'

/** What a process that runs on says of itself. */
export interface ToldProcess {
  runs(escapement: Escapement): void
  started(facts: { doing: string; database: string; url: string | undefined }): void
  /** What a configuration has changed; `isAgain` where it was loaded because it has changed itself. */
  configured(config: LoadedConfig, report: PutSchedules, isAgain: boolean): void
  /** A changed configuration is not used. */
  refused(file: string, error: unknown): void
  stopping(running: number): void
}

export function toldForPeople({ logLevel }: LogFlags): ToldProcess {
  return {
    runs: (escapement) => printRuns(escapement, logLevel),
    started({ doing, database, url }) {
      const where = url === undefined ? '' : `, ${url}`
      console.log(`${colours.bold(`Escapement ${VERSION}`)}${doing} on ${database}${where} (Ctrl+C stops it)`)
    },
    configured(config, report, isAgain) {
      if (config.source === undefined) return
      const { file } = config.source
      const parts = [...(isAgain ? [counted(config.jobs?.length ?? 0, 'job')] : []), ...changesOf(report)]
      if (parts.length > 0) console.log(`${file}${isAgain ? ' changed' : ''}: ${parts.join(', ')}`)
      if (report.left.length > 0) console.log(leftOver(file, report.left))
    },
    refused(file, error) {
      const message = error instanceof EscapementError ? error.message : String(error)
      console.error(`${errorColours.red('error:')} ${harmless(message)}`)
      console.error(`${file} is not used; the one before goes on.`)
    },
    stopping(running) {
      const what = running === 0 ? '' : ` waits for ${counted(running, 'run')}; Ctrl+C again ends it at once`
      console.log(`Stopping…${what}`)
    },
  }
}

export function toldAsRecords(logger: Logger): ToldProcess {
  return {
    runs: (escapement) => logRuns(escapement, logger),
    started: ({ database, url }) => logger.info({ version: VERSION, database, url }, 'started'),
    configured(config, { put, deleted, left }, isAgain) {
      if (config.source === undefined) return
      const { file } = config.source
      const facts = { file, jobs: config.jobs?.length ?? 0, put, deleted }
      if (isAgain) logger.info(facts, 'the configuration has changed')
      else if (put.length + deleted.length > 0)
        logger.info(facts, 'the schedules of the configuration were put')
      if (left.length > 0) {
        logger.warn({ file, schedules: left }, 'schedules that the configuration no longer declares go on')
      }
    },
    refused: (file, error) =>
      logger.error({ file, err: error }, 'the configuration is not used; the one before goes on'),
    stopping: (running) => logger.info({ running }, 'stopping'),
  }
}

function changesOf({ put, deleted }: PutSchedules): string[] {
  const parts = []
  if (put.length > 0) parts.push(`${counted(put.length, 'schedule')} put`)
  if (deleted.length > 0) {
    parts.push(`${put.length > 0 ? deleted.length : counted(deleted.length, 'schedule')} deleted`)
  }
  return parts
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const SHOWN = 5

function leftOver(file: string, names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return (
    `Not in ${file} any more, and still there: ${names.slice(0, SHOWN).join(', ')}${more}. ` +
    'Delete them with "escapement schedules delete <name>", or set prune: true.'
  )
}
