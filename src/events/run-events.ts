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

/** Called after the commit: what is rolled back is not told. */
export function tellCreated(bus: EventBus, created: readonly RunEvent[]): void {
  for (const event of created) bus.emit('run.created', event)
}
