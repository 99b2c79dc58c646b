import { type Command, InvalidArgumentError } from 'commander'
import { colours } from '../../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../../connection.js'
import { followRun } from '../../follow-run.js'
import { readJsonFlag } from '../../json-flag.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../../output.js'
import { parseTime, TIME_FLAG_HELP } from '../../time-flag.js'

interface EnqueueFlags extends ConnectionFlags, JsonFlag {
  input?: string
  at?: string
  queue?: string
  priority?: number
  key?: string
  wait?: boolean
}

export function addEnqueue(runs: Command): void {
  withJsonFlag(withConnectionFlags(runs.command('enqueue')))
    .summary('ask for one run of a job')
    .description(
      'Asks for one run of a job, outside of any schedule. The same --key again gives the run that there is.',
    )
    .argument('<job>', 'as "escapement jobs" lists it')
    .option('--input <json>', 'what the job is given: JSON, @file, or - for standard input')
    .option('--at <time>', `not before: ${TIME_FLAG_HELP}`, parseTime)
    .option('--queue <name>', 'queue (default: "default")')
    .option('--priority <number>', 'higher goes first (default: 0)', parseInteger)
    .option('--key <text>', 'asking again for the same job under the same key makes no second run')
    .option('--wait', 'wait until it has ended; status 1 unless it succeeded')
    .addHelpText(
      'after',
      examples(
        `escapement runs enqueue send-report --input '{"customer": "acme"}'`,
        'escapement runs enqueue send-report --input @report.json --at "in 2 hours" --key report-2026-12',
        'escapement runs enqueue clean-up --wait',
      ),
    )
    .action(async (job: string, flags: EnqueueFlags, command: Command) => {
      const { input, at, queue, priority, key } = flags
      const body = {
        job,
        ...(input !== undefined && { input: await readJsonFlag(input, '--input') }),
        ...(at !== undefined && { at }),
        ...(queue !== undefined && { queue }),
        ...(priority !== undefined && { priority }),
        ...(key !== undefined && { key }),
      }
      return withConnection(flags, command, async (client) => {
        const made = await client.runs.enqueue(body)
        if (flags.wait) return followRun(client, made.id, flags)
        show(flags, made, () =>
          made.created
            ? `${colours.green('✔')} ${made.id} is asked for.`
            : `${colours.green('✔')} ${made.id} was asked for before, under the same key.`,
        )
      })
    })
}

function parseInteger(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number.')
}
