import type { Command } from 'commander'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { withProgress } from '../progress.js'

export function addReconcile(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('reconcile')))
    .summary('mend damaged cursors')
    .description(
      'Computes where each schedule stands anew and mends the cursors that were lost or damaged. Schedulers do so by themselves,\n' +
        'a slice at a time; this does it now. Repeating it changes nothing.',
    )
    .addHelpText(
      'after',
      examples('escapement reconcile', 'escapement reconcile --json --url http://127.0.0.1:4680'),
    )
    .action((flags: ConnectionFlags & JsonFlag, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { mended } = await withProgress('reconciling', () => client.reconcile())
        show(flags, { mended }, () =>
          mended.length === 0
            ? `${colours.green('✔')} No cursor is damaged.`
            : [`${colours.green('✔')} ${mended.length} mended:`, ...mended.map((name) => `  ${name}`)].join(
                '\n',
              ),
        )
      }),
    )
}
