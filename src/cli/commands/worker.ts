import type { Command } from 'commander'
import { examples } from '../output.js'
import { parseCount } from '../paged.js'
import { type ProcessFlags, parseQueues, withAddressFlags, withProcessFlags } from '../process-flags.js'

export function addWorker(program: Command): void {
  withAddressFlags(
    withProcessFlags(program.command('worker')),
    'also serve the API there, with /health, /ready and /metrics (default: no server)',
  )
    .summary('run handlers only')
    .description(
      'Claims runs and carries them out, with the jobs of escapement.config.ts; any number of workers share a PostgreSQL database.\n' +
        'Schedules of the configuration are left to "up" and "scheduler". Ctrl+C waits for what runs, and a second one does not.',
    )
    .option('--queues <names>', 'queues to take runs from, with commas between them', parseQueues)
    .option('--concurrency <number>', 'how many handlers run at once', parseCount)
    .addHelpText(
      'after',
      examples(
        'escapement worker --database postgres://app@localhost/app',
        'escapement worker --queues mail,reports --concurrency 50',
        'escapement worker --port 8081',
      ),
    )
    .action(async (flags: ProcessFlags, command: Command) => {
      const { runProcess } = await import('../run-process.js')
      const serves = flags.port !== undefined || flags.host !== undefined
      await runProcess({ flags, command, roles: ['worker'], syncs: false, serves, doing: ' works' })
    })
}
