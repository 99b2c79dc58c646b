import type { Command } from 'commander'
import { hostNow } from '../../../clock.js'
import { EscapementError } from '../../../errors.js'
import type { Body, HttpClient } from '../../../http-client/index.js'
import { parseTiming } from '../../../time/index.js'
import { colours, errorColours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { moment } from '../../moment.js'
import { examples, show } from '../../output.js'
import { parseCount } from '../../paged.js'
import {
  type DefinitionFlags,
  definitionIn,
  type Fields,
  fieldsOf,
  OPTIONAL_FIELDS,
  withDefinitionFlags,
} from './definition-flags.js'
import { formatDiff } from './diff-lines.js'
import { findSchedule } from './finding.js'
import { namingFlags } from './flag-names.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, standingOf, zoneOf } from './standing.js'

interface PutFlags extends SharedFlags, DefinitionFlags {
  create?: boolean
  ifVersion?: number
  dryRun?: boolean
}

type Definition = Body<'putSchedule'>

export function addPut(schedules: Command): void {
  const command = schedules
    .command('put')
    .summary('create a schedule, or replace what it holds')
    .description(
      'Creates a schedule, or replaces all that it holds: what is not given takes its default. Putting the same again changes ' +
        'nothing, and a paused one stays paused. To change single fields, use "patch".',
    )
    .argument(...NAME)
  withDefinitionFlags(command)
    .option('--paused', 'create it paused; says nothing of one that exists')
    .option('--create', 'only create: refuse if there is one of that name')
    .option('--if-version <number>', 'refuse if it is at another version by now', parseCount)
    .option('--dry-run', 'show what would change, and change nothing')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        `escapement schedules put report:acme --job send-report --input '{"customer":"acme"}' --cron "0 9 * * MON-FRI" --zone America/New_York`,
        'escapement schedules put cleanup --job cleanup --every "6 hours" --overlap skip --breaker 5 --dry-run',
        'escapement schedules put report:beta --file report.json --group beta --create',
      ),
    )
    .action((name: string, flags: PutFlags, command: Command) =>
      withConnection(flags, command, (client) =>
        namingFlags(flags, async () => {
          const definition = definitionIn(await fieldsOf(flags)) as Definition
          if (flags.dryRun) return dryRun(client, name, definition, flags)
          const schedule = await client.schedules.put(name, definition, expected(flags))
          show(flags, schedule, () => done(`${standingOf(schedule)}, version ${schedule.version}`))
          if (flags.paused && schedule.state === 'active') console.error(notPaused(name))
        }),
      ),
    )
}

function expected({ create, ifVersion }: PutFlags): { expectedVersion?: number } {
  if (create && ifVersion !== undefined) {
    throw new EscapementError('option_invalid', {
      message: 'Give one of --create and --if-version: what is created has no version yet.',
    })
  }
  if (create) return { expectedVersion: 0 }
  return ifVersion === undefined ? {} : { expectedVersion: ifVersion }
}

async function dryRun(
  client: HttpClient,
  name: string,
  definition: Definition,
  flags: PutFlags,
): Promise<void> {
  const current = await findSchedule(client, name)
  if (current === undefined) return showNew(client, name, definition, flags)
  if (flags.create) {
    throw new EscapementError('schedule_exists', { message: `name: there is a schedule "${name}" already` })
  }
  const diff = await client.schedules.diff(name, { fields: replacement(definition) })
  show(flags, diff, () => formatDiff(diff, { zone: zoneOf(parseTiming(definition.timing)), now: hostNow() }))
}

/** A put as an edit: what is not given is taken away. */
function replacement({ paused: _, ...definition }: Definition): Body<'patchSchedule'> {
  const none: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, null]))
  return { ...none, ...definition }
}

async function showNew(
  client: HttpClient,
  name: string,
  definition: Definition,
  flags: PutFlags,
): Promise<void> {
  const { timing, startAt, endAt, limit } = definition
  const preview = await client.preview({
    timing,
    ...(startAt !== undefined && { startAt }),
    ...(endAt !== undefined && { endAt }),
    ...(limit !== undefined && { limit }),
  })
  show(flags, preview, () => {
    const times = preview.occurrences.map(({ planTime, note }) =>
      colours.green(`+ ${moment(planTime, { zone: zoneOf(parseTiming(timing)) })}${note ? `  ${note}` : ''}`),
    )
    return [`Would create ${colours.bold(name)}. ${preview.description}.`, ...times].join('\n')
  })
}

function notPaused(name: string): string {
  return `${errorColours.yellow('warning:')} It existed already, and --paused does not pause such a one. Do it with: escapement schedules pause ${name}`
}
