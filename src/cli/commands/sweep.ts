import type { Command } from 'commander'
import { joinReports, type SweepReport } from '../../transitions/change.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { harmless } from '../harmless.js'
import { formatTable } from '../table.js'

interface SweepFlags extends ConnectionFlags {
  config?: string
  quarantined?: boolean
  json?: boolean
}

export function addSweep(program: Command): void {
  withConnectionFlags(program.command('sweep'))
    .summary('change all rows that are due')
    .description(
      'Applies the declared transitions to all rows whose time has come, batch after batch. A server sweeps what it has\n' +
        'declared; without one they come from escapement.config.ts. Ends with status 1 if a row or a table could not be changed.',
    )
    .option('--config <file>', 'configuration to load (default: escapement.config.ts, if there is one)')
    .option('--quarantined', 'try rows again that were set aside')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement sweep
  escapement sweep --quarantined
  escapement sweep --json --database postgres://app@localhost/app`,
    )
    .action((flags: SweepFlags, command: Command) =>
      withConnection(
        flags,
        command,
        async (client) => {
          const reports = [await client.transitions.sweep({ quarantined: flags.quarantined ?? false })]
          while (reports.at(-1)!.truncated) reports.push(await client.transitions.sweep())
          const report = joinReports(reports)
          console.log(flags.json ? JSON.stringify(report, null, 2) : harmless(formatReport(report)))
          if (report.errors.length > 0) process.exitCode = 1
        },
        async () => (await import('../config-file.js')).loadConfig(flags.config),
      ),
    )
}

function formatReport({ tables, errors }: SweepReport): string {
  if (tables.length === 0)
    return 'No transitions are declared. Declare them in escapement.config.ts, or name the --url of a server that has some.'
  const rows = tables.map(({ table, updated, deleted, skipped, quarantined }) =>
    [table, updated, deleted, skipped, quarantined].map(String),
  )
  const lines = errors.map(({ table, key, message }) => {
    const row = key ? ` ${Object.values(key).join(', ')}` : ''
    return `${colours.red('✘')} ${table}${row}: ${message}`
  })
  return [formatTable(['TABLE', 'UPDATED', 'DELETED', 'SKIPPED', 'QUARANTINED'], rows), ...lines].join('\n')
}
