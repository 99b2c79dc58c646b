import { EscapementError } from '../errors.js'
import { tellCancelled } from '../events/run-events.js'
import { clearCursorsOfAfter } from '../store/queries/after.js'
import {
  type CancelledRun,
  cancelRun,
  type FailedFilter,
  type FailedRun,
  listFailed,
  retryRuns,
} from '../store/queries/cancelling.js'
import { type EndedRun, followEnds } from '../store/queries/ends.js'
import { lockLanes } from '../store/queries/lanes.js'
import { unpackRuns } from '../store/queries/lots.js'
import { notify } from '../store/queries/notifying.js'
import { findRun } from '../store/queries/runs.js'
import { listMembers, readNow } from '../store/queries/schedules.js'
import type { RunRow } from '../store/rows.js'
import type { Session } from '../store/store.js'
import type { VerbParts } from './verb.js'

/** What `runs.cancel` takes. */
export interface CancelOptions {
  /** Who asks, for the run's message. */
  actor?: string
  /** Why, for the run's message. */
  reason?: string
}

/**
 * Ends an open run as cancelled. A handler that is at work on it, in whatever process, is told soon, and its outcome
 * no longer counts.
 */
export async function cancelOne(parts: VerbParts, run: RunRow, options: CancelOptions): Promise<void> {
  const { store, bus, group } = parts
  const by = options.actor === undefined ? '' : ` by ${options.actor}`
  const reason = `Cancelled${by}${options.reason === undefined ? '.' : `: ${options.reason}`}`
  const cancelled = await store.transaction(async (session) => {
    if (run.schedule_id !== null) await lockLanes(session, [run.schedule_id])
    if ((await ofGroup(session, group, [run])).length === 0) throw runNotFound(run.id)
    await unpackRuns(session, [run.id])
    const row = await cancelRun(session, run.id, reason)
    if (!row) return undefined
    if (row.schedule_id !== null) await followEnds(session, [endOf(row, row.schedule_id)])
    await notify(session, store.channel, 'cancelled')
    return row
  })
  if (!cancelled) {
    const current = await findRun(store, run.id, group)
    // Asked twice, it is done once.
    if (current?.state === 'cancelled') return
    // A claim cut its lot in that very moment: it is open all the same.
    if (current && isOpen(current)) return cancelOne(parts, current, options)
    throw new EscapementError('run_not_open', {
      message: `The run ${run.id} has ended already: ${current?.state ?? 'deleted'}.`,
      details: { id: run.id, state: current?.state },
    })
  }
  tellCancelled(bus, [cancelled])
}

function isOpen({ state }: RunRow): boolean {
  return state === 'pending' || state === 'running' || state === 'retrying'
}

function endOf({ trigger, plan_time, lane }: CancelledRun, scheduleId: string): EndedRun {
  return {
    schedule_id: scheduleId,
    state: 'cancelled',
    trigger,
    plan_time,
    lane,
    has_errors: false,
    has_breaker: false,
  }
}

export function runNotFound(id: string): EscapementError {
  return new EscapementError('run_not_found', { message: `There is no run "${id}".`, details: { id } })
}

type RunOfSchedule = Pick<FailedRun, 'id' | 'schedule_id'>

/** Those of schedules of the group, whose cursors are locked: until that is let go of, none leaves its group. */
async function ofGroup(
  session: Session,
  group: string | undefined,
  runs: readonly RunOfSchedule[],
): Promise<readonly RunOfSchedule[]> {
  if (group === undefined) return runs
  const members = await listMembers(
    session,
    runs.flatMap(({ schedule_id }) => schedule_id ?? []),
    group,
  )
  return runs.filter(({ schedule_id }) => schedule_id !== null && members.has(schedule_id))
}

/** Gives a failed run one more attempt. */
export async function retryOne(parts: VerbParts, run: RunRow): Promise<void> {
  const done = await retryIn(parts, [{ id: run.id, schedule_id: run.schedule_id }])
  if (done.length > 0) return
  const current = await findRun(parts.store, run.id, parts.group)
  if (parts.group !== undefined && !current) throw runNotFound(run.id)
  if (current?.state === 'failed') {
    throw new EscapementError('run_open', {
      message: `The run ${run.id} cannot be tried again yet: another run of its schedule is open, and they must not overlap.`,
      details: { id: run.id },
    })
  }
  throw new EscapementError('run_not_failed', {
    message: `The run ${run.id} is ${current?.state ?? 'deleted'}: only a failed run can be tried again.`,
    details: { id: run.id, state: current?.state },
  })
}

const CHUNK = 500

export interface RetryReport {
  retried: number
  /** Those that must wait, because another run of their schedule is open. */
  blocked: number
}

/**
 * The same for all runs that the filter finds and that have failed by now; can be repeated. One that fails again meanwhile is
 * not found twice.
 */
export async function retryMany(parts: VerbParts, filter: FailedFilter): Promise<RetryReport> {
  const { store } = parts
  const report = { retried: 0, blocked: 0 }
  const through = new Date(await readNow(store))
  let after: FailedRun | null = null
  for (;;) {
    const found: FailedRun[] = await listFailed(store, filter, { after, through, limit: CHUNK })
    if (found.length === 0) return report
    const retried = await retryIn(parts, found)
    report.retried += retried.length
    report.blocked += found.length - retried.length
    after = found.at(-1)!
  }
}

function retryIn({ store, group }: VerbParts, runs: readonly RunOfSchedule[]): Promise<string[]> {
  return store.transaction(async (session) => {
    const schedules = runs.flatMap(({ schedule_id }) => schedule_id ?? [])
    if (schedules.length > 0) await lockLanes(session, schedules)
    const own = await ofGroup(session, group, runs)
    const retried = await retryRuns(
      session,
      own.map(({ id }) => id),
    )
    if (retried.length === 0) return retried
    if (schedules.length > 0) await clearCursorsOfAfter(session, schedules)
    await notify(session, store.channel, 'runs')
    return retried
  })
}
