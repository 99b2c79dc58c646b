import type { Command } from 'commander'
import type { Result } from '../../../http-client/index.js'
import { changedFields } from '../../../schedules/diff.js'
import { colours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { distanceTo, wallRange, wallTime } from '../../moment.js'
import { examples, show } from '../../output.js'
import { collect, type LimitFlags, tellIfMore, withLimitFlags } from '../../paged.js'
import { paintedState } from '../../run-words.js'
import { formatColumns } from '../../table.js'
import { OWN_TIME_HELP, readTime } from '../../time-flag.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { readingZone } from './standing.js'

interface HistoryFlags extends SharedFlags, LimitFlags {
  before?: string
}

type Entry = Result<'listHistory'>['entries'][number]
type Change = Result<'listChanges'>['changes'][number]

export function addHistory(schedules: Command): void {
  const command = schedules
    .command('history')
    .summary('show its runs and skips, newest first')
    .description(
      'Shows what became of a schedule, newest first: its runs, those asked for by hand too, and ranges of plan times that were ' +
        'skipped. "occurrences" shows plan time by plan time.',
    )
    .argument(...NAME)
    .option('--before <time>', `only what was before: ${OWN_TIME_HELP}`)
  withSharedFlags(withLimitFlags(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules history report:acme --limit 20',
        'escapement schedules history report:acme --before "7 days ago"',
        'escapement schedules history report:acme --all --json',
      ),
    )
    .action((name: string, flags: HistoryFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { before } = flags
        const from =
          before === undefined ? {} : await beforeOf(before, async () => (await api.get(name)).timing)
        const { items, hasMore } = await collect(flags, async (page) => {
          const { entries, nextPageToken } = await api.history(name, { ...from, ...page })
          return { items: entries, nextPageToken }
        })
        show(flags, items, () => formatHistory(name, items))
        tellIfMore(hasMore, items.length)
      }),
    )
}

async function beforeOf(
  text: string,
  timing: () => Promise<Parameters<typeof readingZone>[0]>,
): Promise<{ before: string }> {
  const instant = readTime(text, '--before', readingZone(await timing()))
  return { before: new Date(instant).toISOString() }
}

function formatHistory(name: string, entries: readonly Entry[]): string {
  if (entries.length === 0) return `Nothing has become of ${name} yet.`
  const isScoped = entries.some(({ scope }) => scope !== 'global')
  return formatColumns<Entry>(
    [
      { title: 'TIME', cell: timeOf, isRigid: true },
      { title: 'DISTANCE', cell: ({ at }) => distanceTo(at), isSpare: true },
      { title: 'SCOPE', cell: ({ scope }) => (isScoped ? scope : '') },
      {
        title: 'OUTCOME',
        cell: ({ run, reason }) =>
          run === null ? colours.yellow(`skipped: ${reason}`) : paintedState(run.state),
        isRigid: true,
      },
      { title: 'TRIGGER', cell: ({ run }) => run?.trigger ?? '', isSpare: true },
      { title: 'RUN', cell: ({ run }) => run?.id ?? '', isRigid: true },
    ],
    entries,
  )
}

/** The plan time, or the first and the last of a range. */
function timeOf({ at, firstPlanTime, lastPlanTime }: Entry): string {
  if (firstPlanTime === null || firstPlanTime === lastPlanTime) return wallTime(at)
  return wallRange(firstPlanTime, lastPlanTime!)
}

export function addChanges(schedules: Command): void {
  const command = schedules
    .command('changes')
    .summary('show who changed it, newest first')
    .description(
      'Shows the change log of a schedule, newest first: who did what, and which fields it changed.',
    )
    .argument(...NAME)
  withSharedFlags(withLimitFlags(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules changes report:acme',
        'escapement schedules changes report:acme --limit 1 --json',
      ),
    )
    .action((name: string, flags: SharedFlags & LimitFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { items, hasMore } = await collect(flags, async (page) => {
          const { changes, nextPageToken } = await api.changes(name, page)
          return { items: changes, nextPageToken }
        })
        show(flags, items, () => formatChanges(items))
        tellIfMore(hasMore, items.length)
      }),
    )
}

/** In the words of an action, such as `skip 2026-12-01T09:00:00.000Z`. */
const INSTANT = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g

function formatChanges(changes: readonly Change[]): string {
  return formatColumns<Change>(
    [
      { title: 'TIME', cell: ({ changedAt }) => wallTime(changedAt) },
      { title: 'DISTANCE', cell: ({ changedAt }) => distanceTo(changedAt), isSpare: true },
      { title: 'VERSION', cell: ({ version }) => String(version) },
      { title: 'ACTION', cell: ({ action }) => action.replace(INSTANT, (instant) => wallTime(instant)) },
      { title: 'BY', cell: ({ actor }) => actor ?? '–' },
      { title: 'CHANGED', cell: changedBy },
    ],
    changes,
  )
}

/** The names of the fields that differ; policies by their own. */
function changedBy({ before, after }: Change): string {
  if (!isObject(before) || !isObject(after)) return ''
  return changedFields(flat(before), flat(after)).join(', ')
}

function flat({ policies, ...fields }: Record<string, unknown>): Record<string, unknown> {
  return { ...fields, ...(isObject(policies) && policies) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
