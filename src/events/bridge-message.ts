import { storablePrefix } from '../runs/storable.js'
import { type AnyEvent, type EventCounts, type EventName, isEventName } from './bus.js'

/**
 * What processes send each other: `{"origin", "dropped": {name: count}, "events": [[name, event], …]}`, dates as ISO text.
 * PostgreSQL takes less than 8,000 bytes in a notification.
 */
const LARGEST_MESSAGE = 7_900
/** For everything but the events: the origin, and each name with a count of ten digits. */
const FRAME = 700
export const ROOM_FOR_EVENTS = LARGEST_MESSAGE - FRAME

/** Of what people and programs write: a reason or an error may be longer than a whole message. */
const LONGEST_PROSE = 300

/** Their text as the message holds it, each with the comma that follows. */
export function writeEvent({ name, event }: AnyEvent): { text: string; bytes: number } {
  const text = JSON.stringify([name, withShortProse(event)])
  return { text, bytes: Buffer.byteLength(text) + 1 }
}

export function writeMessage(message: {
  origin: string
  dropped: EventCounts
  events: readonly string[]
}): string {
  const dropped = JSON.stringify(message.dropped)
  return `{"origin":"${message.origin}","dropped":${dropped},"events":[${message.events.join(',')}]}`
}

export interface ReadMessage {
  origin: string
  dropped: EventCounts
  events: AnyEvent[]
}

/** Null for what is none of ours. Names that we do not know are left out: a newer version may have them. */
export function readMessage(text: string): ReadMessage | null {
  try {
    const { origin, dropped, events } = JSON.parse(text) as {
      origin: unknown
      dropped: Record<string, number>
      events: [string, Record<string, unknown>][]
    }
    if (typeof origin !== 'string') return null
    return {
      origin,
      dropped: Object.fromEntries(Object.entries(dropped).filter(([name]) => isEventName(name))),
      events: events.flatMap(([name, event]) => (isEventName(name) ? [elsewhere(name, event)] : [])),
    }
  } catch {
    return null
  }
}

function elsewhere(name: EventName, event: Record<string, unknown>): AnyEvent {
  for (const field of ['planTime', 'dueAt', 'appliedAt']) {
    if (typeof event[field] === 'string') event[field] = new Date(event[field])
  }
  return { name, event, isLocal: false } as unknown as AnyEvent
}

function withShortProse(event: AnyEvent['event']): object {
  if ('error' in event && event.error) {
    return { ...event, error: { ...event.error, message: short(event.error.message) } }
  }
  if ('note' in event && event.note !== null) return { ...event, note: short(event.note) }
  if ('reason' in event && event.reason !== null) return { ...event, reason: short(event.reason) }
  return event
}

function short(prose: string): string {
  return prose.length <= LONGEST_PROSE ? prose : `${storablePrefix(prose, LONGEST_PROSE - 1)}…`
}
