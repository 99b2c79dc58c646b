import { type Command, Option } from 'commander'
import { colours } from '../../colours.js'
import { confirm, withYesFlag, type YesFlag } from '../../confirm.js'
import { withConnection } from '../../connection.js'
import { examples, show } from '../../output.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, standingOf } from './standing.js'

interface DeleteFlags extends SharedFlags, YesFlag {
  runs: 'keep' | 'delete'
}

export function addDelete(schedules: Command): void {
  const command = schedules
    .command('delete')
    .summary('delete a schedule')
    .description(
      'Deletes a schedule. Its runs stay as history, or with --runs delete go with it and all that is known of it. At a terminal it ' +
        'asks first.',
    )
    .argument(...NAME)
    .addOption(
      new Option('--runs <what>', 'what becomes of its runs').choices(['keep', 'delete']).default('keep'),
    )
  withSharedFlags(withYesFlag(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules delete report:acme',
        'escapement schedules delete report:acme --runs delete --yes',
      ),
    )
    .action((name: string, flags: DeleteFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { runs } = flags
        const isAll = runs === 'delete'
        // First whether there is one: nobody should be asked in vain.
        await api.get(name)
        await confirm(
          `Delete ${name} ${isAll ? 'with all its runs and its history' : 'and keep its runs'}?`,
          flags,
        )
        await api.delete(name, { runs })
        show(flags, { name, deleted: true, runs }, () =>
          done(`${colours.bold(name)} is deleted${isAll ? ', with its runs' : '; its runs are kept'}`),
        )
      }),
    )
}

export function addRename(schedules: Command): void {
  const command = schedules
    .command('rename')
    .summary('give a schedule another name')
    .description('Gives a schedule another name. Its id, its runs and its history stay.')
    .argument(...NAME)
    .argument('<to>', 'its new name')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules rename report:acme report:acme-inc',
        'escapement schedules rename report:acme report:acme-inc --json',
      ),
    )
    .action((name: string, to: string, flags: SharedFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const schedule = await api.rename(name, to)
        show(flags, schedule, () => done(`${name} → ${standingOf(schedule)}`))
      }),
    )
}
