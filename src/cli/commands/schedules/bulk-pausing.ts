import { type Command, Option } from 'commander'
import { EscapementError } from '../../../errors.js'
import {
  type BulkVerb,
  changeWhole,
  countChanges,
  type ScheduleFilter,
} from '../../../http-client/bulk-pausing.js'
import type { HttpClient } from '../../../http-client/index.js'
import { confirm, withYesFlag, type YesFlag } from '../../confirm.js'
import { show } from '../../output.js'
import { withProgress } from '../../progress.js'
import { naming } from './flag-names.js'
import type { SharedFlags } from './shared-flags.js'
import { done } from './standing.js'

export interface BulkFlags extends SharedFlags, YesFlag {
  all?: boolean
  state?: ScheduleFilter['state']
  group?: string
  job?: string
  search?: string
}

/** For the argument of a command on one schedule, or on all that the flags find. */
export const NAME_OR_NONE = ['[name]', 'name of the schedule; or give a filter'] as const

export function withBulkFlags(command: Command): Command {
  return withYesFlag(command)
    .option('--all', 'all schedules')
    .addOption(
      new Option('--state <state>', 'all that are in this state').choices(['active', 'paused', 'broken']),
    )
    .option('--group <name>', 'all of this group')
    .option('--job <name>', 'all of this job')
    .option('--search <words>', 'all with these words, or beginnings of words')
}

/** One schedule, or all that a filter finds: one of the two must be given. */
export function targetOf(
  name: string | undefined,
  flags: BulkFlags,
): { name: string } | { filter: ScheduleFilter } {
  const { all = false, state, group, job, search } = flags
  const filter = {
    ...(state !== undefined && { state }),
    ...(group !== undefined && { group }),
    ...(job !== undefined && { job }),
    ...(search !== undefined && { q: search }),
  }
  const given = [name !== undefined, all, Object.keys(filter).length > 0].filter(Boolean).length
  if (given !== 1) {
    throw new EscapementError('option_invalid', {
      message:
        'Give the name of a schedule, or --group, --job, --search or --state for all like that, or --all.',
    })
  }
  return name === undefined ? { filter } : { name }
}

/** What the server says of the filter, said of the flags that gave it. */
const FILTER_FLAGS = {
  q: '--search',
  'filter.q': '--search',
  'filter.group': '--group',
  'filter.job': '--job',
}

const WORDS = {
  pause: { label: 'Pausing', infinitive: 'Pause', participle: 'paused' },
  resume: { label: 'Resuming', infinitive: 'Resume', participle: 'resumed' },
}

/** Counts, asks, and then does it, with how far it has come. */
export async function changeAll(
  client: HttpClient,
  act: BulkVerb,
  filter: ScheduleFilter,
  flags: BulkFlags,
): Promise<void> {
  const { label, infinitive, participle } = WORDS[act.verb]
  const total = await naming(FILTER_FLAGS, () => countChanges(client, act, filter))
  const schedules = total === 1 ? '1 schedule' : `${total.toLocaleString('en')} schedules`
  if (total > 0) await confirm(`${infinitive} ${schedules}${describe(filter)}?`, flags)
  const changed =
    total === 0
      ? 0
      : await withProgress(label, ({ update }) =>
          changeWhole(client, act, filter, (count) => update(count, Math.max(count, total))),
        )
  show(flags, { changed }, () => {
    if (changed === 0) return `Nothing was changed: no schedule${describe(filter)} could be ${participle}.`
    const count = changed === 1 ? '1 schedule was' : `${changed.toLocaleString('en')} schedules were`
    return done(`${count} ${participle}`)
  })
}

function describe({ q, state, group, job }: ScheduleFilter): string {
  return [
    state && `in the state "${state}"`,
    group && `of the group "${group}"`,
    job && `of the job "${job}"`,
    q && `with the words "${q}"`,
  ]
    .filter(Boolean)
    .map((part) => ` ${part}`)
    .join('')
}
