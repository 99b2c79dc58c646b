import { Command, Help } from 'commander'
import { VERSION } from '../version.js'
import { addAudit } from './commands/audit.js'
import { addClaiming } from './commands/claiming.js'
import { addCompletion } from './commands/completion.js'
import { addDoctor } from './commands/doctor.js'
import { addEvents } from './commands/events.js'
import { addExport } from './commands/export.js'
import { addForecast } from './commands/forecast.js'
import { addGroups } from './commands/groups.js'
import { addImport } from './commands/import.js'
import { addMigrate } from './commands/migrate.js'
import { addJobs, addQueues, addStatus, addWorkers } from './commands/overview.js'
import { addPreview } from './commands/preview.js'
import { addReconcile } from './commands/reconcile.js'
import { addRuns } from './commands/runs/index.js'
import { addScheduler } from './commands/scheduler.js'
import { addSchedules } from './commands/schedules/index.js'
import { addSweep } from './commands/sweep.js'
import { addTokens } from './commands/tokens.js'
import { addTransitions } from './commands/transitions.js'
import { addUp } from './commands/up.js'
import { addWorker } from './commands/worker.js'
import { CONNECTION_HEADING } from './connection.js'
import { EXIT_STATUS_HELP } from './exit-status.js'

/** In the order in which the help lists them. */
const COMMANDS = [
  addUp,
  addWorker,
  addScheduler,
  addMigrate,
  addSchedules,
  addGroups,
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
  addExport,
  addImport,
  addTokens,
  addCompletion,
]

/** The whole command line. What a command needs beyond its flags is loaded when it runs: help must not wait for it. */
export function createProgram(): Command {
  const program = new Command('escapement')
    .description('A durable scheduler and run queue on PostgreSQL, or on PGlite inside the process.')
    .version(VERSION)
    .showSuggestionAfterError()
    .configureHelp({ groupItems: withConnectionLast })
    .exitOverride()
    .addHelpText('after', EXIT_STATUS_HELP)
  for (const add of COMMANDS) add(program)
  tellMistakes(program)
  return program
}

/** What most commands have in common comes after what is their own. */
const withConnectionLast: Help['groupItems'] = (all, visible, groupOf) => {
  const groups = new Help().groupItems(all, visible, groupOf)
  const connection = groups.get(CONNECTION_HEADING)
  if (!connection || !groups.delete(CONNECTION_HEADING)) return groups
  return groups.set(CONNECTION_HEADING, connection)
}

/** In one line, with what was meant, or how the command is used where something is missing. */
function tellMistakes(command: Command, parents = ''): void {
  const path = `${parents}${command.name()}`
  command.configureOutput({
    outputError(text, write) {
      const line = text.replace(/\n(?=\(Did)/, ' ')
      const isIncomplete = /missing required argument|required option/.test(line)
      write(isIncomplete ? `${line.trimEnd()} (usage: ${path} ${command.usage()})\n` : line)
    },
  })
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    // Lines of the source are not those of the terminal: only an empty one begins a paragraph.
    child.description(child.description().replace(/(?<!\n)\n(?!\n)/g, ' '))
    tellMistakes(child, `${path} `)
  }
}
