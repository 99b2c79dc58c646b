import { EscapementError } from '../errors.js'
import type { Logger } from '../logger.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'
import type { TransitionChange } from '../transitions/change.js'
import { LOCAL_EVENT_NAMES, type LocalEventMap } from './local-events.js'

/** What a run's events tell. */
export interface RunEvent {
  runId: string
  job: string
  /** Null for a direct run, as are scope and plan time. */
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

/** What a schedule's events tell. */
export interface ScheduleEvent {
  scheduleId: string
  /** Its name. */
  schedule: string
  /** Bumped by every edit. */
  version: number
}

/** Each event's name and what it carries. Events are hints about what was done; the database is the truth. */
export interface EventMap {
  /** It was put, patched, renamed or synchronised, or a plan time of it was wished away. */
  'schedule.changed': ScheduleEvent
  /** Nothing is planned until it is resumed. */
  'schedule.paused': ScheduleEvent
  /** By a person, or because its pause came to its end. */
  'schedule.resumed': ScheduleEvent
  /** It has no plan time left. */
  'schedule.finished': ScheduleEvent
  /** By a person, by a sync with `prune`, or as `deleteWhenDone` asks. */
  'schedule.deleted': ScheduleEvent
  /** Its breaker has taken it out. */
  'schedule.broken': ScheduleEvent & { reason: string }
  /** It waits to be claimed. Not told of those that were enqueued inside a transaction of your own, or from SQL. */
  'run.created': RunEvent
  /** A worker has claimed it. */
  'run.started': RunEvent
  /** Its handler has returned, and that is recorded. */
  'run.succeeded': RunEvent
  /** An attempt failed, and another follows. */
  'run.retrying': RunEvent
  /** Its attempts are used up. */
  'run.failed': RunEvent
  /** By a person, or because a later run took its place. */
  'run.cancelled': RunEvent
  /** Its gate has turned it away. */
  'run.skipped': RunEvent
  /** How far its handler has come: the newest, about once a second. */
  'run.progress': { runId: string; scheduleId: string | null; fraction: number | null; note: string | null }
  /** A row of a declared table was changed. */
  'transition.applied': TransitionChange
  /** A worker has died, or was not heard of for too long. */
  'worker.lost': { workerId: string; host: string; pid: number }
  /** No run is begun any more, in all processes. */
  'claiming.paused': { reason: string | null; by: string | null }
  /** Runs are begun again. */
  'claiming.resumed': { by: string | null }
}

export type EventName = keyof EventMap

export const EVENT_NAMES = [
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
] as const satisfies EventName[]

const NAMES: ReadonlySet<unknown> = new Set(EVENT_NAMES)

export function isEventName(name: unknown): name is EventName {
  return NAMES.has(name)
}

/** All that can be listened to in a process: what others are told of as well, and what stays in it. */
export interface AllEvents extends EventMap, LocalEventMap {}

export type Listener<Name extends keyof AllEvents> = (event: AllEvents[Name]) => unknown

/** An event of any name, and whether this process did what it tells. */
export type AnyEvent = {
  [Name in EventName]: { name: Name; event: EventMap[Name]; isLocal: boolean }
}[EventName]

/** How many events there were of each name. */
export type EventCounts = { [Name in EventName]?: number }

/** That something happened in other processes of which no event came: whoever shows anything had better look again. */
export interface MissedEvents {
  /** There were too many to tell, or the connection on which they are heard was lost for a moment. */
  reason: 'dropped' | 'disconnected'
  /** What was dropped, where that is known. */
  dropped: EventCounts
}

/** One that hears every event. */
export interface AnyListener {
  hear(told: AnyEvent): unknown
  missed?(missed: MissedEvents): unknown
}

/** Where what this process does is sent on to others. */
export interface EventOutlet {
  /** Whether it takes one more event of that name; if not, it has counted it. */
  admits(name: EventName): boolean
  add(told: AnyEvent): void
}

export interface EventBus {
  /** Returns the function that ends it. */
  on<Name extends keyof AllEvents>(name: Name, listener: Listener<Name>): () => void
  /** Hears what others are told of as well, not what stays in the process. */
  onAny(listener: AnyListener): () => void
  /** There is one at most. */
  attach(outlet: EventOutlet): void
  /** Whether anybody hears an event of that name: asked before one is built, as a busy worker's are too many to be sent. */
  has(name: keyof AllEvents): boolean
  /** Tells what this process did. */
  emit<Name extends keyof AllEvents>(name: Name, event: AllEvents[Name]): void
  /** Tells what another process did, to those who hear every event. */
  relay(told: AnyEvent): void
  miss(missed: MissedEvents): void
}

export function createEventBus(logger: Logger): EventBus {
  const listeners = new Map<keyof AllEvents, Set<Listener<never>>>()
  const anyListeners = new Set<AnyListener>()
  let outlet: EventOutlet | undefined

  /** A listener's mistake must not undo or stop what it was told about, now or later. */
  function call(name: string, listener: () => unknown): void {
    const failed = (error: unknown) => logger.error({ event: name, err: error }, 'an event listener threw')
    try {
      const result = listener()
      if (result instanceof Promise) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  return {
    on(name, listener) {
      if (!KNOWN_NAMES.includes(name)) throw noSuchEvent(name)
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return () => void set.delete(listener)
    },
    onAny(listener) {
      anyListeners.add(listener)
      return () => void anyListeners.delete(listener)
    },
    attach(given) {
      outlet = given
    },
    has(name) {
      if ((listeners.get(name)?.size ?? 0) > 0) return true
      // The outlet last: it counts what it refuses, and where others hear it `emit` asks.
      return isEventName(name) && (anyListeners.size > 0 || (outlet?.admits(name) ?? false))
    },
    emit(name, event) {
      for (const listener of listeners.get(name) ?? []) call(name, () => listener(event as never))
      if (!isEventName(name)) return
      const isSent = outlet?.admits(name)
      if (!isSent && anyListeners.size === 0) return
      const told = { name, event, isLocal: true } as AnyEvent
      for (const listener of anyListeners) call(name, () => listener.hear(told))
      if (isSent) call(name, () => outlet?.add(told))
    },
    relay(told) {
      for (const listener of anyListeners) call(told.name, () => listener.hear(told))
    },
    miss(missed) {
      for (const listener of anyListeners) call('missed', () => listener.missed?.(missed))
    },
  }
}

const KNOWN_NAMES: readonly string[] = [...EVENT_NAMES, ...LOCAL_EVENT_NAMES]

function noSuchEvent(name: unknown): EscapementError {
  const hint = didYouMean(String(name), KNOWN_NAMES)
  return new EscapementError('option_invalid', { message: `There is no event ${quote(name)}${hint}.` })
}
