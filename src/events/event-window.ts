import type { EventCounts, EventName } from './bus.js'

/** Those of which a busy process has thousands in a second. */
const COMMON: ReadonlySet<EventName> = new Set<EventName>([
  'run.created',
  'run.started',
  'run.progress',
  'run.succeeded',
  'transition.applied',
])
/** A flood of runs must not hide that a schedule was paused: the rest of the room is for what is rare. */
const COMMON_SHARE = 0.8

/**
 * What is gathered until it is sent on. It is bounded in bytes: what finds no room is counted by its name instead, and once
 * that has begun nothing more is looked at until it is taken.
 */
export class EventWindow<Entry> {
  /** How many bytes it holds at most. */
  room: number
  readonly #entries = new Map<string | number, { name: EventName; entry: Entry; bytes: number }>()
  readonly #isFull = { common: false, rare: false }
  #bytes = 0
  readonly #dropped = new Map<EventName, number>()
  #added = 0

  constructor(room: number) {
    this.room = room
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#dropped.size === 0
  }

  /** Whether it takes one more of that name; if not, it has counted it. */
  admits(name: EventName): boolean {
    if (!this.#isFull[kindOf(name)]) return true
    this.drop(name)
    return false
  }

  /** Of those that have the same `key` only the newest is kept. */
  add(name: EventName, entry: Entry, bytes: number, key?: string): void {
    const room = this.room * (kindOf(name) === 'common' ? COMMON_SHARE : 1)
    const replaced = key === undefined ? undefined : this.#entries.get(key)
    const sum = this.#bytes + bytes - (replaced?.bytes ?? 0)
    if (sum > room) {
      // One that would not even fit alone leaves the room to others.
      if (bytes <= room) this.#isFull[kindOf(name)] = true
      this.drop(name)
      return
    }
    if (key !== undefined) this.#entries.delete(key)
    this.#entries.set(key ?? this.#added++, { name, entry, bytes })
    this.#bytes = sum
  }

  /** Counts what is not to be had in any other way. */
  drop(name: EventName, count = 1): void {
    this.#dropped.set(name, (this.#dropped.get(name) ?? 0) + count)
  }

  /** Empties it, in the order of what was added. */
  take(): { entries: { name: EventName; entry: Entry }[]; dropped: EventCounts } {
    const taken = { entries: [...this.#entries.values()], dropped: Object.fromEntries(this.#dropped) }
    this.#entries.clear()
    this.#bytes = 0
    this.#dropped.clear()
    this.#isFull.common = false
    this.#isFull.rare = false
    return taken
  }
}

function kindOf(name: EventName): 'common' | 'rare' {
  return COMMON.has(name) ? 'common' : 'rare'
}
