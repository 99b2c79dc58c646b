import { setTimeout as pause } from 'node:timers/promises'
import type { Escapement } from '../escapement.js'
import type { LoadedConfig } from './config-file.js'
import { type Generation, type Ground, openGeneration } from './generation.js'
import type { PutSchedules } from './syncing.js'

/**
 * The configurations of one process, one after the other on one database.
 *
 * The next is opened beside the last, and everything that can be wrong with it is found while the last goes on. Then the last
 * claims nothing more, so that none of its code runs what is put from then on; the schedules are put, and the next starts. What
 * the last has in hand it finishes meanwhile, as it would when it is stopped. Both may tick for a moment: any number may, as
 * the database decides each plan time once.
 */
export interface Generations {
  readonly current: Generation
  /** How many runs are in hand, of all of them. */
  running(): number
  /** Goes on with another configuration; where that rejects, with the one before. */
  turnTo(config: LoadedConfig): Promise<PutSchedules>
  /** Waits until all of them have finished what they have in hand. */
  stop(): Promise<void>
  close(): Promise<void>
}

const TRY_AGAIN_MS = 1_000

export function createGenerations(
  ground: Ground,
  first: Generation,
  onTurn: (next: Escapement) => void,
): Generations {
  let current = first
  let isStopping = false
  /** Those that finish their runs. */
  const leaving = new Map<Generation, Promise<void>>()

  async function prepare(config: LoadedConfig): Promise<Generation> {
    const next = await openGeneration(ground, config)
    try {
      await next.declare()
      await next.put({ dryRun: true })
      return next
    } catch (error) {
      await next.escapement.close()
      throw error
    }
  }

  function leave(last: Generation): void {
    const left = last.escapement
      .close()
      .catch((error) => ground.logger.warn({ err: error }, 'the last configuration could not be closed'))
      .finally(() => leaving.delete(last))
    leaving.set(last, left)
  }

  /** Where the database is away, as it may be just when the next could not start: nobody else would try again. */
  async function startAgain(last: Generation): Promise<void> {
    while (!isStopping) {
      try {
        return await last.start()
      } catch (error) {
        ground.logger.warn({ err: error }, 'the configuration before cannot go on yet')
        await pause(TRY_AGAIN_MS)
      }
    }
  }

  return {
    get current() {
      return current
    },
    running: () =>
      [current, ...leaving.keys()].reduce((sum, { escapement }) => sum + escapement.health().running, 0),
    async turnTo(config) {
      const next = await prepare(config)
      const last = current
      const stopped = last.escapement.stop().catch(() => {})
      try {
        const report = await next.put()
        await next.start()
        onTurn(next.escapement)
        current = next
        leave(last)
        return report
      } catch (error) {
        await next.escapement.close()
        await stopped
        await startAgain(last)
        throw error
      }
    },
    async stop() {
      isStopping = true
      await Promise.all([current.escapement.stop(), ...leaving.values()])
    },
    async close() {
      isStopping = true
      await Promise.all([current.escapement.close(), ...leaving.values()])
    },
  }
}
