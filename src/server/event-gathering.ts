import { monotonicMs } from '../clock.js'
import type { AnyEvent, EventCounts, EventName, MissedEvents } from '../events/bus.js'
import { EventWindow } from '../events/event-window.js'
import type { EventGroups } from './event-groups.js'
import type { RingItem } from './event-ring.js'

const GATHER_MS = 50
const RESYNC_EVERY_MS = 1_000
/** What frames an event: its id, its name, and the words before them. */
const FRAME_BYTES = 64

/** Gathers what is heard within a moment. What is too much for a batch, or was missed elsewhere, becomes a resync. */
export interface EventGathering {
  hear(told: AnyEvent): void
  miss(missed: MissedEvents): void
  /** How many bytes a batch may have. */
  setRoom(bytes: number): void
  stop(): void
}

interface Missed {
  reason: MissedEvents['reason']
  /** Null where it is not known. */
  missing: ReadonlySet<EventName> | null
}

export function createEventGathering(parts: {
  groups: EventGroups
  publish(items: readonly RingItem[]): void
}): EventGathering {
  const { groups } = parts
  const window = new EventWindow<RingItem>(0)
  let missed: Missed | undefined
  let resyncAtMs = Number.NEGATIVE_INFINITY
  let gathering: NodeJS.Timeout | undefined
  let resyncing: NodeJS.Timeout | undefined

  function publishSoon(): void {
    gathering ??= setTimeout(publish, GATHER_MS)
  }

  function publish(): void {
    clearTimeout(gathering)
    gathering = undefined
    const { entries, dropped } = window.take()
    const missing = namesOf(dropped)
    if (missing.size > 0) missed = together(missed, { reason: 'dropped', missing })
    const items = entries.map(({ entry }) => entry)
    // Last, as it is about what came before.
    if (missed && isResyncDue()) items.push(takeResync(missed))
    if (items.length > 0) parts.publish(items)
  }

  /** At most once in a while: it has readers read everything anew. */
  function isResyncDue(): boolean {
    const waitMs = resyncAtMs - monotonicMs()
    if (waitMs <= 0) return true
    resyncing ??= setTimeout(() => {
      resyncing = undefined
      publish()
    }, waitMs)
    return false
  }

  function takeResync({ reason, missing }: Missed): RingItem {
    missed = undefined
    resyncAtMs = monotonicMs() + RESYNC_EVERY_MS
    return { name: 'resync', scheduleId: null, group: undefined, missing, data: JSON.stringify({ reason }) }
  }

  return {
    hear(told) {
      const { name, event } = told
      const scheduleId = 'scheduleId' in event ? event.scheduleId : null
      let group: string | null | undefined
      if (scheduleId !== null && name.startsWith('schedule.')) {
        // Of one that is deleted it may be too late to ask.
        if (name === 'schedule.deleted') group = groups.known(scheduleId)
        groups.forget(scheduleId)
      }
      if (window.admits(name)) {
        const data = JSON.stringify(event)
        const item = { name, scheduleId, group, missing: null, data }
        const key = name === 'run.progress' ? event.runId : undefined
        window.add(name, item, Buffer.byteLength(data) + FRAME_BYTES, key)
      }
      publishSoon()
    },
    miss({ reason, dropped }) {
      // What was not heard may have moved a schedule to another group.
      groups.forgetAll()
      missed = together(missed, { reason, missing: reason === 'dropped' ? namesOf(dropped) : null })
      publishSoon()
    },
    setRoom(bytes) {
      window.room = bytes
    },
    stop() {
      clearTimeout(gathering)
      clearTimeout(resyncing)
      gathering = undefined
      resyncing = undefined
      missed = undefined
      window.take()
    },
  }
}

function namesOf(counts: EventCounts): ReadonlySet<EventName> {
  return new Set(Object.keys(counts) as EventName[])
}

function together(one: Missed | undefined, other: Missed): Missed {
  if (!one) return other
  const reason = one.reason === 'disconnected' ? one.reason : other.reason
  const missing = one.missing && other.missing ? new Set([...one.missing, ...other.missing]) : null
  return { reason, missing }
}
