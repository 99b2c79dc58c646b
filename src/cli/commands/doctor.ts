import type { Command } from 'commander'
import { zoneDataVersion } from '../../time/zone.js'
import { VERSION } from '../../version.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { type Described, describeExamination } from '../describe-examination.js'
import { EXIT_STATUS, exitStatusOf } from '../exit-status.js'
import { connectionDiagnosis } from '../failed-connection.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'

export function addDoctor(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('doctor')))
    .summary('say what is wrong, and how to mend it')
    .description(
      'Looks at the connection, the schema, its indexes and dead rows, clocks, time zone data and notifications, at schedules that\n' +
        'are overdue, broken or cannot be planned, runs that nobody takes, leases and workers that were left behind, and rows\n' +
        'that a transition could not change. Each finding comes with what mends it. Changes nothing, and costs the same\n' +
        'however much there is. Ends with status 1 if there is a problem; notes are no problems.',
    )
    .addHelpText(
      'after',
      examples(
        'escapement doctor',
        'escapement doctor --database postgres://app@localhost/app',
        'escapement doctor --json --url http://127.0.0.1:4680',
      ),
    )
    .action(async (flags: ConnectionFlags & JsonFlag, command: Command) => {
      try {
        await withConnection(flags, command, async (client) => report(flags, await client.doctor()))
      } catch (error) {
        const finding = connectionDiagnosis(error)
        if (finding === undefined) throw error
        report(flags, { findings: [finding], version: VERSION, zoneData: zoneDataVersion() })
        process.exitCode = exitStatusOf(error)
      }
    })
}

function report(flags: JsonFlag, examination: Described): void {
  show(flags, examination, () => describeExamination(examination))
  if (examination.findings.some(({ severity }) => severity === 'problem')) {
    process.exitCode = EXIT_STATUS.failed
  }
}
