/**
 * Goes through the schedules whose cursors older zone data have computed, and gives them what ours lead to, once: see
 * `client/zone-data.ts`. An index finds them, and is empty most of the time.
 *
 * While schedulers with both versions run, a tick of the older one moves a cursor by its own data; reconciling of the
 * newer one then finds and mends it.
 */
import { type VerbParts, withLocked } from '../client/verb.js'
import type { Logger } from '../logger.js'
import { listOlderZoneData } from '../store/queries/zone-data.js'
import { TIMING_KINDS } from '../time/timing.js'
import { BEFORE_ALL_IDS } from './reconcile.js'

const CHUNK = 1_000

/**
 * Goes through all of them, a chunk at each step, and yields the names of those whose plan times moved. A chunk that
 * fails is left for the next time.
 */
export async function* applyZoneData(parts: VerbParts, logger: Logger): AsyncGenerator<string[], void> {
  const { store, zoneData } = parts
  let after = { zone_data: '', id: BEFORE_ALL_IDS }
  for (;;) {
    const found = await listOlderZoneData(store, { zoneData, after, kinds: TIMING_KINDS, limit: CHUNK })
    if (found.length === 0) return
    after = found.at(-1)!
    const names = found.map(({ name }) => name)
    yield await applyTo(parts, names).catch((error) => {
      logger.error({ err: error, schedules: names.length }, 'newer zone data could not be applied')
      return []
    })
  }
}

/** Every verb applies them first, so one that does nothing else will do. */
async function applyTo(parts: VerbParts, names: readonly string[]): Promise<string[]> {
  const moved: string[] = []
  const onMoved = (some: readonly string[]) => void moved.push(...some)
  await withLocked(parts, names, { action: 'zone_data', actor: undefined, onMoved }, async () => {})
  return moved
}
