import { Command } from 'commander'
import { VERSION } from '../version.js'
import { addAudit } from './commands/audit.js'
import { addClaiming } from './commands/claiming.js'
import { addCompletion } from './commands/completion.js'
import { addDoctor } from './commands/doctor.js'
import { addEvents } from './commands/events.js'
import { addForecast } from './commands/forecast.js'
import { addMigrate } from './commands/migrate.js'
import { addJobs, addQueues, addStatus, addWorkers } from './commands/overview.js'
import { addPreview } from './commands/preview.js'
import { addReconcile } from './commands/reconcile.js'
import { addRuns } from './commands/runs/index.js'
import { addScheduler } from './commands/scheduler.js'
import { addSchedules } from './commands/schedules.js'
import { addSweep } from './commands/sweep.js'
import { addTokens } from './commands/tokens.js'
import { addTransitions } from './commands/transitions.js'
import { addUp } from './commands/up.js'
import { addWorker } from './commands/worker.js'
import { EXIT_STATUS_HELP } from './exit-status.js'

/** In the order in which the help lists them. */
const COMMANDS = [
  addUp,
  addWorker,
  addScheduler,
  addMigrate,
  addSchedules,
  addRuns,
  addClaiming,
  addStatus,
  addJobs,
  addWorkers,
  addQueues,
  addPreview,
  addForecast,
  addEvents,
  addTransitions,
  addSweep,
  addAudit,
  addDoctor,
  addReconcile,
  addTokens,
  addCompletion,
]

/** The whole command line. What a command needs beyond its flags is loaded when it runs: help must not wait for it. */
export function createProgram(): Command {
  const program = new Command('escapement')
    .description('A durable scheduler and run queue on PostgreSQL, or on PGlite inside the process.')
    .version(VERSION)
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did)/, ' ')) })
    .exitOverride()
    .addHelpText('after', EXIT_STATUS_HELP)
  for (const add of COMMANDS) add(program)
  inheritSettings(program)
  return program
}

function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent)
    inheritSettings(command)
  }
}
