import type { Command } from 'commander'
import { EscapementError } from '../../errors.js'
import type { HttpClient } from '../../http-client/index.js'
import { didYouMean } from '../../time/did-you-mean.js'
import { withConnection } from '../connection.js'
import { hostZone } from '../moment.js'
import { examples, show } from '../output.js'
import { withProgress } from '../progress.js'
import { naming } from './schedules/flag-names.js'
import { PAUSE_FLAGS, type PauseFlags, pauseOf, withPauseFlags } from './schedules/pausing.js'
import { type SharedFlags, withSharedFlags } from './schedules/shared-flags.js'
import { done } from './schedules/standing.js'

const GROUP = ['<group>', 'name of the group'] as const

export function addGroups(program: Command): void {
  const groups = program.command('groups').description('pause and resume all schedules of a group')
  addPause(groups)
  addResume(groups)
}

function addPause(groups: Command): void {
  const command = groups
    .command('pause')
    .summary('pause all schedules of a group')
    .description(
      'Pauses all schedules of a group. Those that are paused or finished already stay as they are.',
    )
    .argument(...GROUP)
  withSharedFlags(withPauseFlags(command, 'the zone of this machine'))
    .addHelpText(
      'after',
      examples(
        'escapement groups pause acme --reason "migration" --until "2 hours"',
        'escapement groups pause acme --until 2026-12-01T09:00Z',
      ),
    )
    .action((group: string, flags: PauseFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const pause = await pauseOf(flags, hostZone)
        await change(client, group, flags, 'paused', () =>
          naming(PAUSE_FLAGS, () => client.groups.pause(group, pause)),
        )
      }),
    )
}

function addResume(groups: Command): void {
  const command = groups
    .command('resume')
    .summary('resume all schedules of a group')
    .description(
      'Resumes all schedules of a group that are paused or broken; those whose gate is closed stay as they are.',
    )
    .argument(...GROUP)
  withSharedFlags(command)
    .addHelpText('after', examples('escapement groups resume acme', 'escapement groups resume acme --json'))
    .action((group: string, flags: SharedFlags, command: Command) =>
      withConnection(flags, command, (client) =>
        change(client, group, flags, 'resumed', () => client.groups.resume(group)),
      ),
    )
}

async function change(
  client: HttpClient,
  group: string,
  flags: SharedFlags,
  what: 'paused' | 'resumed',
  work: () => Promise<{ changed: number }>,
): Promise<void> {
  const label = what === 'paused' ? 'Pausing' : 'Resuming'
  const answer = await withProgress(`${label} the group "${group}"`, work)
  if (answer.changed === 0) await expectGroup(client, group)
  const { changed } = answer
  const count = changed === 1 ? '1 schedule was' : `${changed.toLocaleString('en')} schedules were`
  show(flags, answer, () =>
    changed === 0
      ? `Nothing was changed: no schedule of the group "${group}" could be ${what}.`
      : done(`${count} ${what} in the group "${group}"`),
  )
}

const LOOKED_AT = 1_000

/** A group is there as long as a schedule is in it. */
async function expectGroup({ schedules }: HttpClient, group: string): Promise<void> {
  const { schedules: own } = await schedules.list({ group, limit: 1 })
  if (own.length > 0) return
  const { schedules: all } = await schedules.list({ limit: LOOKED_AT })
  const known = [...new Set(all.flatMap((schedule) => schedule.group ?? []))]
  throw new EscapementError('schedule_not_found', {
    message: `There is no schedule in the group "${group}"${didYouMean(group, known)}. List them with: escapement schedules list`,
    details: { group },
  })
}
