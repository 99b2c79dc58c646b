import type { Command } from 'commander'
import { type Role, readOptions } from '../options.js'
import { type ApiServer, serve } from '../server/serve.js'
import { loggerOf } from './chosen-logger.js'
import { type LoadedConfig, loadConfig } from './config-file.js'
import { databaseOf } from './connection.js'
import { EXIT_STATUS } from './exit-status.js'
import { type Ground, openGeneration } from './generation.js'
import { createGenerations, type Generations } from './generations.js'
import { holdDatabase } from './held-database.js'
import type { ProcessFlags } from './process-flags.js'
import { createReloading, type Reloading } from './reloading.js'
import { type ToldProcess, toldAsRecords, toldForPeople } from './told-process.js'

export interface ProcessRequest {
  flags: ProcessFlags
  command: Command
  roles: readonly Role[]
  /** Whether the schedules of the configuration are put. */
  syncs: boolean
  /** Whether a server listens. */
  serves: boolean
  /** What it does, where that is not everything. */
  doing: string
}

/** Carries out a configuration until a signal: `up`, `worker` and `scheduler` differ in their roles alone. */
export async function runProcess(request: ProcessRequest): Promise<void> {
  const { flags } = request
  if (!flags.watch) return carryOut(request, await loadConfig(flags.config))
  const reloading = createReloading(flags.config)
  try {
    await carryOut(request, await reloading.first(), reloading)
  } finally {
    await reloading.end()
  }
}

async function carryOut(request: ProcessRequest, config: LoadedConfig, reloading?: Reloading): Promise<void> {
  const { flags, command, roles, syncs } = request
  const logger = loggerOf(flags)
  const told = flags.log === 'pretty' ? toldForPeople(flags) : toldAsRecords(logger)
  const optionsOf: Ground['optionsOf'] = ({ options = {}, notify }) => ({
    ...options,
    ...(notify && { notify }),
    ...(flags.schema !== undefined && { schema: flags.schema }),
    worker: { ...options.worker, ...workerOf(flags) },
  })
  const wanted = databaseOf(flags, command)
  // What is wrong on the command line is said before anything is opened.
  readOptions({ ...optionsOf(config), database: wanted })
  const held = await holdDatabase(wanted, command.name())
  let server: ApiServer | undefined
  let generations: Generations | undefined
  try {
    const ground = { held, logger, roles, syncs, optionsOf, tellRuns: told.runs }
    const first = await openGeneration(ground, config)
    generations = createGenerations(ground, first, (next) => server?.answerBy(next))
    // The port before all else: what cannot run must not have changed anything.
    if (request.serves) server = await serve(first.escapement, { ...addressOf(flags), logger })
    await first.declare()
    const report = await first.put()
    if (server) await held.tellUrl(server.url)
    await first.start()
    // Before it says how it is stopped: who reads fast would else end it without a word.
    const signalled = untilSignal()
    told.started({ doing: request.doing, database: held.name, url: server?.url })
    told.configured(config, report, false)
    if (reloading) follow(reloading, generations, told)
    await Promise.race([signalled, held.stopped])
    told.stopping(generations.running())
    await reloading?.end()
    // The server answers until then, so that whoever looks sees what is waited for.
    await generations.stop()
  } finally {
    await server?.close()
    await generations?.close()
    await held.close()
  }
}

function follow(reloading: Reloading, generations: Generations, told: ToldProcess): void {
  reloading.begin({
    onLoaded: async (next) => told.configured(next, await generations.turnTo(next), true),
    onRefused: (error) => told.refused(generations.current.config.source!.file, error),
  })
}

function workerOf({ queues, concurrency }: ProcessFlags) {
  return { ...(queues && { queues }), ...(concurrency !== undefined && { concurrency }) }
}

function addressOf({ host, port }: ProcessFlags) {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) }
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = () => {
      if (asked) process.exit(EXIT_STATUS.interrupted)
      asked = true
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
