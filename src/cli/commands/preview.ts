import { type Command, InvalidArgumentError, Option } from 'commander'
import { hostNow } from '../../clock.js'
import { EscapementError } from '../../errors.js'
import {
  type Instant,
  type Preview,
  type PreviewedOccurrence,
  parseTiming,
  previewOccurrences,
  type Timing,
} from '../../time/index.js'
import { readAnchor } from '../../time/once.js'
import { readOrThrow } from '../../time/report.js'
import { distance, localTime } from '../local-time.js'
import { formatTable } from '../table.js'

interface PreviewFlags {
  cron?: string
  every?: string
  at?: string
  after?: string
  rrule?: string
  zone?: string
  anchor?: string
  gap?: string
  fold?: string
  from?: string
  count: number
  json?: boolean
}

/** Flag → the timing's kind and the field that the flag's value goes to. */
const KINDS = {
  cron: ['cron', 'expression'],
  every: ['every', 'every'],
  at: ['once', 'at'],
  after: ['after', 'interval'],
  rrule: ['rrule', 'rule'],
} as const
const DETAILS = ['zone', 'anchor', 'gap', 'fold'] as const
const MAX_COUNT = 1000

export function addPreview(program: Command): void {
  program
    .command('preview')
    .summary('show when a timing would run')
    .description(
      'Shows the next plan times of a timing, with a note on each that daylight saving moves, doubles or leaves out.\n' +
        'It needs neither a server nor a database.',
    )
    .option('--cron <expression>', 'five fields, or six with leading seconds: "0 9 * * MON-FRI"')
    .option('--every <duration>', 'a fixed grid: "15 minutes", "1 month"')
    .option('--at <time>', 'once: "2026-12-01T09:00"')
    .option('--after <duration>', 'that long after each completion: "6 hours"')
    .option('--rrule <rule>', 'a recurrence rule of RFC 5545: "FREQ=MONTHLY;BYDAY=-1FR"')
    .option('--zone <name>', 'time zone of the timing: "America/New_York" (default: "UTC")')
    .option('--anchor <time>', 'where the grid of --every begins (default: 2001-01-01T00:00)')
    .addOption(new Option('--gap <policy>', 'wall time that never shows').choices(['shift', 'skip']))
    .addOption(
      new Option('--fold <policy>', 'wall time that shows twice').choices(['first', 'second', 'both']),
    )
    .option('--from <time>', 'the first instant to look at, in the zone if it has no offset (default: now)')
    .option('--count <number>', `how many, at most ${MAX_COUNT}`, parseCount, 10)
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement preview --cron "0 9 * * MON-FRI" --zone America/New_York
  escapement preview --cron "30 2 * * *" --zone Europe/Paris --from 2026-03-28 --count 3
  escapement preview --every "1 month" --anchor 2026-01-31T09:00 --json`,
    )
    .action(preview)
}

function preview(flags: PreviewFlags): void {
  const timing = timingOf(flags)
  const now = hostNow()
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  const from = flags.from === undefined ? now : instantOf(flags.from, zone)
  // `from` is included, except that an interval counts from it.
  const found = previewOccurrences(timing, {
    after: timing.kind === 'after' ? from : from - 1,
    count: flags.count,
  })
  console.log(flags.json ? JSON.stringify(found, null, 2) : formatPreview(found, zone, now))
}

function formatPreview({ description, occurrences }: Preview, zone: string, now: Instant): string {
  if (occurrences.length === 0) return `${description}\nNo plan time is left.`
  const columns: [string, (occurrence: PreviewedOccurrence) => string][] = [
    ['LOCAL', ({ planTime }) => localTime(new Date(planTime))],
    [zone.toUpperCase(), ({ local }) => local.replace('T', ' ')],
    ['UTC', ({ planTime }) => planTime.replace('T', ' ').replace(/(\.000)?Z$/, '')],
    ['DISTANCE', ({ planTime }) => distance(Date.parse(planTime) - now)],
    ['NOTE', ({ note }) => note ?? ''],
  ]
  if (zone === 'UTC') columns.splice(1, 1)
  if (occurrences.every(({ note }) => note === undefined)) columns.pop()
  const rows = occurrences.map((occurrence) => columns.map(([, cell]) => cell(occurrence)))
  return `${description}\n\n${formatTable(
    columns.map(([title]) => title),
    rows,
  )}`
}

function timingOf(flags: PreviewFlags): Timing {
  const given = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((name) => flags[name] !== undefined)
  const [flag] = given
  if (flag === undefined || given.length > 1) {
    const all = Object.keys(KINDS).map((name) => `--${name}`)
    throw new EscapementError('option_invalid', {
      message: `Give exactly one of ${all.join(', ')}${given.length > 1 ? `, not ${given.length}` : ''}.`,
    })
  }
  const [kind, field] = KINDS[flag]
  const details = DETAILS.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]])
  return parseTiming({ kind, [field]: flags[flag], ...Object.fromEntries(details) }, 'timing')
}

function instantOf(text: string, zone: string): Instant {
  return readOrThrow('option_invalid', (report) => readAnchor(text, zone, '--from', report))
}

function parseCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_COUNT) return count
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_COUNT}.`)
}
