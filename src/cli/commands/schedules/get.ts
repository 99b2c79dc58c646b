import type { Command } from 'commander'
import { hostNow } from '../../../clock.js'
import { withConnection } from '../../connection.js'
import { examples, show } from '../../output.js'
import { describeSchedule } from './schedule-card.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'

const NEXT = 3
const LAST = 5

export function addGet(schedules: Command): void {
  const command = schedules
    .command('get')
    .summary('show one schedule')
    .description(
      'Shows all about one schedule: its timing and policies in words, its next plan times, its state, its last runs. ' +
        'With --json it prints the fields, which "put --file" takes back.',
    )
    .argument(...NAME)
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules get report:acme',
        'escapement schedules get report:acme --json > report.json',
      ),
    )
    .action((name: string, flags: SharedFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const schedule = await api.get(name)
        if (flags.json) return show(flags, schedule, String)
        const until = schedule.stateNote?.until
        const [preview, { runs }] = await Promise.all([
          api.preview(name, { count: NEXT, ...(until && { after: until }) }),
          api.runs(name, { limit: LAST }),
        ])
        show(flags, schedule, () => describeSchedule({ schedule, preview, runs }, hostNow()))
      }),
    )
}
