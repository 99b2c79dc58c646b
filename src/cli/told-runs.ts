import type { Escapement } from '../escapement.js'
import type { RunEvent } from '../events/bus.js'
import type { Logger } from '../logger.js'
import { colours } from './colours.js'
import { describeChange } from './describe-change.js'
import { harmless } from './harmless.js'
import { localTime } from './local-time.js'
import { isWritten, type LogLevel } from './log-level.js'

/** A line for a person for each end of an attempt, and for each row that a transition changes. */
export function printRuns({ on }: Escapement, least: LogLevel): void {
  const printed =
    (level: LogLevel, mark: string, noteOf: (event: RunEvent) => string) => (event: RunEvent) => {
      if (!isWritten(level, least)) return
      const planned = event.planTime === null ? 'direct' : localTime(event.planTime)
      console.log(harmless(`${mark} ${planned}  ${event.schedule ?? event.job}  ${noteOf(event)}`))
    }
  on(
    'run.succeeded',
    printed('info', colours.green('✔'), ({ durationMs }) => `${durationMs!.toFixed(1)} ms`),
  )
  on(
    'run.retrying',
    printed(
      'warn',
      colours.yellow('↻'),
      ({ attempt, error }) => `attempt ${attempt} failed: ${error!.message}`,
    ),
  )
  on(
    'run.failed',
    printed('error', colours.red('✘'), ({ error }) => error!.message),
  )
  on('transition.applied', (change) => {
    if (!isWritten('info', least)) return
    console.log(harmless(`${colours.green('✔')} ${localTime(change.dueAt)}  ${describeChange(change)}`))
  })
}

/** The same as records, and of what was skipped or cancelled as well. */
export function logRuns({ on }: Escapement, logger: Logger): void {
  on('run.succeeded', (event) => logger.info(factsOf(event), 'a run succeeded'))
  on('run.retrying', (event) => logger.warn(factsOf(event), 'an attempt failed, and is followed by another'))
  on('run.failed', (event) => logger.error(factsOf(event), 'a run failed'))
  on('run.skipped', (event) => logger.info(factsOf(event), 'a run was skipped'))
  on('run.cancelled', (event) => logger.info(factsOf(event), 'a run was cancelled'))
  on('transition.applied', (change) => logger.info({ ...change }, 'a row was changed'))
}

/** What it has not got is left out. */
function factsOf({ error, planTime, durationMs, ...event }: RunEvent): object {
  const known = Object.entries({ ...event, planTime, durationMs, err: error }).filter(
    ([, value]) => value !== null,
  )
  return Object.fromEntries(known)
}
