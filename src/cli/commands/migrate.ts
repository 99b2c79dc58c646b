import type { Command } from 'commander'
import { readOptions } from '../../options.js'
import { migrate } from '../../store/migrate.js'
import { openDatabase } from '../../store/open.js'
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
    .action(async (flags: DatabaseFlags & { dryRun?: boolean; json?: boolean }) => {
      const { database: source, schema } = readOptions({
        database: databaseOf(flags),
        ...(flags.schema === undefined ? {} : { schema: flags.schema }),
      })
      const database = await openDatabase(source)
      try {
        const report = await migrate(database, schema, { dryRun: flags.dryRun ?? false })
        if (flags.json) console.log(JSON.stringify(report, null, 2))
        else if (flags.dryRun) for (const { sql } of report.migrations) console.log(sql)
        else if (report.migrations.length === 0)
          console.log(`Schema "${schema}" is up to date (${report.to}).`)
        else for (const { name } of report.migrations) console.log(`Applied ${name} to schema "${schema}".`)
      } finally {
        await database.close()
      }
    })
}
