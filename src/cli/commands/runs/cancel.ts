import type { Command } from 'commander'
import { colours } from '../../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../../connection.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../../output.js'

export function addCancel(runs: Command): void {
  withJsonFlag(withConnectionFlags(runs.command('cancel')))
    .summary('end open runs')
    .description('Ends runs that wait or are at work: a handler is told, in whatever process it is.')
    .argument('<ids...>', 'as "escapement runs list" shows them')
    .option('--reason <text>', 'why, for those who look later')
    .addHelpText(
      'after',
      examples(
        'escapement runs cancel 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11',
        'escapement runs cancel 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11 --reason "wrong customer"',
      ),
    )
    .action((ids: string[], flags: ConnectionFlags & JsonFlag & { reason?: string }, command: Command) =>
      withConnection(flags, command, async (client) => {
        const reason = flags.reason === undefined ? {} : { reason: flags.reason }
        for (const id of ids) {
          await client.runs.cancel(id, reason)
          if (!flags.json) console.log(`${colours.green('✔')} ${id} is cancelled.`)
        }
        if (flags.json) show(flags, { cancelled: ids }, () => '')
      }),
    )
}
