import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { didYouMean } from '../time/did-you-mean.js'
import type { TransitionChange } from '../transitions/change.js'
import { LOCAL_EVENT_NAMES, type LocalEventMap } from './local-events.js'

/** What a run's events tell. */
export interface RunEvent {
  runId: string
  job: string
  scheduleId: string | null
  /** The schedule's name, where the process that tells it knows it. */
  schedule: string | null
  scope: string | null
  planTime: Date | null
  attempt: number
  /** How long the attempt took; null before its end. */
  durationMs: number | null
  error: { code: string; message: string } | null
}

export interface ScheduleEvent {
  scheduleId: string
  schedule: string
  version: number
}

/** Each event's name and what it carries. Events are hints about what this process did; the database is the truth. */
export interface EventMap {
  /** It was put, patched, renamed or synchronised, or a plan time of it was wished away. */
  'schedule.changed': ScheduleEvent
  'schedule.paused': ScheduleEvent
  /** By a person, or because its pause came to its end. */
  'schedule.resumed': ScheduleEvent
  /** It has no plan time left. */
  'schedule.finished': ScheduleEvent
  'schedule.deleted': ScheduleEvent
  'schedule.broken': ScheduleEvent & { reason: string }
  'run.created': RunEvent
  'run.started': RunEvent
  'run.succeeded': RunEvent
  'run.retrying': RunEvent
  'run.failed': RunEvent
  'run.cancelled': RunEvent
  'run.skipped': RunEvent
  'run.progress': { runId: string; fraction: number | null; note: string | null }
  'transition.applied': TransitionChange
  'worker.lost': { workerId: string; host: string; pid: number }
  'claiming.paused': { reason: string | null; by: string | null }
  'claiming.resumed': { by: string | null }
}

export type EventName = keyof EventMap

const EVENT_NAMES: readonly string[] = [
  'schedule.changed',
  'schedule.paused',
  'schedule.resumed',
  'schedule.finished',
  'schedule.deleted',
  'schedule.broken',
  'run.created',
  'run.started',
  'run.succeeded',
  'run.retrying',
  'run.failed',
  'run.cancelled',
  'run.skipped',
  'run.progress',
  'transition.applied',
  'worker.lost',
  'claiming.paused',
  'claiming.resumed',
] satisfies EventName[]

/** All that can be listened to in a process: what others are told of as well, and what stays in it. */
export interface AllEvents extends EventMap, LocalEventMap {}

export type Listener<Name extends keyof AllEvents> = (event: AllEvents[Name]) => unknown

export interface EventBus {
  /** Returns the function that ends it. */
  on<Name extends keyof AllEvents>(name: Name, listener: Listener<Name>): () => void
  /** Whether anybody listens: what nobody hears need not be told. */
  has(name: keyof AllEvents): boolean
  emit<Name extends keyof AllEvents>(name: Name, event: AllEvents[Name]): void
}

export function createEventBus(logger: Logger): EventBus {
  const listeners = new Map<keyof AllEvents, Set<Listener<never>>>()
  const known: readonly string[] = [...EVENT_NAMES, ...LOCAL_EVENT_NAMES]
  return {
    on(name, listener) {
      if (!known.includes(name)) {
        throw new EscapementError('option_invalid', {
          message: `There is no event "${name}"${didYouMean(name, known)}.`,
        })
      }
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return () => void set.delete(listener)
    },
    has: (name) => (listeners.get(name)?.size ?? 0) > 0,
    emit(name, event) {
      for (const listener of listeners.get(name) ?? []) {
        // A listener's mistake must not undo or stop what it was told about, now or later.
        const failed = (error: unknown) =>
          logger.error({ event: name, err: error }, 'an event listener threw')
        try {
          const result: unknown = listener(event as never)
          if (result instanceof Promise) result.catch(failed)
        } catch (error) {
          failed(error)
        }
      }
    },
  }
}
