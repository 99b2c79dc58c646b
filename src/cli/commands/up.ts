import type { Command } from 'commander'
import { examples } from '../output.js'
import { type ProcessFlags, withAddressFlags, withProcessFlags } from '../process-flags.js'

export function addUp(program: Command): void {
  withAddressFlags(
    withProcessFlags(program.command('up')),
    'port of the API; 0 takes a free one (default: 4680)',
  )
    .summary('run everything in one process')
    .description(
      'Runs the scheduler, a worker, the sweeper and the HTTP API in one process, on an embedded database in ./.escapement or,\n' +
        'with --database, on PostgreSQL. Jobs, schedules and transitions come from escapement.config.ts; its schedules are put\n' +
        'when the process starts. Ctrl+C waits for what runs, and a second one does not.',
    )
    .option('--watch', 'load the configuration again whenever it, or a file that it imports, changes')
    .addHelpText(
      'after',
      examples(
        'escapement up',
        'escapement up --watch',
        'escapement up --directory /var/lib/escapement --port 8080',
        'escapement up --host 0.0.0.0',
        'DATABASE_URL=postgres://app@localhost/app escapement up --config jobs/escapement.config.ts',
      ),
    )
    .action(async (flags: ProcessFlags, command: Command) => {
      const { runProcess } = await import('../run-process.js')
      const roles = ['scheduler', 'worker', 'sweeper'] as const
      await runProcess({ flags, command, roles, syncs: true, serves: true, doing: '' })
    })
}
