import type { Command } from 'commander'
import { colours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { followRun } from '../../follow-run.js'
import { JSON_FORMS, readJsonFlag } from '../../json-flag.js'
import { examples, show } from '../../output.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done } from './standing.js'

interface TriggerFlags extends SharedFlags {
  key?: string
  input?: string
  scope?: string
  wait?: boolean
}

export function addTrigger(schedules: Command): void {
  const command = schedules
    .command('trigger')
    .summary('run it now')
    .description(
      "Asks for a run of a schedule's job now, whatever its timing and state. With --wait it follows the run to its end, and ends " +
        'with status 1 if that is no success.',
    )
    .argument(...NAME)
    .option('--key <text>', 'the same key again gives the same run')
    .option('--input <json>', `instead of the input of the schedule: ${JSON_FORMS}`)
    .option('--scope <name>', 'one of its scopes (default: the first)')
    .option('--wait', 'wait until the run has ended')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules trigger report:acme --wait',
        'escapement schedules trigger report:acme --key deploy-42',
        `escapement schedules trigger report:acme --input '{"customer":"beta"}'`,
      ),
    )
    .action((name: string, flags: TriggerFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { key, input, scope, wait } = flags
        const asked = await client.schedules.trigger(name, {
          ...(key !== undefined && { key }),
          ...(input !== undefined && { input: await readJsonFlag(input, '--input') }),
          ...(scope !== undefined && { scope }),
        })
        if (wait) return followRun(client, asked.id, flags)
        const sentence = asked.created ? `runs now, as ${asked.id}` : `has that run already: ${asked.id}`
        show(flags, asked, () => done(`${colours.bold(name)} ${sentence}`))
      }),
    )
}
