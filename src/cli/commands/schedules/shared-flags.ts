import type { Command } from 'commander'
import { type ConnectionFlags, withConnectionFlags } from '../../connection.js'
import { type JsonFlag, withJsonFlag } from '../../output.js'

/** What every command here takes. */
export type SharedFlags = ConnectionFlags & JsonFlag

export function withSharedFlags(command: Command): Command {
  return withConnectionFlags(withJsonFlag(command))
}

/** For the argument of a command on one schedule. */
export const NAME = ['<name>', 'name of the schedule'] as const
