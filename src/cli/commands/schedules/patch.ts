import type { Command } from 'commander'
import { hostNow } from '../../../clock.js'
import { EscapementError } from '../../../errors.js'
import type { Body, HttpClient } from '../../../http-client/index.js'
import { parseTiming } from '../../../time/index.js'
import { withConnection } from '../../connection.js'
import { examples, show } from '../../output.js'
import { parseCount } from '../../paged.js'
import { type DefinitionFlags, fieldsOf, withClearFlag, withDefinitionFlags } from './definition-flags.js'
import { formatDiff } from './diff-lines.js'
import { namingFlags } from './flag-names.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, standingOf, zoneOf } from './standing.js'

interface EditFlags extends SharedFlags, DefinitionFlags {
  clear?: string[]
}

interface PatchFlags extends EditFlags {
  ifVersion?: number
  dryRun?: boolean
}

interface DiffFlags extends EditFlags {
  count: number
}

type Patch = Body<'patchSchedule'>

export function addPatch(schedules: Command): void {
  const command = schedules
    .command('patch')
    .summary('change single fields of a schedule')
    .description(
      'Changes the fields that are given, and leaves the others as they are. Runs that exist are left alone; the next plan ' +
        'times follow the new fields.',
    )
    .argument(...NAME)
  withClearFlag(withDefinitionFlags(command))
    .option('--if-version <number>', 'refuse if it is at another version by now', parseCount)
    .option('--dry-run', 'show what would change, and change nothing')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules patch report:acme --cron "0 8 * * *"',
        'escapement schedules patch report:acme --zone Europe/Paris --dry-run',
        'escapement schedules patch report:acme --clear group --clear breaker --if-version 3',
      ),
    )
    .action((name: string, flags: PatchFlags, command: Command) =>
      withConnection(flags, command, (client) =>
        namingFlags(flags, async () => {
          if (flags.dryRun) return showDiff(client, name, { ...flags, count: DEFAULT_COUNT })
          const { fields, seen } = await editOf(client, name, flags)
          const expectedVersion = flags.ifVersion ?? seen
          const schedule = await client.schedules.patch(
            name,
            fields,
            expectedVersion === undefined ? {} : { expectedVersion },
          )
          show(flags, schedule, () => done(`${standingOf(schedule)}, version ${schedule.version}`))
        }),
      ),
    )
}

const DEFAULT_COUNT = 10

export function addDiff(schedules: Command): void {
  const command = schedules
    .command('diff')
    .summary('show what an edit would do')
    .description(
      'Shows which of the next plan times an edit would remove, move or add, and which fields would differ. It takes the flags ' +
        'of "patch", and changes nothing.',
    )
    .argument(...NAME)
  withClearFlag(withDefinitionFlags(command)).option(
    '--count <number>',
    'how many of the next plan times to look at',
    parseCount,
    DEFAULT_COUNT,
  )
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules diff report:acme --cron "0 8 * * *"',
        'escapement schedules diff report:acme --zone Europe/Paris --count 30',
      ),
    )
    .action((name: string, flags: DiffFlags, command: Command) =>
      withConnection(flags, command, (client) => namingFlags(flags, () => showDiff(client, name, flags))),
    )
}

async function showDiff(client: HttpClient, name: string, flags: DiffFlags): Promise<void> {
  const { fields } = await editOf(client, name, flags)
  const diff = await client.schedules.diff(name, { fields, count: flags.count })
  if (flags.json) return show(flags, diff, String)
  const timing = fields.timing ? parseTiming(fields.timing) : (await client.schedules.get(name)).timing
  show(flags, diff, () => formatDiff(diff, { zone: zoneOf(timing), now: hostNow() }))
}

/** The fields to change; `seen` is the version of what a part of a field was completed by. */
async function editOf(
  { schedules }: HttpClient,
  name: string,
  flags: EditFlags,
): Promise<{ fields: Patch; seen: number | undefined }> {
  let seen: number | undefined
  const given = await fieldsOf(flags, async () => {
    const schedule = await schedules.get(name)
    seen = schedule.version
    return schedule
  })
  const cleared = Object.fromEntries((flags.clear ?? []).map((field) => [field, null]))
  const fields = { ...given, ...cleared } as Patch
  if (Object.keys(fields).length > 0) return { fields, seen }
  throw new EscapementError('option_invalid', {
    message: 'Nothing to change: give at least one field, such as --cron or --group, or --clear one.',
  })
}
