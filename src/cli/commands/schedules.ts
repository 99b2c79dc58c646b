import type { Command } from 'commander'
import type { Result } from '../../http-client/index.js'
import { describe, type Timing } from '../../time/index.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { localTime } from '../local-time.js'
import { formatTable } from '../table.js'

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').description('look at schedules')
  withConnectionFlags(schedules.command('list'))
    .summary('list schedules')
    .description('Lists all schedules by name, with their state and their next plan time in local time.')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      `
Without an option it asks the server that runs on ./.escapement.

Examples:
  escapement schedules list
  escapement schedules list --json --database postgres://app@localhost/app`,
    )
    .action((flags: ConnectionFlags & { json?: boolean }, command: Command) =>
      withConnection(flags, command, async ({ schedules: api }) => {
        const found = await allPages((pageToken) => api.list({ limit: PAGE, ...pageToken }))
        if (flags.json) return console.log(JSON.stringify(found, null, 2))
        if (found.length === 0) return console.log('There are no schedules yet.')
        const rows = found.map((schedule) => [
          schedule.name,
          schedule.state === 'active' ? colours.green(schedule.state) : schedule.state,
          describe(schedule.timing as Timing),
          schedule.nextAt === null ? '–' : localTime(schedule.nextAt),
          schedule.job,
        ])
        console.log(formatTable(['NAME', 'STATE', 'TIMING', 'NEXT', 'JOB'], rows))
      }),
    )
}

const PAGE = 1_000

async function allPages(
  page: (pageToken: { pageToken?: string }) => Promise<Result<'listSchedules'>>,
): Promise<Result<'listSchedules'>['schedules']> {
  const all: Result<'listSchedules'>['schedules'] = []
  let pageToken: string | null = null
  do {
    const found: Result<'listSchedules'> = await page(pageToken === null ? {} : { pageToken })
    all.push(...found.schedules)
    pageToken = found.nextPageToken
  } while (pageToken !== null)
  return all
}
