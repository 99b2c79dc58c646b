import { EscapementError } from '../errors.js'
import { runCreated } from '../events/run-events.js'
import { runIdOf } from '../runs/run-id.js'
import { enterLanes } from '../store/queries/lanes.js'
import { insertBackfill, listExistingRuns, type OccurrenceRun } from '../store/queries/ledger.js'
import { notify } from '../store/queries/notifying.js'
import type { ScheduleRow } from '../store/rows.js'
import type { InstantInput } from '../time/instant.js'
import { type AskingSpan, tracedAsking } from './asking-span.js'
import { logAction } from './change.js'
import type { ChangeContext } from './change-context.js'
import { type LedgerRange, readRange, skippedTimes } from './ledger.js'
import { type VerbOptions, type VerbParts, withLockedOne } from './verb.js'

/** What `schedules.backfill` takes. */
export interface BackfillOptions extends VerbOptions {
  /** The first plan time to fill, inclusive; wall time in the schedule's zone if it has no offset. */
  from: InstantInput
  /** The end of the range, exclusive. */
  to: InstantInput
  /** Say what would run, and change nothing. */
  dryRun?: boolean
}

export interface BackfillReport {
  /** The plan times that were skipped and that run now, or with `dryRun` would. */
  planTimes: Date[]
  runIds: string[]
  dryRun: boolean
}

/** How many runs one backfill may make; more are asked for in several. */
const MAX_BACKFILL = 10_000
/** How many skipped occurrences are looked up at once. */
const CHUNK = 2_000

/** Gives skipped plan times in a range the runs that they did not get. Repeating it makes none twice. */
export function backfillRuns(
  parts: VerbParts,
  name: string,
  options: BackfillOptions,
): Promise<BackfillReport> {
  const verb = { action: 'backfill', actor: options.actor }
  return tracedAsking('backfill', { schedule: name }, (span) =>
    withLockedOne(parts, name, verb, (context, row) => fill(context, row, options, span)),
  )
}

async function fill(
  context: ChangeContext,
  row: ScheduleRow,
  options: BackfillOptions,
  span: AskingSpan,
): Promise<BackfillReport> {
  span.name(row.job)
  if (row.timing.kind === 'after') throw noGrid(row)
  const runs = await missingRuns(context, row, readRange(row, options))
  const planTimes = [...new Set(runs.map(({ planTime }) => planTime))].map((time) => new Date(time))
  if (options.dryRun || runs.length === 0) {
    return { planTimes, runIds: runs.map(({ id }) => id), dryRun: options.dryRun ?? false }
  }
  const { now } = context
  const runIds = await insertBackfill(context.session, row, runs, { now, traceContext: span.traceContext })
  if (row.policies.overlap !== 'allow') await enterLanes(context.session, [row.id])
  const isNew = new Set(runIds)
  const created = runs.filter(({ id }) => isNew.has(id))
  context.created.push(...created.map((run) => runCreated(run, row)))
  if (runIds.length > 0) await logAction(context, row, `backfill ${runIds.length} runs`)
  await notify(context.session, context.channel, 'runs')
  span.asked(created)
  return { planTimes, runIds, dryRun: false }
}

/**
 * The skipped occurrences of the ledger that have no run yet, oldest first. It looks no further once they are too many:
 * a schedule for each second that was down for a year has thirty million.
 */
async function missingRuns(
  { session, now }: ChangeContext,
  row: ScheduleRow,
  { from, to }: LedgerRange,
): Promise<OccurrenceRun[]> {
  const missing: OccurrenceRun[] = []
  let chunk: OccurrenceRun[] = []
  const look = async () => {
    const ids = chunk.map(({ id }) => id)
    const existing = await listExistingRuns(session, ids)
    missing.push(...chunk.filter(({ id }) => !existing.has(id)))
    chunk = []
    if (missing.length > MAX_BACKFILL) throw tooMany(row)
  }
  const decided = {
    from: Math.max(from, row.ledger_from.getTime() + 1),
    to: Math.min(to, row.decided_through.getTime() + 1),
  }
  for await (const { scope, planTime } of skippedTimes(session, row, decided)) {
    // Nobody knows the scopes of plan times for which a provider had none.
    if (scope === '') continue
    chunk.push({ id: runIdOf(row.id, scope, planTime), scope, planTime, eligibleAt: now })
    if (chunk.length === CHUNK) await look()
  }
  await look()
  return missing.sort((a, b) => a.planTime - b.planTime || (a.scope < b.scope ? -1 : 1))
}

function tooMany({ name }: ScheduleRow): EscapementError {
  return new EscapementError('range_too_large', {
    message: `from, to: "${name}" has more than ${MAX_BACKFILL} skipped occurrences in this range that could run. Fill it in several steps.`,
    details: { name, limit: MAX_BACKFILL },
  })
}

function noGrid({ name }: ScheduleRow): EscapementError {
  return new EscapementError('option_invalid', {
    message: `"${name}" runs after its last completion: it has no plan times in the past to fill. Trigger it instead.`,
    details: { name },
  })
}
