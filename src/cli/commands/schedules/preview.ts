import type { Command } from 'commander'
import { hostNow } from '../../../clock.js'
import { withConnection } from '../../connection.js'
import { examples, show } from '../../output.js'
import { parseCount } from '../../paged.js'
import { formatPreview } from '../../preview-table.js'
import { OWN_TIME_HELP, readTime } from '../../time-flag.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { readingZone } from './standing.js'

interface PreviewFlags extends SharedFlags {
  from?: string
  count: number
}

export function addPreview(schedules: Command): void {
  const command = schedules
    .command('preview')
    .summary('show its next plan times')
    .description(
      'Shows the next plan times of a schedule, with those that are to be skipped, and a note on each that daylight saving ' +
        'moves, doubles or leaves out. "escapement preview" does so for a timing that is no schedule yet.',
    )
    .argument(...NAME)
    .option('--count <number>', 'how many, at most 1000', parseCount, 10)
    .option('--from <time>', `the first instant to look at: ${OWN_TIME_HELP} (default: now)`)
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules preview report:acme',
        'escapement schedules preview report:acme --from 2026-03-28 --count 3',
      ),
    )
    .action((name: string, flags: PreviewFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { timing } = await api.get(name)
        const zone = readingZone(timing)
        const now = hostNow()
        const after =
          flags.from === undefined
            ? {}
            : { after: new Date(readTime(flags.from, '--from', zone, now) - 1).toISOString() }
        const preview = await api.preview(name, { count: flags.count, ...after })
        show(flags, preview, () => formatPreview(preview, zone, now))
      }),
    )
}
