import { EscapementError } from '../errors.js'
import type { EventBus } from '../events/bus.js'
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
import { notify } from '../store/queries/notifying.js'
import { findRun } from '../store/queries/runs.js'
import { readNow } from '../store/queries/schedules.js'
import type { RunRow } from '../store/rows.js'
import type { Store } from '../store/store.js'

export interface CancelOptions {
  /** Who asks, for the run's message. */
  actor?: string
  reason?: string
}

/**
 * Ends an open run as cancelled. A handler that is at work on it, in whatever process, is told soon, and its outcome
 * no longer counts.
 */
export async function cancelOne(
  store: Store,
  bus: EventBus,
  run: RunRow,
  options: CancelOptions,
): Promise<void> {
  const by = options.actor === undefined ? '' : ` by ${options.actor}`
  const reason = `Cancelled${by}${options.reason === undefined ? '.' : `: ${options.reason}`}`
  const cancelled = await store.transaction(async (session) => {
    if (run.schedule_id !== null) await lockLanes(session, [run.schedule_id])
    const row = await cancelRun(session, run.id, reason)
    if (!row) return undefined
    if (row.schedule_id !== null) await followEnds(session, [endOf(row, row.schedule_id)])
    await notify(session, store.channel, 'cancelled')
    return row
  })
  if (!cancelled) {
    const current = await findRun(store, run.id)
    // Asked twice, it is done once.
    if (current?.state === 'cancelled') return
    throw new EscapementError('run_not_open', {
      message: `The run ${run.id} has ended already: ${current?.state ?? 'deleted'}.`,
      details: { id: run.id, state: current?.state },
    })
  }
  tellCancelled(bus, [cancelled])
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

/** Gives a failed run one more attempt. */
export async function retryOne(store: Store, run: RunRow): Promise<void> {
  const done = await retryIn(store, [{ id: run.id, schedule_id: run.schedule_id }])
  if (done.length > 0) return
  const current = await findRun(store, run.id)
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
export async function retryMany(store: Store, filter: FailedFilter): Promise<RetryReport> {
  const report = { retried: 0, blocked: 0 }
  const through = new Date(await readNow(store))
  let after: FailedRun | null = null
  for (;;) {
    const found: FailedRun[] = await listFailed(store, filter, { after, through, limit: CHUNK })
    if (found.length === 0) return report
    const retried = await retryIn(store, found)
    report.retried += retried.length
    report.blocked += found.length - retried.length
    after = found.at(-1)!
  }
}

function retryIn(store: Store, runs: readonly Pick<FailedRun, 'id' | 'schedule_id'>[]): Promise<string[]> {
  return store.transaction(async (session) => {
    const schedules = runs.flatMap(({ schedule_id }) => schedule_id ?? [])
    if (schedules.length > 0) await lockLanes(session, schedules)
    const retried = await retryRuns(
      session,
      runs.map(({ id }) => id),
    )
    if (retried.length === 0) return retried
    if (schedules.length > 0) await clearCursorsOfAfter(session, schedules)
    await notify(session, store.channel, 'runs')
    return retried
  })
}
