import type { Command } from 'commander'
import { hostNow } from '../../../clock.js'
import type { Result } from '../../../http-client/index.js'
import { compileTiming, type Instant, type Timing } from '../../../time/index.js'
import { colours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { distanceTo, wallElsewhere, wallTime } from '../../moment.js'
import { examples, show } from '../../output.js'
import { paintedState } from '../../run-words.js'
import { formatColumns } from '../../table.js'
import { OWN_TIME_HELP, readTime } from '../../time-flag.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { readingZone, type Schedule, zoneOf } from './standing.js'

interface RangeFlags extends SharedFlags {
  from?: string
  to?: string
}

type Occurrence = Result<'listOccurrences'>['occurrences'][number]

/** How many plan times before and after now are shown where no range is given. */
const AROUND = 10
/** Of one that has no grid. */
const BACK_MS = 7 * 86_400_000

export function addOccurrences(schedules: Command): void {
  const command = schedules
    .command('occurrences')
    .summary('show what became of each plan time')
    .description(
      `Shows the ledger: every plan time of a range and what became of it, or is to become of it. Without a range, about ${AROUND} plan ` +
        'times before now and after it.',
    )
    .argument(...NAME)
    .option('--from <time>', `inclusive: ${OWN_TIME_HELP}`)
    .option('--to <time>', 'exclusive')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules occurrences report:acme',
        'escapement schedules occurrences report:acme --from "2 days ago" --to now',
        'escapement schedules occurrences report:acme --from 2026-11-01 --to 2026-12-01 --json',
      ),
    )
    .action((name: string, flags: RangeFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const schedule = await api.get(name)
        const now = hostNow()
        const { from, to } = rangeOf(schedule, flags, now)
        const { occurrences } = await api.occurrences(name, {
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
        })
        show(flags, occurrences, () => formatOccurrences(occurrences, schedule, now))
      }),
    )
}

/** What is asked for, filled up with some plan times around now. */
export function rangeOf(
  { timing }: Pick<Schedule, 'timing'>,
  flags: Pick<RangeFlags, 'from' | 'to'>,
  now: Instant,
): { from: Instant; to: Instant } {
  const read = (text: string | undefined, flag: string) =>
    text === undefined ? undefined : readTime(text, flag, readingZone(timing), now)
  const [from, to] = [read(flags.from, '--from'), read(flags.to, '--to')]
  return {
    from: from ?? reach(timing as Timing, 'previous', Math.min(now, to ?? now)),
    to: to ?? reach(timing as Timing, 'next', Math.max(now, from ?? now)) + 1,
  }
}

/** The plan time that is so many before or after. */
function reach(timing: Timing, direction: 'next' | 'previous', from: Instant): Instant {
  const back = direction === 'previous' ? -BACK_MS : BACK_MS
  if (timing.kind === 'after') return from + back
  const compiled = compileTiming(timing)
  let at = from
  for (let count = 0; count < AROUND; count++) {
    const found = compiled[direction](at)
    if (found === null) break
    at = found
  }
  // A range must hold something, also where the timing has nothing on that side.
  return at === from ? from + Math.sign(back) : at
}

function formatOccurrences(
  occurrences: readonly Occurrence[],
  { name, timing }: Schedule,
  now: Instant,
): string {
  if (occurrences.length === 0) return `No plan time of ${name} is in that range, as far as it is known.`
  const zone = zoneOf(timing)
  const isScoped = occurrences.some(({ scope }) => scope !== 'global')
  return formatColumns<Occurrence>(
    [
      { title: 'PLAN TIME', cell: ({ planTime }) => wallTime(planTime) },
      {
        title: zone?.toUpperCase() ?? '',
        cell: ({ planTime }) => wallElsewhere(planTime, zone) ?? '',
        isSpare: true,
      },
      { title: 'DISTANCE', cell: ({ planTime }) => distanceTo(planTime, now), isSpare: true },
      { title: 'SCOPE', cell: ({ scope }) => (isScoped ? scope : '') },
      { title: 'OUTCOME', cell: outcomeOf, isRigid: true },
      { title: 'RUN', cell: ({ runId }) => runId ?? '', isRigid: true },
    ],
    occurrences,
  )
}

/** `succeeded`, `skipped: missed`, `upcoming`. */
function outcomeOf({ disposition, runState, reason }: Occurrence): string {
  if (disposition === 'run') return paintedState(runState!)
  if (disposition === 'skipped') return colours.yellow(`skipped: ${reason}`)
  return reason === null ? 'upcoming' : colours.yellow(`to be skipped: ${reason}`)
}
