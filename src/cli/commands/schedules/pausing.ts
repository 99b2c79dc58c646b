import type { Command } from 'commander'
import { withConnection } from '../../connection.js'
import { examples, show } from '../../output.js'
import { readUntil } from '../../time-flag.js'
import { naming } from './flag-names.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
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
    .description('Pauses a schedule. Runs that exist go on; its plan times are recorded as paused.')
    .argument(...NAME)
  withSharedFlags(withPauseFlags(command, "the schedule's zone"))
    .addHelpText(
      'after',
      examples(
        'escapement schedules pause report:acme --reason "their API is down" --until "2 hours"',
        'escapement schedules pause report:acme --until 2026-12-01T09:00',
      ),
    )
    .action((name: string, flags: PauseFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const zone = async () => readingZone((await api.get(name)).timing)
        const schedule = await naming(PAUSE_FLAGS, async () => api.pause(name, await pauseOf(flags, zone)))
        show(flags, schedule, () => done(standingOf(schedule)))
      }),
    )
}

export function addResume(schedules: Command): void {
  const command = schedules
    .command('resume')
    .summary('go on with the next plan time to come')
    .description(
      'Resumes a schedule that is paused or broken, with the next plan time to come and never with one that passed.',
    )
    .argument(...NAME)
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples('escapement schedules resume report:acme', 'escapement schedules resume report:acme --json'),
    )
    .action((name: string, flags: SharedFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const schedule = await api.resume(name)
        show(flags, schedule, () => done(standingOf(schedule)))
      }),
    )
}
