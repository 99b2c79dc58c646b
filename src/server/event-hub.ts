import { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { quote, readOrThrow } from '../time/report.js'
import type { EventFilter } from './event-batch.js'
import { createEventGathering } from './event-gathering.js'
import { createEventGroups } from './event-groups.js'
import { EventReader } from './event-reader.js'
import { createEventRing, type RingItem } from './event-ring.js'

/**
 * Hears the events of all processes once, for all readers of one server.
 *
 * What is heard within a moment is a batch: it gets its ids, is encoded once, and goes into a ring that is bounded. Readers have
 * no buffers: each has a position in the ring, from which it is given batch after batch as fast as it takes them. So one
 * that is slow costs the others nothing; when the ring no longer has what it is to be given next, its stream is ended, and it
 * may come back. One that comes back goes on where it was, for as long as that is in the ring.
 */
export interface EventHub {
  /** Whether there are as many readers as there may be. */
  readonly isFull: boolean
  /** Begins to hear events, if it does not yet; without a reader it goes on for a minute. */
  open(): Promise<void>
  join(reader: {
    filter: EventFilter
    /** Where to go on, if that can be; else with what is told next. */
    lastEventId: string | undefined
    /** Its stream is over, whoever ended it. */
    onEnd(): void
  }): EventReader
  /** Ends all streams at once, and hears nothing more. */
  close(): Promise<void>
}

/** How events are streamed. */
export interface EventHubOptions {
  /**
   * How many readers there may be at once.
   * @default 1000
   */
  readers?: number
  /**
   * How often a stream that has nothing to tell shows that it is alive. Less than proxies on the way wait for.
   * @default '15s'
   */
  heartbeat?: DurationInput
  /**
   * How many events are kept at most for readers that are behind, or come back.
   * @default 10000
   */
  keptEvents?: number
  /**
   * The same in bytes.
   * @default 4194304
   */
  keptBytes?: number
}

export const EVENT_HUB_DEFAULTS = {
  readers: 1_000,
  heartbeat: '15s',
  keptEvents: 10_000,
  keptBytes: 4 * 1024 * 1024,
} satisfies EventHubOptions

const SHORTEST_HEARTBEAT_MS = 1_000
const LONGEST_HEARTBEAT_MS = 3_600_000
const LINGER_MS = 60_000
/** The more readers, the smaller a batch: in a flood the server has other things to do than to send the same to hundreds. */
const BATCH_BYTES_OF_ALL = 4 * 1024 * 1024
const LARGEST_BATCH_BYTES = 64 * 1024
/** Room for the longest error that is kept, whatever it is written in. */
const SMALLEST_BATCH_BYTES = 16 * 1024

export function createEventHub(
  { onAny, groupsOf }: Pick<Escapement, 'onAny' | 'groupsOf'>,
  options: EventHubOptions = {},
): EventHub {
  const { most, heartbeatMs, kept } = readEventHubOptions(options)
  const groups = createEventGroups(groupsOf)
  const gathering = createEventGathering({ groups, publish })
  const readers = new Set<EventReader>()
  let ring = createEventRing(kept)
  let hearing: Promise<() => Promise<void>> | undefined
  let beating: NodeJS.Timeout | undefined
  let lingering: NodeJS.Timeout | undefined
  let closed = false

  function publish(items: readonly RingItem[]): void {
    ring.push(items)
    for (const reader of readers) {
      if (reader.isBehind) reader.end()
      else reader.wake()
    }
  }

  function setRoom(): void {
    const share = Math.floor(BATCH_BYTES_OF_ALL / Math.max(1, readers.size))
    gathering.setRoom(Math.max(SMALLEST_BATCH_BYTES, Math.min(share, LARGEST_BATCH_BYTES)))
  }

  function linger(): void {
    clearTimeout(lingering)
    lingering = setTimeout(() => stop().catch(() => {}), LINGER_MS).unref()
  }

  function leave(reader: EventReader): void {
    readers.delete(reader)
    setRoom()
    if (readers.size > 0) return
    clearInterval(beating)
    linger()
  }

  /** What happens from now on is not in the ring: nobody can go on from what is. */
  async function stop(): Promise<void> {
    clearTimeout(lingering)
    gathering.stop()
    ring = createEventRing(kept)
    const heard = hearing
    hearing = undefined
    await (await heard)?.()
  }

  return {
    get isFull() {
      return readers.size >= most
    },
    async open() {
      if (closed) throw new EscapementError('closed', { message: 'The event hub is closed.' })
      if (readers.size === 0) linger()
      setRoom()
      hearing ??= onAny(gathering.hear, gathering.miss)
      try {
        await hearing
      } catch (error) {
        hearing = undefined
        throw error
      }
    },
    join({ filter, lastEventId, onEnd }) {
      const onOver = (reader: EventReader) => {
        leave(reader)
        onEnd()
      }
      const reader = new EventReader({ ring, groups, filter, lastEventId, onEnd: onOver })
      if (readers.size === 0) {
        clearTimeout(lingering)
        beating = setInterval(() => {
          for (const each of readers) each.beat()
        }, heartbeatMs).unref()
      }
      readers.add(reader)
      setRoom()
      if (closed || readers.size > most) reader.end()
      return reader
    },
    async close() {
      closed = true
      for (const reader of readers) reader.end()
      await stop()
    },
  }
}

function readEventHubOptions(options: EventHubOptions) {
  const { readers, heartbeat, keptEvents, keptBytes } = { ...EVENT_HUB_DEFAULTS, ...options }
  return readOrThrow('option_invalid', (report) => {
    for (const [field, count] of Object.entries({ readers, keptEvents, keptBytes })) {
      if (!Number.isSafeInteger(count) || count < 1) {
        report(`events.${field}`, `${quote(count)} – must be a whole number from 1 on`)
      }
    }
    const heartbeatMs = readElapsed(heartbeat, 'events.heartbeat', report) ?? 0
    if (heartbeatMs < SHORTEST_HEARTBEAT_MS || heartbeatMs > LONGEST_HEARTBEAT_MS) {
      report('events.heartbeat', `${quote(heartbeat)} – must be from 1 second to 1 hour`)
    }
    return { most: readers, heartbeatMs, kept: { events: keptEvents, bytes: keptBytes } }
  })
}
