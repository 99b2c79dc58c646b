import type { Command } from 'commander'
import type { Result } from '../../http-client/index.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { localTime } from '../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'

type Flags = ConnectionFlags & JsonFlag

export function addClaiming(program: Command): void {
  const claiming = program
    .command('claiming')
    .description('stop and resume the beginning of runs, in all processes')

  withJsonFlag(withConnectionFlags(claiming.command('status')))
    .summary('say whether runs are begun')
    .description('Says whether runs are begun, and if not since when, by whom and why.')
    .addHelpText('after', examples('escapement claiming status', 'escapement claiming status --json'))
    .action((flags: Flags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const status = await client.claiming.get()
        show(flags, status, () => describeClaiming(status))
      }),
    )

  withJsonFlag(withConnectionFlags(claiming.command('pause')))
    .summary('begin no run any more')
    .description(
      'From now on no process begins a run. What runs goes on, and so does planning: the runs are there when claiming is\n' +
        'resumed. It holds through restarts.',
    )
    .option('--reason <text>', 'why, for those who wonder')
    .addHelpText(
      'after',
      examples('escapement claiming pause', 'escapement claiming pause --reason "the mail server is down"'),
    )
    .action((flags: Flags & { reason?: string }, command: Command) =>
      withConnection(flags, command, async (client) => {
        const reason = flags.reason === undefined ? {} : { reason: flags.reason }
        const status = await client.claiming.set({ paused: true, ...reason })
        show(flags, status, () => `${colours.green('✔')} No run is begun until: escapement claiming resume`)
      }),
    )

  withJsonFlag(withConnectionFlags(claiming.command('resume')))
    .summary('begin runs again')
    .description('Runs are begun again, those that waited first.')
    .addHelpText('after', examples('escapement claiming resume', 'escapement claiming resume --json'))
    .action((flags: Flags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const status = await client.claiming.set({ paused: false })
        show(flags, status, () => `${colours.green('✔')} Runs are begun.`)
      }),
    )
}

/** One line. */
export function describeClaiming({ paused, since, by, reason }: Result<'getClaiming'>): string {
  if (!paused) return `${colours.green('✔')} Runs are begun.`
  const facts = [since && `since ${localTime(since)}`, by && `by ${by}`].filter(Boolean).join(' ')
  return `${colours.yellow('!')} No run is begun${facts && ` ${facts}`}${reason ? `: ${reason}` : ''}`
}
