import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { ImportReport } from '../../client/importing.js'
import { EscapementError } from '../../errors.js'
import { colours } from '../colours.js'
import { type DatabaseFlags, databaseOf, withDatabaseFlags } from '../connection.js'
import { readExportFile, STANDARD_STREAM } from '../export-file.js'
import { localTime } from '../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { createProgress, type Progress } from '../progress.js'

export function addImport(program: Command): void {
  withJsonFlag(withDatabaseFlags(program.command('import')))
    .summary('store an export, and go on from it')
    .description(
      'Stores what "escapement export" wrote in an empty database or directory, which is created or migrated if needed; or where\n' +
        'it was moved away from, as what it has become since. It is all stored or nothing of it. The same export again\n' +
        'changes nothing. Stop processes that work there first.',
    )
    .argument('<file>', 'what "escapement export" wrote, compressed or not; "-" is standard input')
    .addHelpText(
      'after',
      examples(
        'escapement import everything.ndjson.gz --database postgres://app@localhost/app',
        'escapement import everything.ndjson.gz --directory ./.escapement',
        'escapement export --move -o - | escapement import - --database postgres://app@localhost/app',
      ),
    )
    .action(async (file: string, flags: DatabaseFlags & JsonFlag, command: Command) => {
      if (file !== STANDARD_STREAM && !existsSync(file)) {
        throw new EscapementError('option_invalid', { message: `There is no file ${file}.` })
      }
      const { createEscapement } = await import('../../escapement.js')
      const escapement = await createEscapement({
        database: databaseOf(flags, command),
        ...(flags.schema === undefined ? {} : { schema: flags.schema }),
      })
      const shown = showProgress()
      try {
        const report = await escapement.import(readExportFile(file), { onProgress: shown.update })
        shown.done()
        show(flags, report, () => describe(report, flags, command))
      } finally {
        shown.done()
        await escapement.close()
      }
    })
}

/** One line for each table, while it is stored. */
function showProgress() {
  let current: { table: string; progress: Progress } | undefined
  const done = () => {
    current?.progress.done()
    current = undefined
  }
  return {
    done,
    update({ table, done: stored, total }: { table: string; done: number; total: number }) {
      if (current?.table !== table) {
        done()
        current = { table, progress: createProgress(`importing ${table}`) }
      }
      current?.progress.update(stored, total)
    },
  }
}

function describe(
  { isNew, exportId, takenAt, rows }: ImportReport,
  flags: DatabaseFlags,
  command: Command,
): string {
  if (!isNew) return `This export (${exportId}) was imported before: nothing was changed.`
  return (
    `${colours.green('✔')} Imported ${rows.schedules} schedules and ${rows.runs_asked} runs, as they were at ${localTime(takenAt)} (${exportId}).\n` +
    `Start it with: escapement up ${whereOf(flags, command)}`.trimEnd()
  )
}

/** The same place again. A URL may hold a password, and is not repeated. */
function whereOf(flags: DatabaseFlags, command: Command): string {
  const schema = flags.schema === undefined ? '' : ` --schema ${flags.schema}`
  if (typeof databaseOf(flags, command) === 'string') {
    return flags.database === undefined ? schema.trim() : `--database <the same>${schema}`
  }
  const isNamed = command.getOptionValueSource('directory') === 'cli'
  return `${isNamed ? `--directory ${flags.directory}` : ''}${schema}`.trim()
}
