import { EscapementError, mistakesError } from '../errors.js'
import { runCreated } from '../events/run-events.js'
import { uuidOf } from '../runs/run-id.js'
import { jsonMistake } from '../runs/storable.js'
import { randomUuid } from '../runs/uuid.js'
import { DEFAULT_SCOPE } from '../schedules/schedule.js'
import { clearCursorsOfAfter } from '../store/queries/after.js'
import { insertManualRun } from '../store/queries/ledger.js'
import { notify } from '../store/queries/notifying.js'
import { findRun } from '../store/queries/runs.js'
import { findSchedule } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import { type AskingSpan, tracedAsking } from './asking-span.js'
import { logAction } from './change.js'
import type { ChangeContext } from './change-context.js'
import type { Enqueued } from './enqueueing.js'
import { checkInputOf, findJob } from './known-jobs.js'
import { settleFirst } from './settling.js'
import { type VerbOptions, type VerbParts, withLockedOne } from './verb.js'

/** What `schedules.trigger` takes. */
export interface TriggerOptions extends VerbOptions {
  /** The same key again gives the same run. */
  key?: string
  /** Instead of the schedule's own input. */
  input?: unknown
  /**
   * The scope of the run.
   * @default 'global'
   */
  scope?: string
}

/** Runs the schedule's job now, whatever its timing and state, after what is due of it. */
export async function triggerRun(parts: VerbParts, name: string, options: TriggerOptions): Promise<Enqueued> {
  if (options.input !== undefined) {
    const mistake = jsonMistake(options.input, 'input')
    if (mistake) throw mistakesError('input_invalid', [mistake])
    // Before the lock: a schema is the user's code.
    const row = await findSchedule(parts.store, name, parts.group)
    if (row) await checkInputOf(await findJob(parts, row.job), options.input)
  }
  const verb = { action: 'trigger', actor: options.actor }
  return tracedAsking('trigger', { schedule: name }, async (span) => {
    const outcome = await withLockedOne(parts, name, verb, (context, row) =>
      settleFirst(context, row, (settled) => insert(context, settled, options, span)),
    )
    // Thrown after the commit: what is due, and is the open run perhaps, stays decided.
    if (outcome instanceof EscapementError) throw outcome
    span.asked([outcome])
    return outcome
  })
}

async function insert(
  context: ChangeContext,
  row: ScheduleRow,
  options: TriggerOptions,
  span: AskingSpan,
): Promise<Enqueued | EscapementError> {
  span.name(row.job)
  const scope = options.scope ?? row.scopes?.[0] ?? DEFAULT_SCOPE
  if (row.scopes !== null && !row.scopes.includes(scope)) throw unknownScope(row, scope)
  const id =
    options.key === undefined ? randomUuid(context.chance) : uuidOf(`${row.id}|manual|${options.key}`)
  const isNew = await insertManualRun(context.session, {
    id,
    scheduleId: row.id,
    scope,
    lane: row.policies.overlap === 'allow' ? null : 0,
    input: options.input === undefined ? null : JSON.stringify(options.input),
    now: context.now,
    traceContext: span.traceContext,
  })
  if (!isNew && !(options.key !== undefined && (await findRun(context.session, id)))) return runOpen(row)
  if (isNew) {
    if (row.timing.kind === 'after') await clearCursorsOfAfter(context.session, [row.id])
    await logAction(context, row, `trigger ${id}`)
    await notify(context.session, context.channel, 'runs')
    context.created.push(runCreated({ id, scope, planTime: null }, row))
  }
  return { id, created: isNew }
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
