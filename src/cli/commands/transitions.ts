import type { Command } from 'commander'
import type { Result } from '../../http-client/index.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { localTime } from '../local-time.js'
import { formatTable } from '../table.js'

export function addTransitions(program: Command): void {
  withConnectionFlags(program.command('transitions'))
    .summary('list declared transitions')
    .description(
      'Lists what becomes of rows when their time comes, with how many are due, when the next is, and how many were set aside.\n' +
        'A server answers for what it has declared; without one they come from escapement.config.ts.',
    )
    .option('--config <file>', 'configuration to load (default: escapement.config.ts, if there is one)')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement transitions
  escapement transitions --json --database postgres://app@localhost/app`,
    )
    .action((flags: ConnectionFlags & { config?: string; json?: boolean }, command: Command) =>
      withConnection(
        flags,
        command,
        async (client) => {
          const { transitions: found } = await client.transitions.list()
          if (flags.json) return console.log(JSON.stringify(found, null, 2))
          if (found.length === 0) return console.log('No transitions are declared.')
          const rows = found.flatMap(({ table, fields }) =>
            fields.map((field) => [
              table,
              field.field,
              describeAction(field),
              field.due >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(field.due),
              field.nextDueAt === null ? '–' : localTime(field.nextDueAt),
              String(field.quarantined),
            ]),
          )
          console.log(formatTable(['TABLE', 'FIELD', 'ACTION', 'DUE', 'NEXT', 'QUARANTINED'], rows))
        },
        async () => (await import('../config-file.js')).loadConfig(flags.config),
      ),
    )
}

/** Where the server stops to count. */
const MOST_COUNTED = 10_000

type Field = Result<'listTransitions'>['transitions'][number]['fields'][number]

function describeAction({ action, column, from, to }: Field): string {
  if (action !== 'set') return action === 'softDelete' ? `soft-delete by ${column}` : 'delete'
  return `${column} ${from === undefined ? '' : `${String(from)} `}→ ${String(to)}`
}
