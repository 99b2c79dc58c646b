import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { createEscapement, type Escapement } from '../../escapement.js'
import type { ListeningServer } from '../../server/listen.js'
import { SERVE_DEFAULTS, serve } from '../../server/serve.js'
import { isEmbedded } from '../../store/pglite.js'
import { VERSION } from '../../version.js'
import { allJobs } from '../built-in-jobs.js'
import { colours } from '../colours.js'
import { loadConfig } from '../config-file.js'
import { type DatabaseFlags, databaseOf, declareAll, withDatabaseFlags } from '../connection.js'
import { type LogFlags, loggerOf, withLogFlags } from '../log-flags.js'
import { logRuns, printRuns } from '../told-runs.js'

interface UpFlags extends DatabaseFlags, LogFlags {
  host: string
  port: number
  config?: string
}

export function addUp(program: Command): void {
  withLogFlags(withDatabaseFlags(program.command('up')))
    .summary('run everything in one process')
    .description(
      'Runs the scheduler, a worker, the sweeper and the HTTP API in one process, on an embedded database in ./.escapement or,\n' +
        'with --database, on PostgreSQL. Jobs, schedules and transitions come from escapement.config.ts.',
    )
    .option(
      '--host <address>',
      'address to listen on; beyond this machine a token is needed',
      SERVE_DEFAULTS.host,
    )
    .option('--port <number>', 'port of the API; 0 takes a free one', parsePort, SERVE_DEFAULTS.port)
    .option('--config <file>', 'configuration to load (default: escapement.config.ts, if there is one)')
    .addHelpText(
      'after',
      `
Examples:
  escapement up
  escapement up --directory /var/lib/escapement --port 8080
  escapement up --host 0.0.0.0
  DATABASE_URL=postgres://app@localhost/app escapement up --config jobs/escapement.config.ts`,
    )
    .action(up)
}

async function up(flags: UpFlags, command: Command): Promise<void> {
  const config = await loadConfig(flags.config)
  const jobs = allJobs(config)
  const database = databaseOf(flags, command)
  const logger = loggerOf(flags)
  const escapement = await createEscapement({
    ...config.options,
    ...(config.notify && { notify: config.notify }),
    logger,
    database,
    ...(flags.schema === undefined ? {} : { schema: flags.schema }),
  })
  let server: ListeningServer | undefined
  try {
    // The port first: what cannot run must not have changed anything.
    server = await serve(escapement, { host: flags.host, port: flags.port, logger })
    for (const job of jobs) escapement.job(job)
    await declareAll(escapement, config)
    await escapement.schedules.sync(config.schedules ?? {}, {
      source: 'config',
      actor: config.file ?? 'config',
    })
    if (isEmbedded(escapement.database)) await escapement.database.lock?.update({ url: server.url })
    const isForPeople = flags.log === 'pretty'
    if (isForPeople) printRuns(escapement, flags.logLevel)
    else logRuns(escapement, logger)
    await escapement.start()
    const where = typeof database === 'string' ? 'PostgreSQL' : `embedded database in ${flags.directory}`
    if (isForPeople) {
      console.log(`${colours.bold(`Escapement ${VERSION}`)} on ${where}, ${server.url} (Ctrl+C stops it)`)
    } else logger.info({ version: VERSION, database: where, url: server.url }, 'started')
    await untilSignal(escapement)
    if (isForPeople) console.log('Stopping…')
    else logger.info({}, 'stopping')
  } finally {
    await server?.close()
    await escapement.close()
  }
}

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. Rejects when the embedded database
 * has stopped: nothing can go on without it.
 */
function untilSignal({ database }: Escapement): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = false
    const onSignal = () => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    if (isEmbedded(database)) database.stopped.then(reject)
  })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.')
}
