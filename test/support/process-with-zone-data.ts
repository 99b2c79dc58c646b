import { hostChance } from '../../src/chance.js'
import { audit } from '../../src/client/audit.js'
import { examine } from '../../src/client/doctor.js'
import { createSchedules } from '../../src/client/schedules.js'
import { databaseClock } from '../../src/clock.js'
import { createEventBus } from '../../src/events/bus.js'
import { silentLogger } from '../../src/logger.js'
import { defineJob } from '../../src/runs/job.js'
import { createJobRegistry } from '../../src/runs/job-registry.js'
import { reconcile, reconcileSlice } from '../../src/scheduler/reconcile.js'
import { createUpkeep } from '../../src/scheduler/upkeep.js'
import { applyZoneData } from '../../src/scheduler/zone-data-change.js'
import { createStore } from '../../src/store/store.js'
import type { Harness } from '../../src/testing/harness.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'

/**
 * The parts of another process on the harness's database and clock, whose runtime says that its zone data are of this
 * version. What it computes is what this runtime computes: where the data are to differ, the test writes what the other
 * data would have led to.
 */
export function processWithZoneData(h: Harness & { schema: string }, zoneData = ZONE_DATA) {
  const clock = { ...databaseClock, now: () => h.now().getTime() }
  const store = createStore(h.escapement.database, h.schema, clock)
  const jobs = createJobRegistry()
  jobs.add(defineJob('noop', { handler: () => {} }))
  const parts = { store, jobs, bus: createEventBus(silentLogger), zoneData, chance: hostChance }
  const upkeep = createUpkeep(parts, clock, null, silentLogger)
  return {
    schedules: createSchedules(parts),
    audit: () => audit(store, zoneData),
    doctor: async () => (await examine({ store, zoneData, tables: () => [] })).findings,
    reconcile: () => reconcile(store, zoneData),
    reconcileSlice: (from: { after: string; limit: number }) => reconcileSlice(store, zoneData, from),
    /** One whole pass. */
    async keepUp(): Promise<void> {
      while (await upkeep.step());
    },
    /** The names whose cursors moved, chunk by chunk. */
    async applyZoneData(): Promise<string[][]> {
      const chunks: string[][] = []
      for await (const moved of applyZoneData(parts, silentLogger)) chunks.push(moved)
      return chunks
    },
  }
}

/** Writes to the database behind everybody's back. */
export function damageOf(h: Harness & { schema: string }) {
  const query = (text: string, params: readonly (string | null)[] = []) =>
    h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`), params)
  return {
    query,
    cursor: (name: string, set: string) =>
      query(
        `update {schema}.cursors set ${set} where schedule_id = (select id from {schema}.schedules where name = $1)`,
        [name],
      ),
    schedule: (name: string, set: string) =>
      query(`update {schema}.schedules set ${set} where name = $1`, [name]),
  }
}
