import type { Command } from 'commander'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'

export function addDoctor(program: Command): void {
  withConnectionFlags(program.command('doctor'))
    .summary('say what is wrong, and how to mend it')
    .description(
      'Looks for schedules that cannot be planned, overdue cursors, expired leases, runs that no worker can take,\n' +
        'rows that a transition could not change, and plan times of newer time zone data than this program has.\n' +
        'Ends with status 1 if it finds any.',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement doctor
  escapement doctor --json --url http://127.0.0.1:4680`,
    )
    .action((flags: ConnectionFlags & { json?: boolean }, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { findings: found, zoneData } = await client.doctor()
        if (flags.json) console.log(JSON.stringify(found, null, 2))
        else {
          console.log(colours.dim(`time zone data ${zoneData}`))
          if (found.length === 0) console.log(`${colours.green('✔')} Nothing is wrong.`)
          for (const { kind, subject, detail, fix } of found) {
            console.log(`${colours.red('✘')} ${kind.replace('_', ' ')}: ${subject}: ${detail}\n  → ${fix}`)
          }
        }
        if (found.length > 0) process.exitCode = 1
      }),
    )
}
