import type { Command } from 'commander'
import type { Finding } from '../../client/audit.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { formatTable } from '../table.js'

const MOST_SHOWN = 50

export function addAudit(program: Command): void {
  withConnectionFlags(program.command('audit'))
    .summary('prove that every occurrence has one answer')
    .description(
      'Computes the plan times of every schedule anew, version by version, and compares them with what was recorded.\n' +
        'Ends with status 1 if any is missing, double or unexpected. Differences where the plan times were computed with\n' +
        'other time zone data than this program has are shown as zone_data and are no mistakes.',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement audit
  escapement audit --json --database postgres://app@localhost/app`,
    )
    .action((flags: ConnectionFlags & { json?: boolean }, command: Command) =>
      withConnection(flags, command, async (client) => {
        const report = await client.audit()
        const mistakes = (['missing', 'double', 'unexpected'] as const).flatMap((kind) =>
          rowsOf(kind, report[kind]),
        )
        const explained = rowsOf('zone_data', report.zoneData)
        if (flags.json) console.log(JSON.stringify(report, null, 2))
        else {
          const counts = `${report.occurrences} occurrences of ${report.schedules} schedules`
          if (mistakes.length > 0) console.log(`${colours.red('✘')} ${counts}: ${mistakes.length} found.`)
          else if (explained.length > 0) console.log(`${colours.green('✔')} ${counts}: no mistake found.`)
          else console.log(`${colours.green('✔')} ${counts}: each has one answer.`)
          if (explained.length > 0) {
            console.log(
              `${colours.yellow('!')} ${explained.length} more differ where other time zone data computed the plan times: no mistakes, not proven either.`,
            )
          }
          printFindings([...mistakes, ...explained])
        }
        if (mistakes.length > 0) process.exitCode = 1
      }),
    )
}

function rowsOf(kind: string, findings: readonly Finding[]): string[][] {
  return findings.map(({ schedule, scope, planTime, detail }) => [kind, schedule, scope, planTime, detail])
}

function printFindings(findings: readonly string[][]): void {
  if (findings.length === 0) return
  const shown = findings.slice(0, MOST_SHOWN)
  console.log(`\n${formatTable(['FINDING', 'SCHEDULE', 'SCOPE', 'PLAN TIME', 'DETAIL'], shown)}`)
  if (findings.length > MOST_SHOWN) {
    console.log(`… and ${findings.length - MOST_SHOWN} more (--json has all)`)
  }
}
