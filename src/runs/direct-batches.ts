import type { Chance } from '../chance.js'
import type { Instant } from '../time/instant.js'
import type { DirectRun } from './direct-run.js'
import { directRunIdOf } from './run-id.js'
import { newUuids } from './uuid.js'

/** What one statement writes: runs, and beside them their ids. */
export interface DirectBatch {
  ids: readonly string[]
  runs: readonly DirectRun[]
}

export const LARGEST_BATCH = { runs: 5_000, characters: 8_000_000 }

/** Without a key, ids are new, and greater from one to the next. */
export function identify(runs: readonly DirectRun[], now: Instant, chance: Chance): string[] {
  const fresh = newUuids(now, runs.length, chance)
  return runs.map(({ job, key }, index) => (key === null ? fresh[index]! : directRunIdOf(job, key)))
}

/**
 * Cuts runs into batches in the order of their ids, so that two callers with the same keys wait for each other and not in
 * a circle. Of those that share an id the first counts.
 */
export function toBatches({ ids, runs }: DirectBatch): DirectBatch[] {
  const order = [...ids.keys()]
  if (runs.some(({ key }) => key !== null))
    order.sort((a, b) => (ids[a]! < ids[b]! ? -1 : ids[a]! > ids[b]! ? 1 : 0))
  const batches: { ids: string[]; runs: DirectRun[] }[] = []
  let batch: (typeof batches)[number] | undefined
  let characters = 0
  let last = ''
  for (const index of order) {
    const [id, run] = [ids[index]!, runs[index]!]
    if (id === last) continue
    last = id
    characters += run.input.length
    if (!batch || batch.ids.length === LARGEST_BATCH.runs || characters > LARGEST_BATCH.characters) {
      batch = { ids: [], runs: [] }
      batches.push(batch)
      characters = run.input.length
    }
    batch.ids.push(id)
    batch.runs.push(run)
  }
  return batches
}
