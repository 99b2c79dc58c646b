#!/usr/bin/env node
import { CommanderError } from 'commander'
import { EscapementError } from '../errors.js'
import { errorColours } from './colours.js'
import { EXIT_STATUS, exitStatusOf } from './exit-status.js'
import { harmless } from './harmless.js'
import { createProgram } from './program.js'

/** So that the mistakes of one input stand below each other. */
const INDENT = `\n${' '.repeat('error: '.length)}`

// Whoever reads only the beginning, as `head` does, has what it wants. A command that runs on has lost whoever read its log:
// it finishes what it has in hand, and that is a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (process.listenerCount('SIGTERM') === 0) process.exit(0)
  if (process.exitCode === undefined) process.kill(process.pid, 'SIGTERM')
  process.exitCode = EXIT_STATUS.failed
})

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = exitStatusOf(error)
  // Commander has said it already.
  if (!(error instanceof CommanderError)) tell(error)
}

function tell(error: unknown): void {
  const told = isFromDatabase(error)
    ? { code: error.code, message: `The database refused: ${error.message} (SQLSTATE ${error.code})` }
    : error
  if (!(told instanceof EscapementError) && told === error) throw error
  const { code, message, details } = told as EscapementError
  if (process.argv.includes('--json')) console.error(JSON.stringify({ error: { code, message, details } }))
  else console.error(`${errorColours.red('error:')} ${harmless(message).replaceAll('\n', INDENT)}`)
}

function isFromDatabase(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'severity' in error && 'code' in error
}
