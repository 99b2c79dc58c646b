import { type Command, Option } from 'commander'
import { describe, type Timing } from '../../../time/index.js'
import { colours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { distanceTo, wallTime } from '../../moment.js'
import { examples, show } from '../../output.js'
import { collect, type LimitFlags, tellIfMore, withLimitFlags } from '../../paged.js'
import { formatColumns } from '../../table.js'
import { type SharedFlags, withSharedFlags } from './shared-flags.js'
import { noteOf, paintedState, type Schedule } from './standing.js'

const STATES = ['active', 'paused', 'broken', 'finished'] as const

interface ListFlags extends SharedFlags, LimitFlags {
  state?: (typeof STATES)[number]
  group?: string
  job?: string
  search?: string
}

export function addList(schedules: Command): void {
  const command = schedules
    .command('list')
    .summary('list schedules')
    .description('Lists schedules by name, with their state and their next plan time in local time.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--group <name>', 'only those of this group')
    .option('--job <name>', 'only those of this job')
    .option(
      '--search <words>',
      'only those with these words, or beginnings of words, in name, job, group or description',
    )
  withSharedFlags(withLimitFlags(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules list',
        'escapement schedules list --state broken',
        'escapement schedules list --group acme --search "daily report" --all --json',
      ),
    )
    .action((flags: ListFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { state, group, job, search } = flags
        const filter = {
          ...(state && { state }),
          ...(group !== undefined && { group }),
          ...(job !== undefined && { job }),
          ...(search !== undefined && { q: search }),
        }
        const { items, hasMore } = await collect(flags, async (page) => {
          const { schedules: found, nextPageToken } = await api.list({ ...filter, ...page })
          return { items: found, nextPageToken }
        })
        show(flags, items, () => formatList(items, Object.keys(filter).length > 0))
        tellIfMore(hasMore, items.length)
      }),
    )
}

function formatList(schedules: readonly Schedule[], isFiltered: boolean): string {
  if (schedules.length === 0) {
    return isFiltered
      ? 'No schedule is like that.'
      : 'There are no schedules yet. Make one with: escapement schedules put <name> --job <job> --every "1 hour"'
  }
  const table = formatColumns<Schedule>(
    [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'STATE', cell: ({ state }) => paintedState(state), isRigid: true },
      { title: 'NEXT', cell: ({ nextAt }) => (nextAt === null ? '–' : wallTime(nextAt)), isRigid: true },
      { title: 'DISTANCE', cell: ({ nextAt }) => (nextAt === null ? '' : distanceTo(nextAt)), isSpare: true },
      { title: 'TIMING', cell: ({ timing }) => describe(timing as Timing) },
      { title: 'JOB', cell: ({ job }) => job, isSpare: true },
    ],
    schedules,
  )
  const broken = schedules.filter(({ state }) => state === 'broken')
  const notes = broken.map((one) => `${colours.red('✘')} ${colours.bold(one.name)} is broken${noteOf(one)}`)
  return [table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}
