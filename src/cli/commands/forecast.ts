import { type Command, Option } from 'commander'
import { hostNow } from '../../clock.js'
import type { Result } from '../../http-client/index.js'
import { durationToMs } from '../../time/duration.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { formatHistogram } from '../histogram.js'
import { localTime } from '../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { terminalWidth } from '../table.js'
import { parseTime, TIME_FLAG_HELP } from '../time-flag.js'

interface ForecastFlags extends ConnectionFlags, JsonFlag {
  from?: string
  for: string
  bucket?: string
  by?: 'queue' | 'group'
}

const MINUTE_MS = 60_000
/** Steps that people think in, the smallest first. */
const STEPS = [1, 5, 15, 60, 360, 1_440, 10_080].map((minutes) => minutes * MINUTE_MS)
const MOST_LINES = 31
const PLAIN_WIDTH = 80
const ESTIMATE =
  'An estimate from a part of the schedules: there are too many to count at once. What only few ask for may be missing.'

export function addForecast(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('forecast')))
    .summary('show how many runs are to come, and when')
    .description(
      'Counts the plan times of all active schedules in the time ahead and draws them: a herd is seen before it comes. What\n' +
        'begins after a completion, or in scopes that a job gives, is not known beforehand and counts once.',
    )
    .option('--from <time>', `${TIME_FLAG_HELP} (default: now)`, parseTime)
    .option('--for <duration>', 'how far ahead', '24 hours')
    .option('--bucket <duration>', 'what one bar stands for (default: what fits a screen)')
    .addOption(new Option('--by <field>', 'one histogram for each').choices(['queue', 'group']))
    .addHelpText(
      'after',
      examples(
        'escapement forecast',
        'escapement forecast --for "2 hours" --bucket "5 minutes"',
        'escapement forecast --from 2026-12-01 --for "1 week" --by queue',
      ),
    )
    .action((flags: ForecastFlags, command: Command) => {
      const rangeMs = durationToMs(flags.for, '--for')
      const bucketMs = flags.bucket === undefined ? stepFor(rangeMs) : durationToMs(flags.bucket, '--bucket')
      const start = flags.from === undefined ? hostNow() : Date.parse(flags.from)
      // Bars begin on the grid, as the clock on the wall does.
      const from = Math.floor(start / bucketMs) * bucketMs
      const to = from + Math.ceil((start + rangeMs - from) / bucketMs) * bucketMs
      return withConnection(flags, command, async (client) => {
        const forecast = await client.forecast({
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          bucket: `${bucketMs} milliseconds`,
          by: flags.by ?? (flags.json ? 'both' : 'none'),
        })
        show(flags, forecast, () => describeForecast(forecast, { from, to, bucketMs, by: flags.by }))
      })
    })
}

function stepFor(rangeMs: number): number {
  return STEPS.find((step) => rangeMs / step <= MOST_LINES) ?? STEPS.at(-1)!
}

type Forecast = Result<'getForecast'>
type Buckets = Forecast['buckets']

function describeForecast(
  { buckets, isEstimate }: Forecast,
  {
    from,
    to,
    bucketMs,
    by,
  }: { from: number; to: number; bucketMs: number; by: 'queue' | 'group' | undefined },
): string {
  const width = terminalWidth() ?? PLAIN_WIDTH
  if (buckets.length === 0) return 'No run is planned in that time.'
  const partOf = (bucket: Buckets[number]) => (by === undefined ? '' : (bucket[by] ?? '(none)'))
  const names = [...new Set(buckets.map(partOf))]
  const about = isEstimate ? 'about ' : ''
  const histograms = names.map((name) => {
    const own = buckets.filter((bucket) => partOf(bucket) === name)
    const total = own.reduce((sum, { runs }) => sum + runs, 0)
    const bars = []
    for (let at = from; at < to; at += bucketMs) {
      const inside = own.filter((bucket) => Date.parse(bucket.from) === at)
      bars.push({
        label: localTime(new Date(at)).slice(0, 16),
        count: inside.reduce((sum, { runs }) => sum + runs, 0),
      })
    }
    const peak = bars.reduce((a, b) => (b.count > a.count ? b : a))
    const head = `${name && `${by} ${name}: `}${about}${total.toLocaleString('en')} runs, the most at ${peak.label} (${peak.count.toLocaleString('en')})`
    return `${colours.bold(head)}\n${formatHistogram(bars, width)}`
  })
  return [...histograms, ...(isEstimate ? [colours.dim(ESTIMATE)] : [])].join('\n\n')
}
