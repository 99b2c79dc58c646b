/**
 * What a scheduler sees to beside its ticks: newer zone data, runs that were left waiting, damaged cursors. A pass begins
 * when the scheduler starts and then every five minutes, and goes a chunk at a time between ticks, so that
 * nothing that is due waits for all of it.
 *
 * Cursors are checked in turn, by id: each pass goes on where the last one ended and starts again at the end, so its cost
 * does not grow with the number of schedules. Where the first pass begins is left to chance, so that also
 * with frequent restarts each schedule has its turn.
 */
import type { Chance } from '../chance.js'
import type { VerbParts } from '../client/verb.js'
import type { Clock } from '../clock.js'
import type { Logger } from '../logger.js'
import { fillStrandedLanes } from '../store/queries/lanes.js'
import { pruneMinutes } from '../store/queries/minutes.js'
import { pruneSkips, type Retention } from '../store/queries/pruning.js'
import { readIdRange } from '../store/queries/reconciling.js'
import { prune } from './prune.js'
import { BEFORE_ALL_IDS, reconcileOverdue, reconcileSlice } from './reconcile.js'
import { applyZoneData } from './zone-data-change.js'

const EVERY_MS = 5 * 60_000
const CHUNK = 1_000
/** Chunks of schedules whose cursors one pass checks: a million take some eight hours of passes. */
const CHUNKS = 10
/** Names in one line of the log. */
const MOST_NAMED = 20

export interface Upkeep {
  /** One chunk of the pass that is under way or due. Returns whether there is more to do at once. */
  step(): Promise<boolean>
}

export function createUpkeep(
  parts: VerbParts,
  clock: Clock,
  retention: Retention | null,
  logger: Logger,
): Upkeep {
  const { store, zoneData, chance } = parts
  let begunAt = Number.NEGATIVE_INFINITY
  let pass: AsyncGenerator<string[], void> | undefined
  let position: string | undefined

  async function* newPass(): AsyncGenerator<string[], void> {
    yield* applyZoneData(parts, logger)
    await fillStrandedLanes(store)
    yield reconcileOverdue(store, zoneData)
    if (retention !== null) {
      yield* prune(store, retention)
      await pruneMinutes(store, retention.statsMs)
    }
    position ??= idWithin(await readIdRange(store), chance)
    let isWholeTurn = position === BEFORE_ALL_IDS
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const { mended, next, ids } = await reconcileSlice(store, zoneData, { after: position, limit: CHUNK })
      if (retention !== null) await pruneSkips(store, ids, retention.failedMs)
      position = next ?? BEFORE_ALL_IDS
      yield mended
      if (next !== null) continue
      if (isWholeTurn) return
      isWholeTurn = true
    }
  }

  return {
    async step() {
      if (pass === undefined) {
        if (clock.elapsedMs() - begunAt < EVERY_MS) return false
        begunAt = clock.elapsedMs()
        pass = newPass()
      }
      try {
        const { done, value } = await pass.next()
        if (done) pass = undefined
        else if (value.length > 0) {
          logger.info(
            { count: value.length, schedules: value.slice(0, MOST_NAMED) },
            'cursors were set right',
          )
        }
        return !done
      } catch (error) {
        pass = undefined
        logger.error({ err: error }, 'the upkeep of schedules is tried again later')
        return false
      }
    },
  }
}

/** An id somewhere between two, as chance has it. */
function idWithin(range: { first: string; last: string } | undefined, chance: Chance): string {
  if (range === undefined) return BEFORE_ALL_IDS
  const [first, last] = [range.first, range.last].map((id) => BigInt(`0x${id.replaceAll('-', '')}`))
  const share = BigInt(`0x${chance.bytes(8).toString('hex')}`)
  const hex = (first! + (((last! - first!) * share) >> 64n)).toString(16).padStart(32, '0')
  return [0, 8, 12, 16, 20].map((start, index, starts) => hex.slice(start, starts[index + 1])).join('-')
}
