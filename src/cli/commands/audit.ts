import type { Command } from 'commander'
import pc from 'picocolors'
import { type ConnectionFlags, connect, withConnectionFlags } from '../connection.js'
import { formatTable } from '../table.js'

const MOST_SHOWN = 50

export function addAudit(program: Command): void {
  withConnectionFlags(program.command('audit'))
    .summary('prove that every occurrence has one answer')
    .description(
      'Computes the plan times of every schedule anew, version by version, and compares them with what was recorded.\n' +
        'Ends with status 1 if any is missing, double or unexpected.',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement audit
  escapement audit --json --database postgres://app@localhost/app`,
    )
    .action(async (flags: ConnectionFlags & { json?: boolean }, command: Command) => {
      const connection = await connect(flags, command)
      try {
        const report = await connection.audit()
        const findings = (['missing', 'double', 'unexpected'] as const).flatMap((kind) =>
          report[kind].map(({ schedule, scope, planTime, detail }) => [
            kind,
            schedule,
            scope,
            planTime,
            detail,
          ]),
        )
        if (flags.json) console.log(JSON.stringify(report, null, 2))
        else {
          const counts = `${report.occurrences} occurrences of ${report.schedules} schedules`
          if (findings.length === 0) console.log(`${pc.green('✔')} ${counts}: each has one answer.`)
          else {
            console.log(`${pc.red('✘')} ${counts}: ${findings.length} found.\n`)
            console.log(
              formatTable(
                ['FINDING', 'SCHEDULE', 'SCOPE', 'PLAN TIME', 'DETAIL'],
                findings.slice(0, MOST_SHOWN),
              ),
            )
            if (findings.length > MOST_SHOWN)
              console.log(`… and ${findings.length - MOST_SHOWN} more (--json has all)`)
          }
        }
        if (findings.length > 0) process.exitCode = 1
      } finally {
        await connection.close()
      }
    })
}
