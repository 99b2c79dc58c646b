import type { Command } from 'commander'
import { withConnection } from '../../connection.js'
import { hostZone } from '../../moment.js'
import { examples, show } from '../../output.js'
import { readUntil } from '../../time-flag.js'
import { type BulkFlags, changeAll, NAME_OR_NONE, targetOf, withBulkFlags } from './bulk-pausing.js'
import { naming } from './flag-names.js'
import { type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, readingZone, standingOf } from './standing.js'

export interface PauseFlags extends SharedFlags {
  reason?: string
  until?: string
}

export function withPauseFlags(command: Command, zone: string): Command {
  return command
    .option('--reason <text>', 'why, for whoever finds it')
    .option(
      '--until <time>',
      `when it resumes by itself: "2 hours", or a time, in ${zone} if it has no offset`,
    )
}

export const PAUSE_FLAGS = { until: '--until', 'until.in': '--until', reason: '--reason' }

/** What the flags say, as the API takes it. */
export async function pauseOf({ reason, until }: PauseFlags, zone: () => string | Promise<string>) {
  return {
    ...(reason !== undefined && { reason }),
    ...(until !== undefined && { until: await readUntil(until, zone) }),
  }
}

export function addPause(schedules: Command): void {
  const command = schedules
    .command('pause')
    .summary('plan nothing until it is resumed')
    .description(
      'Pauses a schedule, or all that a filter finds. Runs that exist go on; plan times are recorded as paused.',
    )
    .argument(...NAME_OR_NONE)
  withSharedFlags(withBulkFlags(withPauseFlags(command, "the schedule's zone")))
    .addHelpText(
      'after',
      examples(
        'escapement schedules pause report:acme --reason "their API is down" --until "2 hours"',
        'escapement schedules pause report:acme --until 2026-12-01T09:00',
        'escapement schedules pause --search "report acme" --state active --yes',
      ),
    )
    .action((name: string | undefined, flags: PauseFlags & BulkFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { schedules: api } = client
        const target = targetOf(name, flags)
        if ('filter' in target) {
          const pause = await pauseOf(flags, hostZone)
          return naming(PAUSE_FLAGS, () => changeAll(client, { verb: 'pause', pause }, target.filter, flags))
        }
        const zone = async () => readingZone((await api.get(target.name)).timing)
        const schedule = await naming(PAUSE_FLAGS, async () =>
          api.pause(target.name, await pauseOf(flags, zone)),
        )
        show(flags, schedule, () => done(standingOf(schedule)))
      }),
    )
}

export function addResume(schedules: Command): void {
  const command = schedules
    .command('resume')
    .summary('go on with the next plan time to come')
    .description(
      'Resumes a schedule that is paused or broken, or all such that a filter finds, with the next plan time to come and\n' +
        'never with one that passed.',
    )
    .argument(...NAME_OR_NONE)
  withSharedFlags(withBulkFlags(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules resume report:acme',
        'escapement schedules resume --job send-report --yes',
      ),
    )
    .action((name: string | undefined, flags: BulkFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const target = targetOf(name, flags)
        if ('filter' in target) return changeAll(client, { verb: 'resume' }, target.filter, flags)
        const schedule = await client.schedules.resume(target.name)
        show(flags, schedule, () => done(standingOf(schedule)))
      }),
    )
}
