import type { Command } from 'commander'
import { hostNow } from '../../clock.js'
import type { EventsOptions, ServerEvent } from '../../http-client/index.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { harmless } from '../harmless.js'
import { localTime } from '../local-time.js'
import { examples, type JsonFlag, withJsonFlag } from '../output.js'

interface EventsFlags extends ConnectionFlags, JsonFlag {
  names?: string
  group?: string
}

export function addEvents(program: Command): void {
  withJsonFlag(withConnectionFlags(program.command('events')))
    .summary('watch what happens')
    .description(
      'Prints events as they come, until Ctrl+C: with --json one object per line. They are hints: some may be missing, and it says so.',
    )
    .option('--names <names>', 'only these, with commas: "run.failed,schedule.broken"')
    .option('--group <name>', 'only what concerns schedules of this group')
    .addHelpText(
      'after',
      examples(
        'escapement events',
        'escapement events --names run.failed,schedule.broken',
        'escapement events --json | jq .data',
      ),
    )
    .action((flags: EventsFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const ended = new AbortController()
        const end = () => ended.abort()
        process.once('SIGINT', end).once('SIGTERM', end)
        const names = flags.names?.split(',').map((name) => name.trim()) as EventsOptions['names']
        const options = {
          signal: ended.signal,
          ...(names !== undefined && { names }),
          ...(flags.group !== undefined && { group: flags.group }),
        }
        for await (const event of client.events(options)) {
          console.log(flags.json ? JSON.stringify(event) : harmless(describeEvent(event)))
        }
      }),
    )
}

function describeEvent({ name, data }: ServerEvent): string {
  const facts = Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([field, value]) =>
        `${colours.dim(`${field}=`)}${typeof value === 'object' ? JSON.stringify(value) : value}`,
    )
  return `${colours.dim(localTime(new Date(hostNow())))}  ${name.padEnd(18)} ${facts.join(' ')}`
}
