/**
 * How fast schedules fire: a table of many schedules, a herd of them due at one instant, and one scheduler that gives
 * all of them their runs.
 *
 *     npm run bench:fire             a table of 1,000,000; about ten minutes
 *     npm run bench:fire -- --quick  small enough for the tests
 *
 * Beside it hand-written SQL that does the least that firing can be, in turns. PostgreSQL from npm, fsync and synchronous_commit on, both tables
 * in its buffers (4 GB). Each figure is the median of its rounds with the lowest and highest beside it.
 */
import { pathToFileURL } from 'node:url'
import { msUntilWake } from '../src/store/queries/planning.js'
import { TIMING_KINDS } from '../src/time/timing.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, measure, middle, spread } from './figures.js'
import { openHandWrittenFiring } from './hand-written-firing.js'
import { openScheduleTable } from './herd.js'

export interface FireSize {
  /** The empty tick is measured with each of these, the rest with the last. */
  schedules: readonly number[]
  herds: readonly number[]
  rounds: number
}

const FULL: FireSize = { schedules: [1_000, 1_000_000], herds: [10_000, 100_000], rounds: 5 }
export const QUICK: FireSize = { schedules: [100, 3_000], herds: [500, 2_500], rounds: 1 }

const LIMITS = { kinds: TIMING_KINDS, providers: [] }

/** Returns how many of the largest herd fire in a second, in the middle of its rounds. */
export async function benchFire(size: FireSize, print: (line: string) => void): Promise<number> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=4GB', 'max_wal_size=8GB'] })
  const table = await openScheduleTable(server.url)
  const limit = await openHandWrittenFiring(server.url)
  try {
    const last = size.schedules.at(-1)!
    for (const count of size.schedules) {
      await Promise.all([table.fill(count), count === last && limit.fill(count)])
      const ms = await measure(200, async () => {
        await table.scheduler.tick()
        await msUntilWake(table.store, LIMITS)
      })
      print(`${inEnglish(count)} schedules: empty tick ${spread(ms, 2)} ms`)
    }
    let rates: number[] = []
    for (const herd of size.herds) {
      rates = []
      const limits: number[] = []
      for (let round = 0; round < size.rounds; round++) {
        rates.push(await table.fire(herd))
        limits.push(await limit.fire(herd))
      }
      const slowest = herd / Math.min(...rates)
      print(
        `${inEnglish(herd)} due: ${spread(rates)} schedules/s, all within ${slowest.toFixed(2)} s at the slowest`,
      )
      const share = Math.round((100 * middle(rates)) / middle(limits))
      print(`  by hand-written SQL: ${spread(limits)} schedules/s; ours is ${share} % of that`)
    }
    return middle(rates)
  } finally {
    await table.close()
    await limit.close()
    await server.remove()
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchFire(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
