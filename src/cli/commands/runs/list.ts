import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Query, Result } from '../../../http-client/index.js'
import { didYouMean } from '../../../time/did-you-mean.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../../connection.js'
import { localTime } from '../../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../../output.js'
import { collect, type LimitFlags, tellIfMore, withLimitFlags } from '../../paged.js'
import { paintedState, type RunState, took } from '../../run-words.js'
import { formatColumns } from '../../table.js'
import { parseTime, TIME_FLAG_HELP } from '../../time-flag.js'

type Filter = Pick<Query<'listRuns'>, 'state' | 'job' | 'queue' | 'schedule' | 'trigger' | 'from' | 'to'>
type ListFlags = ConnectionFlags & JsonFlag & LimitFlags & Filter

const STATES = ['pending', 'running', 'retrying', 'succeeded', 'failed', 'cancelled', 'skipped'] as const

export function addList(runs: Command): void {
  withLimitFlags(withJsonFlag(withConnectionFlags(runs.command('list'))))
    .summary('list runs, newest first')
    .description('Lists runs by plan time, newest first; those without one by when they were asked for.')
    .option('--state <states>', `one or several, with commas: ${STATES.join(', ')}`, parseStates)
    .option('--job <name>', 'of this job')
    .option('--queue <name>', 'in this queue')
    .option('--schedule <name>', 'of this schedule')
    .addOption(
      new Option('--trigger <trigger>', 'what asked for them').choices([
        'scheduled',
        'manual',
        'backfill',
        'direct',
      ]),
    )
    .option('--from <time>', TIME_FLAG_HELP, parseTime)
    .option('--to <time>', 'before this', parseTime)
    .addHelpText(
      'after',
      examples(
        'escapement runs list',
        'escapement runs list --state failed --from "1 day ago"',
        'escapement runs list --schedule report:acme --limit 10 --json',
      ),
    )
    .action((flags: ListFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const filter = filterOf(flags)
        const { items, hasMore } = await collect(flags, async (page) => {
          const found = await client.runs.list({ ...filter, ...page })
          return { items: found.runs, nextPageToken: found.nextPageToken }
        })
        show(flags, items, () => (items.length === 0 ? nothing(filter) : formatRuns(items)))
        tellIfMore(hasMore, items.length)
      }),
    )
}

function filterOf({ state, job, queue, schedule, trigger, from, to }: ListFlags): Filter {
  return Object.fromEntries(
    Object.entries({ state, job, queue, schedule, trigger, from, to }).filter(
      ([, value]) => value !== undefined,
    ),
  )
}

function nothing(filter: Filter): string {
  return Object.keys(filter).length === 0
    ? 'There are no runs yet.'
    : 'There are no such runs. Without a filter all are listed: escapement runs list'
}

type Run = Result<'listRuns'>['runs'][number]

function formatRuns(runs: readonly Run[]): string {
  return formatColumns<Run>(
    [
      { title: 'ID', cell: ({ id }) => id, isRigid: true },
      { title: 'STATE', cell: ({ state }) => paintedState(state), isRigid: true },
      { title: 'JOB', cell: ({ job }) => job },
      { title: 'TRIGGER', cell: ({ trigger }) => trigger, isSpare: true },
      { title: 'SCHEDULE', cell: ({ schedule }) => schedule ?? '', isSpare: true },
      {
        title: 'PLANNED',
        cell: ({ planTime, createdAt }) => localTime(planTime ?? createdAt),
        isRigid: true,
      },
      { title: 'ATTEMPT', cell: ({ attempt }) => (attempt > 1 ? String(attempt) : ''), isSpare: true },
      {
        title: 'TOOK',
        cell: ({ startedAt, finishedAt }) => took(startedAt, finishedAt) ?? '',
        isSpare: true,
      },
      { title: 'NOTE', cell: noteOf },
    ],
    runs,
  )
}

function noteOf({ error, progress, state, eligibleAt }: Run): string {
  if (state === 'retrying') return `${error?.message ?? ''} (again at ${localTime(eligibleAt)})`.trim()
  if (error) return error.message.split('\n')[0]!
  if (progress && state === 'running')
    return `${Math.round(progress.fraction * 100)} % ${progress.note ?? ''}`.trim()
  return ''
}

function parseStates(text: string): RunState[] {
  return text.split(',').map((word) => {
    const state = word.trim() as RunState
    if (STATES.includes(state)) return state
    throw new InvalidArgumentError(
      `"${state}" is no state${didYouMean(state, STATES)}; there are ${STATES.join(', ')}.`,
    )
  })
}
