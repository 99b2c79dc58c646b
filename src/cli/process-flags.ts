import { type Command, InvalidArgumentError } from 'commander'
import { type DatabaseFlags, withDatabaseFlags } from './connection.js'
import { type LogFlags, withLogFlags } from './log-flags.js'

/** Of the commands that run on; each has some of those that are optional. */
export interface ProcessFlags extends DatabaseFlags, LogFlags {
  config?: string
  host?: string
  port?: number
  watch?: boolean
  queues?: string[]
  concurrency?: number
}

/** What they all take. */
export function withProcessFlags(command: Command): Command {
  return withLogFlags(withDatabaseFlags(command)).option(
    '--config <file>',
    'configuration to load (default: escapement.config.ts, if there is one)',
  )
}

/** Where a server listens; `portHelp` says what without one. */
export function withAddressFlags(command: Command, portHelp: string): Command {
  return command
    .option(
      '--host <address>',
      'address to listen on; beyond this machine a token is needed (default: 127.0.0.1)',
    )
    .option('--port <number>', portHelp, parsePort)
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.')
}

export function parseQueues(text: string): string[] {
  const queues = text.split(',').map((name) => name.trim())
  if (queues.every((name) => name !== '')) return queues
  throw new InvalidArgumentError('It must be a list of queues, such as default,mail.')
}
