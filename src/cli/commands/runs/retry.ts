import { type Command, Option } from 'commander'
import { EscapementError } from '../../../errors.js'
import type { Body, HttpClient } from '../../../http-client/index.js'
import { colours } from '../../colours.js'
import { confirm, withYesFlag, type YesFlag } from '../../confirm.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../../connection.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../../output.js'
import { parseTime, TIME_FLAG_HELP } from '../../time-flag.js'

type Filter = NonNullable<Body<'retryRuns'>>
type RetryFlags = ConnectionFlags & JsonFlag & YesFlag & Filter & { failed?: boolean }

export function addRetry(runs: Command): void {
  withYesFlag(withJsonFlag(withConnectionFlags(runs.command('retry'))))
    .summary('give failed runs one more attempt')
    .description(
      'Gives the runs that are named one more attempt or, with --failed, all dead letters that the filter finds. A run whose\n' +
        'schedule must not overlap waits while another one is open: it is counted as blocked, and can be retried later.',
    )
    .argument('[ids...]', 'as "escapement runs list --state failed" shows them')
    .option('--failed', 'all that have failed')
    .option('--job <name>', 'with --failed: of this job')
    .option('--queue <name>', 'with --failed: in this queue')
    .option('--schedule <name>', 'with --failed: of this schedule')
    .option('--finished-after <time>', `with --failed: ${TIME_FLAG_HELP}`, parseTime)
    .option('--finished-before <time>', 'with --failed', parseTime)
    .option('--planned-after <time>', 'with --failed: by plan time, or when they were asked for', parseTime)
    .option('--planned-before <time>', 'with --failed', parseTime)
    .addOption(
      new Option('--trigger <trigger>', 'with --failed: what asked for them').choices([
        'scheduled',
        'manual',
        'backfill',
        'direct',
      ]),
    )
    .addHelpText(
      'after',
      examples(
        'escapement runs retry 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11',
        'escapement runs retry --failed --job send-report --finished-after "1 hour ago"',
        'escapement runs retry --failed --yes',
      ),
    )
    .action((ids: string[], flags: RetryFlags, command: Command) => {
      if (ids.length > 0 === (flags.failed === true)) {
        throw new EscapementError('option_invalid', {
          message: 'Give the ids of failed runs, or --failed for all of them.',
        })
      }
      return withConnection(flags, command, (client) =>
        flags.failed ? retryAll(client, flags) : retryThese(client, ids, flags),
      )
    })
}

async function retryThese(client: HttpClient, ids: readonly string[], flags: JsonFlag): Promise<void> {
  for (const id of ids) {
    await client.runs.retry(id)
    if (!flags.json) console.log(`${colours.green('✔')} ${id} is tried again.`)
  }
  if (flags.json) show(flags, { retried: ids.length, blocked: 0 }, () => '')
}

async function retryAll(client: HttpClient, flags: RetryFlags): Promise<void> {
  const { job, queue, schedule, trigger, finishedAfter, finishedBefore, plannedAfter, plannedBefore } = flags
  const given = { job, queue, schedule, trigger, finishedAfter, finishedBefore, plannedAfter, plannedBefore }
  const filter: Filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  await confirm(`Retry every failed run${describeFilter(filter)}?`, flags)
  const report = await client.runs.retryAll(filter)
  show(flags, report, () => {
    const blocked =
      report.blocked > 0 ? `; ${report.blocked} must wait, as another run of their schedule is open` : ''
    const runs = report.retried === 1 ? '1 run is' : `${report.retried} runs are`
    return `${colours.green('✔')} ${runs} tried again${blocked}.`
  })
}

function describeFilter(filter: Filter): string {
  const { job, queue, schedule, trigger, finishedAfter, finishedBefore, plannedAfter, plannedBefore } = filter
  const parts = [
    job && `of the job "${job}"`,
    queue && `in the queue "${queue}"`,
    schedule && `of the schedule "${schedule}"`,
    trigger && `with the trigger "${trigger}"`,
    finishedAfter && `that ended after ${finishedAfter}`,
    finishedBefore && `that ended before ${finishedBefore}`,
    plannedAfter && `planned after ${plannedAfter}`,
    plannedBefore && `planned before ${plannedBefore}`,
  ].filter(Boolean)
  return parts.map((part) => ` ${part}`).join('')
}
