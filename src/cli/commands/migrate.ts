import fs from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import type { DatabaseOption } from '../../options.js'
import { type DatabaseFlags, databaseOf, withDatabaseFlags } from '../connection.js'

export function addMigrate(program: Command): void {
  withDatabaseFlags(program.command('migrate'))
    .summary('bring the schema up to date')
    .description(
      'Applies the migrations that the schema lacks, all in one transaction. Any number of processes may run it at\n' +
        'the same time: they are applied once.',
    )
    .option('--dry-run', 'print what would be run, as SQL, and change nothing')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement migrate --database postgres://app@localhost/app
  escapement migrate --dry-run > review.sql`,
    )
    .action(async (flags: DatabaseFlags & { dryRun?: boolean; json?: boolean }, command: Command) => {
      const [{ readOptions }, { migrate, statementsOf }, { openDatabase }] = await Promise.all([
        import('../../options.js'),
        import('../../store/migrate.js'),
        import('../../store/open.js'),
      ])
      const { database: source, schema } = readOptions({
        database: databaseOf(flags, command),
        ...(flags.schema === undefined ? {} : { schema: flags.schema }),
      })
      const { inner, outer } = await openDatabase(flags.dryRun ? withoutCreating(source) : source)
      try {
        const report = await migrate(outer, schema, { dryRun: flags.dryRun ?? false })
        if (flags.json) console.log(JSON.stringify(report, null, 2))
        else if (report.migrations.length === 0)
          console.log(`Schema "${schema}" is up to date (${report.to}).`)
        else if (flags.dryRun) console.log(`begin;\n\n${statementsOf(report)}\n\ncommit;`)
        else for (const { name } of report.migrations) console.log(`Applied ${name} to schema "${schema}".`)
      } finally {
        await inner.close()
        await outer.close()
      }
    })
}

/** A folder that holds no database yet would be given one by opening it: an empty one in memory says the same. */
function withoutCreating(source: DatabaseOption): DatabaseOption {
  const isNew =
    typeof source === 'object' && 'directory' in source && !fs.existsSync(path.join(source.directory, 'data'))
  return isNew ? 'memory:' : source
}
