import type { EventName } from '../events/bus.js'
import type { EventGroups } from './event-groups.js'

/** Which events a reader wants, or may have. */
export interface EventFilter {
  /** Null for all. */
  names: ReadonlySet<EventName> | null
  /** Null for all; else only what concerns schedules of that group. */
  group: string | null
}

/** Why a reader had better read everything anew. */
export type ResyncReason = 'unknown_id' | 'dropped' | 'disconnected'

/** An event, or the news that events are missing, as it goes out. */
export interface BatchEntry {
  sequence: number
  name: EventName | 'resync'
  scheduleId: string | null
  /** Where it was known when the event was heard: of one that is deleted it may be too late to ask. */
  group: string | null | undefined
  /** Of a resync: the names of which some are missing; null where that is not known. */
  missing: ReadonlySet<EventName> | null
  text: string
}

/** What was heard within a moment. It is encoded once for all readers that want the same of it. */
export interface EventBatch {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly bytes: number
  /** Of what follows that sequence; null where nothing is for that reader. */
  encode(filter: EventFilter, after: number, groups: EventGroups): Promise<Uint8Array | null>
}

/** So many ways to filter share what is encoded; beyond, each reader has its own, for as long as it takes to send it. */
const MOST_SHARED = 16

export function createEventBatch(entries: readonly BatchEntry[], lastId: string): EventBatch {
  const first = entries[0]!.sequence
  const last = entries.at(-1)!.sequence
  const shared = new Map<string, Promise<Uint8Array | null>>()

  async function encode(filter: EventFilter, after: number, groups: EventGroups): Promise<Uint8Array | null> {
    const wanted = entries.filter((entry) => entry.sequence > after && isNamed(entry, filter))
    const { allowed, isUnsure } = await inGroup(wanted, filter.group, groups)
    const texts = allowed.map(({ text }) => text)
    if (isUnsure) texts.push(resyncText(lastId, 'dropped'))
    return texts.length === 0 ? null : Buffer.from(texts.join(''))
  }

  return {
    first,
    last,
    count: entries.length,
    bytes: entries.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    encode(filter, after, groups) {
      // Only who comes back in the middle of a batch has a part of it to himself.
      if (after >= first) return encode(filter, after, groups)
      const key = JSON.stringify([filter.group, filter.names && [...filter.names].sort()])
      const known = shared.get(key) ?? encode(filter, after, groups)
      if (shared.size < MOST_SHARED) shared.set(key, known)
      return known
    },
  }
}

function isNamed({ name, missing }: BatchEntry, { names }: EventFilter): boolean {
  if (names === null) return true
  if (name !== 'resync') return names.has(name)
  return missing === null || [...missing].some((each) => names.has(each))
}

/** What may be told to readers of a group, and whether there may be more that is theirs. */
async function inGroup(entries: readonly BatchEntry[], group: string | null, groups: EventGroups) {
  if (group === null) return { allowed: entries, isUnsure: false }
  const asked = entries.flatMap(({ scheduleId, group }) =>
    scheduleId !== null && group === undefined ? [scheduleId] : [],
  )
  const found = await groups.find(asked).catch(() => null)
  if (found === null) return { allowed: entries.filter(({ name }) => name === 'resync'), isUnsure: true }
  const groupOf = (entry: BatchEntry) =>
    entry.scheduleId === null ? null : entry.group === undefined ? found.get(entry.scheduleId) : entry.group
  return {
    allowed: entries.filter((entry) => entry.name === 'resync' || groupOf(entry) === group),
    // Nothing is left that could say whose it was.
    isUnsure: entries.some((entry) => entry.name === 'schedule.deleted' && groupOf(entry) === undefined),
  }
}

export function eventText(id: string, name: string, data: string): string {
  return `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`
}

export function resyncText(id: string, reason: ResyncReason): string {
  return eventText(id, 'resync', JSON.stringify({ reason }))
}
