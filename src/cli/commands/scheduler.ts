import type { Command } from 'commander'
import { examples } from '../output.js'
import { type ProcessFlags, withAddressFlags, withProcessFlags } from '../process-flags.js'

export function addScheduler(program: Command): void {
  withAddressFlags(
    withProcessFlags(program.command('scheduler')),
    'also serve the API there, with /health, /ready and /metrics (default: no server)',
  )
    .summary('decide what is due, and sweep')
    .description(
      'Turns the occurrences that are due into runs for workers, and applies transitions. Any number may do so on one PostgreSQL\n' +
        'database. The schedules of escapement.config.ts are put when it starts.',
    )
    .addHelpText(
      'after',
      examples(
        'escapement scheduler --database postgres://app@localhost/app',
        'escapement scheduler --port 8082',
      ),
    )
    .action(async (flags: ProcessFlags, command: Command) => {
      const { runProcess } = await import('../run-process.js')
      const roles = ['scheduler', 'sweeper'] as const
      const serves = flags.port !== undefined || flags.host !== undefined
      await runProcess({ flags, command, roles, syncs: true, serves, doing: ' schedules and sweeps' })
    })
}
