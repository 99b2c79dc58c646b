import { hostChance } from '../../src/chance.js'
import { every, type ScheduleDefinition } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { createAhead } from '../../src/scheduler/ahead.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'
import { sharedDatabase } from './database.js'
import { openHarness } from './harness.js'
import { noWorker } from './no-worker.js'

export const AT = Date.parse('2026-03-01T00:00:30Z')
export const DUE = '2026-03-01T00:01:00.000Z'
const minutely = { job: 'noop', timing: every('1 minute') }

/** Schedules that a scheduler has planned half a minute before they are due. */
export async function planned(
  definition: Partial<ScheduleDefinition> = {},
  { names = ['s'], firstBatch = 100 } = {},
) {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  for (const name of names) await h.schedules.put(name, { ...minutely, ...definition } as typeof minutely)
  const clock = createManualClock(AT)
  const store = createStore(await sharedDatabase(), h.schema, clock)
  const open = async () => {
    const calls = {
      around: <T>(make: (channel: string | null) => Promise<T>) => make(null),
      close: async () => {},
    }
    const parts = {
      store,
      calls,
      worker: noWorker,
      logger: silentLogger,
      zoneData: ZONE_DATA,
      chance: hostChance,
    }
    const ahead = createAhead(parts, { firstBatch })
    await ahead.look(30_000, 1_000)
    return ahead
  }
  const ahead = await open()
  const fireAt = async (at: string, which = ahead) => {
    clock.set(Date.parse(at))
    h.jump({ milliseconds: Date.parse(at) - h.now().getTime() })
    const batches: [schedules: number, runs: number][] = []
    await which.fire(({ schedules, created }) => batches.push([schedules, created.length]))
    return batches
  }
  return { h, store, clock, ahead, open, fireAt }
}
