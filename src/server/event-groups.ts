import { monotonicMs } from '../clock.js'

/** In which group a schedule is, for readers that may only hear of one. */
export interface EventGroups {
  /** Undefined where it is not known without asking. */
  known(scheduleId: string): string | null | undefined
  /** It may be another one by now. */
  forget(scheduleId: string): void
  forgetAll(): void
  /** The groups of these, asked for in one statement where they are not known; of what is gone for good there is none. */
  find(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, string | null>>
}

const MOST_KNOWN = 10_000
/** A process that dies tells nobody what it did last: what is known is asked for again after a while. */
const KNOWN_FOR_MS = 60_000

export function createEventGroups(
  findGroups: (scheduleIds: readonly string[]) => Promise<Map<string, string | null>>,
): EventGroups {
  const known = new Map<string, string | null>()
  let knownUntilMs = 0
  let forgotten = 0

  function forgetAll(): void {
    forgotten += 1
    known.clear()
  }

  return {
    known: (scheduleId) => known.get(scheduleId),
    forget(scheduleId) {
      forgotten += 1
      known.delete(scheduleId)
    },
    forgetAll,
    async find(scheduleIds) {
      if (monotonicMs() > knownUntilMs) {
        forgetAll()
        knownUntilMs = monotonicMs() + KNOWN_FOR_MS
      }
      const found = new Map<string, string | null>()
      const unknown: string[] = []
      for (const id of new Set(scheduleIds)) {
        const group = known.get(id)
        if (group === undefined) unknown.push(id)
        else found.set(id, group)
      }
      if (unknown.length === 0) return found
      const before = forgotten
      for (const [id, group] of await findGroups(unknown)) {
        found.set(id, group)
        // What was changed while we asked may have been read as it was before.
        if (forgotten === before) known.set(id, group)
      }
      for (const id of known.keys()) {
        if (known.size <= MOST_KNOWN) break
        known.delete(id)
      }
      return found
    },
  }
}
