import { assemble, type Escapement } from '../../escapement.js'
import { rowsOf } from '../../store/pglite-engine.js'
import type { EngineHere } from '../../store/pglite-here.js'
import { msUntilEligible } from '../../store/queries/claiming.js'
import { msUntilLeaseExpires } from '../../store/queries/leases.js'
import { msUntilWake } from '../../store/queries/planning.js'
import { msUntilDue as msUntilSweep } from '../../store/queries/transition-sweep.js'
import { TIMING_KINDS } from '../../time/timing.js'
import { createHost, type Define, type ProcessLife, type ProcessOptions } from './process.js'
import { type Recorded, readRecorded } from './record.js'
import { seededChance } from './seeded-chance.js'
import type { Asked } from './simulated-database.js'
import { simulatedDatabase } from './simulated-database.js'
import type { SimulatedTime } from './simulated-time.js'

/** One who stands outside of the simulation: asks the database at once, and is befallen by no fault. */
export interface Observer {
  readonly escapement: Escapement
  /** Milliseconds until something is due that these processes would do; 0 if something is. */
  msUntilDue(lives: readonly ProcessLife[]): Promise<number>
  /** Whether a run is leased to somebody. */
  hasLeases(): Promise<boolean>
  readRecorded(): Promise<Recorded>
}

export async function createObserver(
  engine: EngineHere,
  time: SimulatedTime,
  { seed, options, define }: { seed: number; options: ProcessOptions; define: Define },
): Promise<Observer> {
  const asked: Asked = { ask: async (_, request) => rowsOf(await engine.request(request)) }
  const self = { name: 'observer', locks: new Set<string>(), isFrozen: () => false, isGone: false }
  const database = simulatedDatabase(asked, self, new Map())
  const chance = seededChance(seed, self.name)
  const { escapement, settings, store } = await assemble(
    { ...options, database, clock: time.clockOf(self) },
    chance,
  )
  await define(escapement, createHost(self, time, chance))
  return {
    escapement,
    async msUntilDue(lives) {
      const assemblies = lives.flatMap(({ assembly }) => assembly ?? [])
      const jobs = new Map(assemblies.flatMap((one) => one.jobs.all().map((job) => [job.name, job])))
      const providers = [...jobs.values()].flatMap(({ name, scopes }) => (scopes ? [name] : []))
      const tables = new Map(
        assemblies.flatMap((one) => one.tables.all().map((table) => [table.name, table])),
      )
      const waits = [
        await msUntilWake(store, { kinds: TIMING_KINDS, providers }),
        await msUntilEligible(store, { queues: settings.worker.queues, jobs: [...jobs.keys()] }),
        await msUntilLeaseExpires(store),
      ]
      for (const table of tables.values()) waits.push(await msUntilSweep(store, table))
      return Math.min(...waits.map((ms) => ms ?? Number.POSITIVE_INFINITY))
    },
    hasLeases: async () => (await msUntilLeaseExpires(store)) !== null,
    readRecorded: () => readRecorded(escapement, store),
  }
}
