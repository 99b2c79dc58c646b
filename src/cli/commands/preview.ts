import { type Command, InvalidArgumentError } from 'commander'
import { hostNow } from '../../clock.js'
import { type Instant, previewOccurrences } from '../../time/index.js'
import { readAnchor } from '../../time/once.js'
import { readOrThrow } from '../../time/report.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { formatPreview } from '../preview-table.js'
import { requiredTiming, type TimingFlags, withTimingFlags } from '../timing-flags.js'

interface PreviewFlags extends TimingFlags, JsonFlag {
  from?: string
  count: number
}

const MAX_COUNT = 1000

export function addPreview(program: Command): void {
  const command = program
    .command('preview')
    .summary('show when a timing would run')
    .description(
      'Shows the next plan times of a timing, with a note on each that daylight saving moves, doubles or leaves out.\n' +
        'It needs neither a server nor a database.',
    )
  withJsonFlag(withTimingFlags(command))
    .option('--from <time>', 'the first instant to look at, in the zone if it has no offset (default: now)')
    .option('--count <number>', `how many, at most ${MAX_COUNT}`, parseCount, 10)
    .addHelpText(
      'after',
      examples(
        'escapement preview --cron "0 9 * * MON-FRI" --zone America/New_York',
        'escapement preview --cron "30 2 * * *" --zone Europe/Paris --from 2026-03-28 --count 3',
        'escapement preview --every "1 month" --anchor 2026-01-31T09:00 --json',
      ),
    )
    .action(preview)
}

function preview(flags: PreviewFlags): void {
  const timing = requiredTiming(flags)
  const now = hostNow()
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  const from = flags.from === undefined ? now : instantOf(flags.from, zone)
  // `from` is included, except that an interval counts from it.
  const found = previewOccurrences(timing, {
    after: timing.kind === 'after' ? from : from - 1,
    count: flags.count,
  })
  show(flags, found, () => formatPreview(found, zone, now))
}

function instantOf(text: string, zone: string): Instant {
  return readOrThrow('option_invalid', (report) => readAnchor(text, zone, '--from', report))
}

function parseCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_COUNT) return count
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_COUNT}.`)
}
