import type { Command } from 'commander'
import type { HttpClient } from '../../../http-client/index.js'
import { colours } from '../../colours.js'
import { confirm, withYesFlag, type YesFlag } from '../../confirm.js'
import { withConnection } from '../../connection.js'
import { EXIT_STATUS } from '../../exit-status.js'
import { harmless } from '../../harmless.js'
import { wallRange, wallTime } from '../../moment.js'
import { examples, show } from '../../output.js'
import { withProgress } from '../../progress.js'
import { OWN_TIME_HELP, readTime } from '../../time-flag.js'
import { type Filled, findPortions, type Range } from './portions.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, readingZone, type Schedule } from './standing.js'

interface BackfillFlags extends SharedFlags, YesFlag {
  from: string
  to: string
  dryRun?: boolean
}

export function addBackfill(schedules: Command): void {
  const command = schedules
    .command('backfill')
    .summary('run plan times that were skipped')
    .description(
      'Runs plan times of the past that were skipped. It first shows how many there are, and at a terminal asks; then it makes the ' +
        'runs in portions. Ctrl+C stops it between two of them. Repeating it makes no run twice.',
    )
    .argument(...NAME)
    .requiredOption('--from <time>', `inclusive: ${OWN_TIME_HELP}`)
    .option('--to <time>', 'exclusive', 'now')
    .option('--dry-run', 'show how many there are, and run none')
  withSharedFlags(withYesFlag(command))
    .addHelpText(
      'after',
      examples(
        'escapement schedules backfill report:acme --from "2 days ago"',
        'escapement schedules backfill report:acme --from 2026-11-01 --to 2026-11-08 --yes',
        'escapement schedules backfill report:acme --from 2026-11-01 --dry-run --json',
      ),
    )
    .action((name: string, flags: BackfillFlags, command: Command) =>
      withConnection(flags, command, async (client) => {
        const schedule = await client.schedules.get(name)
        const zone = readingZone(schedule.timing)
        const range = {
          from: readTime(flags.from, '--from', zone),
          to: readTime(flags.to, '--to', zone),
        }
        const { portions, report: found } = await look(client, name, range)
        if (flags.dryRun) return show(flags, found, () => describeFound(schedule, found))
        if (portions.length > 0) {
          console.error(harmless(describeFound(schedule, found)))
          await confirm(found.runIds.length === 1 ? 'Run it?' : 'Run them?', flags)
        }
        const { report, isStopped } = await fill(client, name, { portions, total: found.runIds.length })
        show(flags, report, () => describeMade(schedule, report))
        if (!isStopped) return
        process.exitCode = EXIT_STATUS.interrupted
        console.error(describeRest(found.runIds.length - report.runIds.length))
      }),
    )
}

/** As the API answers it, of several calls together. */
interface Report {
  planTimes: string[]
  runIds: string[]
  dryRun: boolean
}

const emptyReport = (dryRun: boolean): Report => ({ planTimes: [], runIds: [], dryRun })

function add(report: Report, { planTimes, runIds }: Filled): void {
  // One by one: there can be more than a call takes arguments.
  for (const planTime of planTimes) report.planTimes.push(planTime)
  for (const runId of runIds) report.runIds.push(runId)
}

const inText = ({ from, to }: Range) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

function look({ schedules }: HttpClient, name: string, range: Range) {
  const report = emptyReport(true)
  return withProgress('Looking for skipped plan times', async (progress) => {
    const portions = await findPortions(range, async (part) => {
      const found = await schedules.backfill(name, { ...inText(part), dryRun: true })
      add(report, found)
      progress.update(report.runIds.length)
      return found
    })
    return { portions, report }
  })
}

/** Portion by portion until Ctrl+C; a second one ends the process at once. */
async function fill(
  { schedules }: HttpClient,
  name: string,
  { portions, total }: { portions: readonly Range[]; total: number },
): Promise<{ report: Report; isStopped: boolean }> {
  const report = emptyReport(false)
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  process.once('SIGINT', stop)
  try {
    await withProgress('Making runs', async (progress) => {
      for (const portion of portions) {
        if (isStopped) return
        add(report, await schedules.backfill(name, inText(portion)))
        progress.update(report.runIds.length, total)
      }
    })
  } catch (error) {
    if (report.runIds.length > 0) console.error(describeRest(total - report.runIds.length))
    throw error
  } finally {
    process.off('SIGINT', stop)
  }
  return { report, isStopped: isStopped && report.runIds.length < total }
}

const count = (number: number, noun: string) =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

function describeFound({ name }: Schedule, { planTimes, runIds }: Report): string {
  const [first, last] = [planTimes[0], planTimes.at(-1)]
  if (first === undefined || last === undefined) return nothing(name)
  const range = first === last ? wallTime(first) : wallRange(first, last)
  const runs = runIds.length === planTimes.length ? '' : `, ${count(runIds.length, 'run')}`
  const were = planTimes.length === 1 ? 'was' : 'were'
  return `${count(planTimes.length, 'plan time')}${runs} of ${name} ${were} skipped, ${range}.`
}

const nothing = (name: string) =>
  `Nothing to run: in that range ${name} has no plan time that was skipped, and has no run.`

function describeMade({ name }: Schedule, { planTimes, runIds }: Report): string {
  if (planTimes.length === 0) return nothing(name)
  return done(
    `${count(runIds.length, 'run')} of ${colours.bold(name)} ${runIds.length === 1 ? 'was' : 'were'} made`,
  )
}

function describeRest(rest: number): string {
  return `Stopped: ${count(rest, 'run')} ${rest === 1 ? 'is' : 'are'} left. Repeat the command to make ${rest === 1 ? 'it' : 'them'}.`
}
