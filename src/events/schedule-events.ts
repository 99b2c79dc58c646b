import type { EventBus, EventName } from './bus.js'

/** What was done to a schedule, for those who listen. */
export interface ScheduleAct {
  scheduleId: string
  /** Its name, after a rename the new one. */
  schedule: string
  version: number
  /** The verb, or `finish` where its plan times came to an end by themselves. */
  action: string
  /** Whether it has no plan time left, and had before. */
  isFinished?: boolean
  isDeleted?: boolean
}

export function actOf(
  action: string,
  { id, name, version }: { id: string; name: string; version: number },
  outcome: Pick<ScheduleAct, 'isFinished' | 'isDeleted'> = {},
): ScheduleAct {
  return { action, scheduleId: id, schedule: name, version, ...outcome }
}

type ScheduleEventName = Extract<EventName, `schedule.${string}`>

const EVENT_OF_ACTION: Readonly<Record<string, ScheduleEventName>> = {
  pause: 'schedule.paused',
  resume: 'schedule.resumed',
  finish: 'schedule.finished',
  delete: 'schedule.deleted',
}

/**
 * The events of one act, in the order in which they are told: what was done, and then what came of it. A `resume`
 * that finds no plan time left is a resumed schedule that has finished, and with `deleteWhenDone` is deleted.
 */
export function eventsOf({ action, isFinished, isDeleted }: ScheduleAct): ScheduleEventName[] {
  const names = new Set<ScheduleEventName>([EVENT_OF_ACTION[action] ?? 'schedule.changed'])
  if (isFinished) names.add('schedule.finished')
  if (isDeleted) names.add('schedule.deleted')
  return [...names]
}

/** Called after the commit: what is rolled back is not told. */
export function tellActs(bus: EventBus, acts: readonly ScheduleAct[]): void {
  for (const act of acts) {
    const { scheduleId, schedule, version } = act
    for (const name of eventsOf(act)) bus.emit(name, { scheduleId, schedule, version })
  }
}
