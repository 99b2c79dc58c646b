import type { Command } from 'commander'
import { EscapementError } from '../../../errors.js'
import type { Body } from '../../../http-client/index.js'
import { quote } from '../../../time/report.js'
import { withConnection } from '../../connection.js'
import { readJsonFile } from '../../json-flag.js'
import { examples, show } from '../../output.js'
import { withProgress } from '../../progress.js'
import { definitionIn, type Fields } from './definition-flags.js'
import { type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done } from './standing.js'

interface SyncFlags extends SharedFlags {
  prune?: boolean
  source?: string
}

type Declared = Body<'syncSchedules'>['schedules']

export function addSync(schedules: Command): void {
  const command = schedules
    .command('sync')
    .summary('put a declared set from a file')
    .description(
      'Puts all schedules that a file declares: an object of definitions by their names, or a list as "list --json" prints it. ' +
        'With --prune it deletes what an earlier sync of the same source created and the file no longer declares. It can be repeated.',
    )
    .argument('<file>', 'JSON, or - for standard input')
    .option('--prune', 'delete what this source no longer declares')
    .option('--source <name>', 'whose set it is (default: "code")')
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules sync schedules.json',
        'escapement schedules sync schedules.json --source billing --prune',
        'escapement schedules list --group acme --all --json | escapement schedules sync - --url https://other.example',
      ),
    )
    .action((file: string, flags: SyncFlags, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const { prune, source } = flags
        const declared = declaredIn(await readJsonFile(file, 'file')) as Declared
        const count = Object.keys(declared).length
        const report = await withProgress(`Putting ${count} schedules`, () =>
          api.sync({
            schedules: declared,
            ...(prune && { prune }),
            ...(source !== undefined && { source }),
          }),
        )
        show(flags, report, () => formatReport(count, report))
      }),
    )
}

/** Definitions by their names. */
export function declaredIn(content: unknown): Record<string, Fields> {
  const { schedules = content } = isObject(content) ? content : {}
  if (Array.isArray(schedules)) return byName(schedules)
  if (!isObject(schedules))
    throw mistaken(`${quote(schedules)} – must hold an object of definitions by their names`)
  return Object.fromEntries(
    Object.entries(schedules).map(([name, definition]) => {
      if (!isObject(definition))
        throw mistaken(`${name}: ${quote(definition)} – must be an object with a job and a timing`)
      return [name, definitionIn(definition)]
    }),
  )
}

function byName(list: readonly unknown[]): Record<string, Fields> {
  const entries = list.map((definition, index): [string, Fields] => {
    const { name } = isObject(definition) ? definition : {}
    if (typeof name === 'string') return [name, definitionIn(definition as Fields)]
    throw mistaken(`[${index}]: must be an object with a name`)
  })
  const declared = Object.fromEntries(entries)
  if (Object.keys(declared).length === entries.length) return declared
  const twice = entries.find(([name], index) => entries.findIndex(([other]) => other === name) < index)
  throw mistaken(`"${twice![0]}" is there twice`)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mistaken(message: string): EscapementError {
  return new EscapementError('option_invalid', { message: `file: ${message}` })
}

const MOST_NAMES = 10

function formatReport(count: number, { changed, deleted }: { changed: string[]; deleted: string[] }): string {
  const names = (what: string, list: readonly string[]) => {
    if (list.length === 0) return []
    const shown = list.slice(0, MOST_NAMES).join(', ')
    const more = list.length > MOST_NAMES ? ` and ${list.length - MOST_NAMES} more` : ''
    return [`${list.length} ${what} (${shown}${more})`]
  }
  const parts = [...names('changed', changed), ...names('deleted', deleted)]
  const schedules = count === 1 ? '1 schedule is' : `${count} schedules are`
  return done(`${schedules} as declared: ${parts.join(', ') || 'nothing had to be changed'}`)
}
