import type { Command } from 'commander'
import { auditWhole, MISTAKES, type WholeAudit } from '../../http-client/whole-audit.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { EXIT_STATUS } from '../exit-status.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { withProgress } from '../progress.js'
import { formatTable } from '../table.js'
import { parseTime, TIME_FLAG_HELP } from '../time-flag.js'

interface AuditFlags extends ConnectionFlags, JsonFlag {
  from?: string
  to?: string
}

type Finding = WholeAudit['missing'][number]

const MOST_SHOWN = 50

export function addAudit(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('audit')))
    .summary('prove that every occurrence has one answer')
    .description(
      'Computes the plan times of every schedule anew, version by version, and compares them with what was recorded.\n' +
        'Ends with status 1 if any is missing, double or unexpected. Differences where the plan times were computed with\n' +
        'other time zone data than this program has are shown as zone_data and are no mistakes.',
    )
    .option('--from <time>', `plan times from here on: ${TIME_FLAG_HELP}`, parseTime)
    .option('--to <time>', 'plan times before this', parseTime)
    .addHelpText(
      'after',
      examples(
        'escapement audit',
        'escapement audit --from "1 day ago"',
        'escapement audit --json --database postgres://app@localhost/app',
      ),
    )
    .action((flags: AuditFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { from, to } = flags
        const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
        const report = await withProgress('auditing schedules', ({ update }) =>
          auditWhole(client, range, update),
        )
        show(flags, report, () => describeReport(report))
        if (MISTAKES.some((kind) => report[kind].length > 0)) process.exitCode = EXIT_STATUS.failed
      }),
    )
}

function describeReport(report: WholeAudit): string {
  const mistakes = MISTAKES.flatMap((kind) => rowsOf(kind, report[kind]))
  const explained = rowsOf('zone_data', report.zoneData)
  const count = (value: number) => value.toLocaleString('en')
  const counts = `${count(report.occurrences)} occurrences of ${count(report.schedules)} schedules`
  const lines = []
  if (mistakes.length > 0) lines.push(`${colours.red('✘')} ${counts}: ${count(mistakes.length)} found.`)
  else if (explained.length > 0) lines.push(`${colours.green('✔')} ${counts}: no mistake found.`)
  else lines.push(`${colours.green('✔')} ${counts}: each has one answer.`)
  if (explained.length > 0) {
    lines.push(
      `${colours.yellow('!')} ${count(explained.length)} more differ where other time zone data computed the plan times: no mistakes, not proven either.`,
    )
  }
  return [...lines, ...tableOf([...mistakes, ...explained])].join('\n')
}

function rowsOf(kind: string, findings: readonly Finding[]): string[][] {
  return findings.map(({ schedule, scope, planTime, detail }) => [kind, schedule, scope, planTime, detail])
}

function tableOf(findings: readonly string[][]): string[] {
  if (findings.length === 0) return []
  const shown = findings.slice(0, MOST_SHOWN)
  const table = formatTable(['FINDING', 'SCHEDULE', 'SCOPE', 'PLAN TIME', 'DETAIL'], shown)
  const rest = findings.length - shown.length
  return ['', table, ...(rest > 0 ? [`… and ${rest} more (--json has all)`] : [])]
}
