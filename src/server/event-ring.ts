import { randomBytes } from 'node:crypto'
import { type BatchEntry, createEventBatch, type EventBatch, eventText } from './event-batch.js'

/**
 * The newest batches. Each event has a sequence, counted from 1, and an id, `<instance>-<sequence>`: the instance is another
 * one for each ring, so that an id of another server, or of this one before it was started anew, is not taken for one of these.
 */
export interface EventRing {
  /** The sequence of the newest event, whether or not it is still here; 0 before the first one. */
  readonly last: number
  push(items: readonly RingItem[]): void
  /** The batch that holds what follows that sequence; none if there is nothing yet. */
  following(sequence: number): EventBatch | undefined
  /** Whether all that follows that sequence is here. */
  reaches(sequence: number): boolean
  idOf(sequence: number): string
  /** The sequence of an event with that id if all that followed it is here. */
  sequenceOf(id: string): number | undefined
}

export type RingItem = Omit<BatchEntry, 'sequence' | 'text'> & { data: string }

const ID = /^([0-9a-f]+)-(\d{1,15})$/

export function createEventRing(kept: { events: number; bytes: number }): EventRing {
  const instance = randomBytes(6).toString('hex')
  const batches: EventBatch[] = []
  let events = 0
  let bytes = 0
  let last = 0

  const idOf = (sequence: number) => `${instance}-${sequence}`
  const reaches = (sequence: number) => sequence <= last && sequence >= (batches[0]?.first ?? last + 1) - 1

  return {
    get last() {
      return last
    },
    push(items) {
      const entries = items.map(({ data, ...item }) => {
        last += 1
        return { ...item, sequence: last, text: eventText(idOf(last), item.name, data) }
      })
      const batch = createEventBatch(entries, idOf(last))
      batches.push(batch)
      events += batch.count
      bytes += batch.bytes
      // The newest stays in any case: somebody may be about to read it.
      while (batches.length > 1 && (events > kept.events || bytes > kept.bytes)) {
        const oldest = batches.shift()!
        events -= oldest.count
        bytes -= oldest.bytes
      }
    },
    following(sequence) {
      // Most readers are near the end.
      let index = batches.length
      while (index > 0 && batches[index - 1]!.last > sequence) index -= 1
      return batches[index]
    },
    reaches,
    idOf,
    sequenceOf(id) {
      const [, ofInstance, digits] = ID.exec(id) ?? []
      const sequence = Number(digits)
      return ofInstance === instance && reaches(sequence) ? sequence : undefined
    },
  }
}
