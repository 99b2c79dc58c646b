import { randomUUID } from 'node:crypto'
import { EscapementError, mistakesError } from '../errors.js'
import { checkInput } from '../runs/job.js'
import { runIdOf, uuidOf } from '../runs/run-id.js'
import { jsonMistake } from '../runs/storable.js'
import { DEFAULT_SCOPE } from '../schedules/schedule.js'
import { enterLanes } from '../store/queries/lanes.js'
import { insertBackfill, insertManualRun } from '../store/queries/ledger.js'
import { findRun } from '../store/queries/runs.js'
import { findSchedule, notify } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import type { InstantInput } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { logAction } from './change.js'
import { ledgerOf } from './ledger.js'
import { type VerbOptions, type VerbParts, withLockedOne } from './verb.js'

export interface TriggerOptions extends VerbOptions {
  /** The same key again gives the same run. */
  key?: string
  /** Instead of the schedule's own input. */
  input?: unknown
  /** @default 'global' */
  scope?: string
}

/** Runs the schedule's job now, whatever its timing and state. Returns the run's id. */
export async function triggerRun(parts: VerbParts, name: string, options: TriggerOptions): Promise<string> {
  if (options.input !== undefined) {
    const mistake = jsonMistake(options.input, 'input')
    if (mistake) throw mistakesError('input_invalid', [mistake])
    // Before the lock: a schema is the user's code.
    const row = await findSchedule(parts.store, name)
    const job = row && parts.jobs.get(row.job)
    if (job) await checkInput(job, options.input)
  }
  return withLockedOne(parts, name, { action: 'trigger', actor: options.actor }, async (context, row) => {
    const scope = options.scope ?? row.scopes?.[0] ?? DEFAULT_SCOPE
    if (row.scopes !== null && !row.scopes.includes(scope)) throw unknownScope(row, scope)
    const id = options.key === undefined ? randomUUID() : uuidOf(`${row.id}|manual|${options.key}`)
    const isNew = await insertManualRun(context.session, {
      id,
      scheduleId: row.id,
      scope,
      lane: row.policies.overlap === 'allow' ? null : 0,
      input: options.input === undefined ? null : JSON.stringify(options.input),
      now: context.now,
    })
    if (!isNew && !(options.key !== undefined && (await findRun(context.session, id)))) throw runOpen(row)
    if (isNew) {
      await logAction(context, row, `trigger ${id}`)
      await notify(context.session, context.channel, 'runs')
    }
    return id
  })
}

function unknownScope({ name, scopes }: ScheduleRow, scope: string): EscapementError {
  return new EscapementError('option_invalid', {
    message: `scope: "${scope}" is none of "${name}", which has ${scopes!.join(', ')}`,
    details: { name, scope },
  })
}

function runOpen({ name, policies }: ScheduleRow): EscapementError {
  return new EscapementError('run_open', {
    message: `"${name}" has an open run, and its overlap is "${policies.overlap}": wait for it to end.`,
    details: { name },
  })
}

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

/** Gives skipped plan times in a range the runs that they did not get. Repeating it makes none twice. */
export function backfillRuns(
  parts: VerbParts,
  name: string,
  options: BackfillOptions,
): Promise<BackfillReport> {
  return withLockedOne(parts, name, { action: 'backfill', actor: options.actor }, async (context, row) => {
    const zone = 'zone' in row.timing ? row.timing.zone : 'UTC'
    const range = readOrThrow('option_invalid', (report) => {
      const from = readAnchor(options.from, zone, 'from', report)
      const to = readAnchor(options.to, zone, 'to', report)
      if (from === undefined || to === undefined) return undefined
      return from < to ? { from, to } : report('to', 'must be after from')
    })
    const decided = { from: range.from, to: Math.min(range.to, row.decided_through.getTime() + 1) }
    const skipped = (
      await ledgerOf(context.session, row, decided, { now: context.now, limit: MAX_BACKFILL + 1 })
    )
      .filter(({ disposition }) => disposition === 'skipped')
      .filter(({ scope }) => scope !== '')
    if (skipped.length > MAX_BACKFILL) {
      throw new EscapementError('range_too_large', {
        message: `The range holds more than ${MAX_BACKFILL} skipped occurrences. Fill it in several steps.`,
      })
    }
    const runs = skipped.map(({ scope, planTime }) => ({
      id: runIdOf(row.id, scope, planTime.getTime()),
      scope,
      planTime: planTime.getTime(),
      eligibleAt: context.now,
    }))
    const planTimes = [...new Set(runs.map(({ planTime }) => planTime))].map((time) => new Date(time))
    if (options.dryRun || runs.length === 0) {
      return { planTimes, runIds: runs.map(({ id }) => id), dryRun: options.dryRun ?? false }
    }
    const runIds = await insertBackfill(context.session, row, runs, context.now)
    if (row.policies.overlap !== 'allow') await enterLanes(context.session, [row.id])
    if (runIds.length > 0) await logAction(context, row, `backfill ${runIds.length} runs`)
    await notify(context.session, context.channel, 'runs')
    return { planTimes, runIds, dryRun: false }
  })
}
