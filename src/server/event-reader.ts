import { type EventFilter, resyncText } from './event-batch.js'
import type { EventGroups } from './event-groups.js'
import type { EventRing } from './event-ring.js'

/** How long a client waits before it comes back. */
const RETRY_MS = 2_000

/** One that is given what follows its position, as fast as it takes it. It holds nothing itself. */
export class EventReader {
  readonly #ring: EventRing
  readonly #groups: EventGroups
  readonly #filter: EventFilter
  readonly #onEnd: (reader: EventReader) => void
  #position: number
  #greeting: string | null
  #isBeatDue = false
  #isOver = false
  #wake = () => {}

  constructor(parts: {
    ring: EventRing
    groups: EventGroups
    filter: EventFilter
    /** Follows on it where that can be; else it begins with a resync. Without one, it begins with what is told next. */
    lastEventId: string | undefined
    onEnd: (reader: EventReader) => void
  }) {
    const { ring, lastEventId } = parts
    this.#ring = ring
    this.#groups = parts.groups
    this.#filter = parts.filter
    this.#onEnd = parts.onEnd
    const found = lastEventId === undefined ? ring.last : ring.sequenceOf(lastEventId)
    this.#position = found ?? ring.last
    // The id alone: who is cut off before the first event goes on from here too.
    const id = ring.idOf(this.#position)
    const beginning = found === undefined ? resyncText(id, 'unknown_id') : `id: ${id}\n\n`
    this.#greeting = `retry: ${RETRY_MS}\n${beginning}`
  }

  /** Whether the ring still has all that it has not been given. */
  get isBehind(): boolean {
    return !this.#ring.reaches(this.#position)
  }

  /** What comes next, as soon as there is something; null when it is over. */
  async next(): Promise<Uint8Array | null> {
    while (!this.#isOver) {
      const bytes = await this.#take()
      if (bytes && !this.#isOver) return bytes
    }
    return null
  }

  async #take(): Promise<Uint8Array | null> {
    if (this.#greeting !== null) {
      const greeting = this.#greeting
      this.#greeting = null
      return Buffer.from(greeting)
    }
    const batch = this.#ring.following(this.#position)
    if (batch) {
      const bytes = await batch.encode(this.#filter, this.#position, this.#groups)
      this.#position = batch.last
      return bytes
    }
    if (this.#isBeatDue) {
      this.#isBeatDue = false
      // With the id: one that wants little would else be taken for long gone when it comes back.
      return Buffer.from(`: \nid: ${this.#ring.idOf(this.#position)}\n\n`)
    }
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return null
  }

  /** There may be something new. */
  wake(): void {
    this.#wake()
  }

  /** Shows that it is alive, unless it has something better to say. */
  beat(): void {
    this.#isBeatDue = true
    this.#wake()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#wake()
    this.#onEnd(this)
  }
}
