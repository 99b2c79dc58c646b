#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import pc from 'picocolors'
import { EscapementError } from '../errors.js'
import { VERSION } from '../version.js'
import { addAudit } from './commands/audit.js'
import { addDoctor } from './commands/doctor.js'
import { addMigrate } from './commands/migrate.js'
import { addPreview } from './commands/preview.js'
import { addSchedules } from './commands/schedules.js'
import { addSweep } from './commands/sweep.js'
import { addTokens } from './commands/tokens.js'
import { addTransitions } from './commands/transitions.js'
import { addUp } from './commands/up.js'

const program = new Command('escapement')
  .description('A durable scheduler and run queue on PostgreSQL, or on PGlite inside the process.')
  .version(VERSION)
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did)/, ' ')) })
  .exitOverride()

addUp(program)
addMigrate(program)
addSchedules(program)
addAudit(program)
addDoctor(program)
addTransitions(program)
addSweep(program)
addTokens(program)
addPreview(program)
for (const command of [...program.commands, ...program.commands.flatMap((parent) => parent.commands)]) {
  command.copyInheritedSettings(program)
}

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = 1
  // Commander has said it already.
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else if (error instanceof EscapementError) console.error(`${pc.red('error:')} ${error.message}`)
  else if (isFromDatabase(error)) {
    console.error(`${pc.red('error:')} The database refused: ${error.message} (SQLSTATE ${error.code})`)
  } else throw error
}

function isFromDatabase(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'severity' in error && 'code' in error
}
