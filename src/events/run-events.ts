import type { CancelledRun } from '../store/queries/cancelling.js'
import type { InsertedNotice } from '../store/queries/notices.js'
import type { Outcome } from '../store/queries/outcomes.js'
import type { EventBus, RunEvent } from './bus.js'

/** What is told of a run that was just made; a manual one has no plan time. */
export function runCreated(
  run: { id: string; scope: string; planTime: number | null },
  schedule: { id: string; name: string; job: string },
): RunEvent {
  return {
    runId: run.id,
    job: schedule.job,
    scheduleId: schedule.id,
    schedule: schedule.name,
    scope: run.scope,
    planTime: run.planTime === null ? null : new Date(run.planTime),
    attempt: 0,
    durationMs: null,
    error: null,
  }
}

/** What is told of a run as its row has it. */
export function runEventOf(run: {
  id: string
  job: string
  schedule_id: string | null
  schedule_name?: string | null
  scope: string | null
  plan_time: Date | null
  attempt: number
}): RunEvent {
  return {
    runId: run.id,
    job: run.job,
    scheduleId: run.schedule_id,
    schedule: run.schedule_name ?? null,
    scope: run.scope,
    planTime: run.plan_time,
    attempt: run.attempt,
    durationMs: null,
    error: null,
  }
}

/** What is told of a notice that was just made, as of any direct run. */
export function noticeCreated({ id, job }: InsertedNotice): RunEvent {
  return runEventOf({ id, job, schedule_id: null, scope: null, plan_time: null, attempt: 0 })
}

/** The same after an attempt. */
export function runEnded(
  run: Parameters<typeof runEventOf>[0],
  outcome: Outcome,
  durationMs: number,
): RunEvent {
  const error = outcome.state === 'succeeded' ? null : { code: outcome.code, message: outcome.message }
  return { ...runEventOf(run), durationMs, error }
}

/** Called after the commit: what is rolled back is not told. */
export function tellCreated(bus: EventBus, created: readonly RunEvent[]): void {
  for (const event of created) bus.emit('run.created', event)
}

/** Called after the commit as well. */
export function tellCancelled(bus: EventBus, cancelled: readonly CancelledRun[]): void {
  for (const run of cancelled) {
    bus.emit('run.cancelled', runEventOf(run))
    if (bus.has('run.ended')) bus.emit('run.ended', { job: run.job, state: 'cancelled', durationMs: null })
  }
}
