import type { Command } from 'commander'
import type { Result } from '../../../http-client/index.js'
import { formatCard } from '../../card.js'
import { colours } from '../../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../../connection.js'
import { localTime } from '../../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../../output.js'
import { describeProgress } from '../../progress.js'
import { paintedState, took } from '../../run-words.js'

type GetFlags = ConnectionFlags & JsonFlag & { stack?: boolean }

export function addGet(runs: Command): void {
  withJsonFlag(withConnectionFlags(runs.command('get')))
    .summary('show all about one run')
    .description(
      'Shows a run with its attempts and their errors, its lease, and what its schedule was when it asked for it.',
    )
    .argument('<id>', 'as "escapement runs list" shows it')
    .option('--stack', 'show where in the code each attempt failed')
    .addHelpText(
      'after',
      examples(
        'escapement runs get 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11',
        'escapement runs get 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11 --stack',
      ),
    )
    .action((id: string, flags: GetFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const details = await client.runs.get(id)
        show(flags, details, () => describeRun(details, flags.stack ?? false))
      }),
    )
}

type Details = Result<'getRun'>

/** A run as a person reads it. */
function describeRun(details: Details, withStack: boolean): string {
  const { run, attempts, schedule, snapshot, drifted, lease } = details
  const time = (instant: string | null) => (instant === null ? null : localTime(instant))
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))
  const named = schedule ?? (snapshot ? `${snapshot.name} (deleted)` : null)
  return formatCard(`${run.id}  ${paintedState(run.state)}`, [
    ['job', run.job],
    ['schedule', named && `${named}, version ${run.scheduleVersion}`],
    ['trigger', run.trigger],
    ['plan time', time(run.planTime)],
    ['scope', run.scope === 'global' ? null : run.scope],
    ['key', run.key],
    ['queue', run.priority === 0 ? run.queue : `${run.queue}, priority ${run.priority}`],
    ['input', json(run.input)],
    ['asked for', time(run.createdAt)],
    ['eligible', run.finishedAt === null && run.startedAt === null ? time(run.eligibleAt) : null],
    ['started', time(run.startedAt)],
    ['finished', run.finishedAt && `${time(run.finishedAt)}${tookOf(run)}`],
    ['lease', lease && `worker ${lease.workerId}, until ${time(lease.expiresAt)}`],
    ['progress', run.progress && progressOf(run.progress)],
    ['totals', json(run.totals)],
    ['result', json(run.result)],
    ['error', run.error && `${colours.red(run.error.code)}: ${run.error.message}`],
    [
      'attempts',
      attempts.length === 0 ? null : attempts.map((each) => describeAttempt(each, withStack)).join('\n'),
    ],
    ['changed since', drifted && drifted.length > 0 ? drifted.join(', ') : null],
  ])
}

function tookOf({ startedAt, finishedAt }: Details['run']): string {
  const duration = took(startedAt, finishedAt)
  return duration === null ? '' : ` (took ${duration})`
}

function progressOf({ fraction, note }: NonNullable<Details['run']['progress']>): string {
  return `${describeProgress(Math.round(fraction * 100), 100).replace(/ \(.*/, '')}${note ? `  ${note}` : ''}`
}

function describeAttempt(
  { number, finishedAt, error }: Details['attempts'][number],
  withStack: boolean,
): string {
  const line = `${number}  ${localTime(finishedAt)}  ${error.code}: ${error.message}`
  return withStack && error.stack !== null ? `${line}\n${error.stack}` : line
}
