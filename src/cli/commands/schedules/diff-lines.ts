import type { Result } from '../../../http-client/index.js'
import type { Instant } from '../../../time/index.js'
import { colours } from '../../colours.js'
import { moment, wallTime } from '../../moment.js'

type Diff = Result<'diffSchedule'>

/** What an edit would do: which fields differ, and one line for each of the next plan times that goes, moves or comes. */
export function formatDiff(
  { fields, removed, moved, added, kept }: Diff,
  { zone, now }: { zone: string | undefined; now: Instant },
): string {
  if (fields.length === 0) return 'Nothing would change.'
  const at = (instant: string) => moment(instant, { zone, now })
  const lines = [
    ...removed.map((time) => [time, colours.red(`- ${at(time)}`)] as const),
    ...moved.map(({ from, to }) => [from, colours.yellow(`~ ${wallTime(from)} → ${at(to)}`)] as const),
    ...added.map((time) => [time, colours.green(`+ ${at(time)}`)] as const),
  ].sort(([a], [b]) => (a < b ? -1 : 1))
  const count = [
    [removed.length, 'removed'],
    [moved.length, 'moved'],
    [added.length, 'added'],
    [kept.length, 'kept'],
  ] as const
  const words = count.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`)
  const summary =
    lines.length === 0
      ? 'Its next plan times stay as they are.'
      : `Of its next plan times: ${words.join(', ')}.`
  return [`Would change: ${fields.join(', ')}.`, ...lines.map(([, line]) => line), summary].join('\n')
}
