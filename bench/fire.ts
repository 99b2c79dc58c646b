/**
 * How fast schedules fire: a table of many schedules, a herd of them due at one instant, and one scheduler that gives
 * all of them their runs.
 *
 *     npm run bench:fire             a table of 1,000,000; about ten minutes
 *     npm run bench:fire -- --quick  small enough for the tests
 *
 * Beside it hand-written SQL that does the least that firing can be, in turns. PostgreSQL from npm, fsync and synchronous_commit on, both tables
 * in its buffers (4 GB). Each figure is the median of its rounds with the lowest and highest beside it. At the end come the plans of the tick's statements, in the full table with the largest herd due.
 */
import { pathToFileURL } from 'node:url'
import { planOccurrences } from '../src/schedules/plan.js'
import { type DueLimits, lockDueSchedules, msUntilWake } from '../src/store/queries/planning.js'
import { recordDue } from '../src/store/queries/recording.js'
import { toPlannable } from '../src/store/rows.js'
import type { Session, Store } from '../src/store/store.js'
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
  /** Whether the plans of the tick's statements are printed at the end. */
  hasPlans: boolean
}

const FULL: FireSize = { schedules: [1_000, 1_000_000], herds: [10_000, 100_000], rounds: 5, hasPlans: true }
export const QUICK: FireSize = { schedules: [100, 3_000], herds: [500, 2_500], rounds: 1, hasPlans: true }

const LIMITS: DueLimits = { limit: 1_000, kinds: TIMING_KINDS, providers: [] }

/** Returns how many of the largest herd fire in a second, in the middle of its rounds. */
export async function benchFire(size: FireSize, print: (line: string) => void): Promise<number> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=4GB', 'max_wal_size=8GB'] })
  const table = await openScheduleTable(server.url)
  const limit = await openHandWrittenFiring(server.url)
  try {
    for (const count of size.schedules) {
      await table.fill(count)
      const ms = await measure(200, async () => {
        await table.scheduler.tick()
        await msUntilWake(table.store, LIMITS)
      })
      print(`${inEnglish(count)} schedules: empty tick ${spread(ms, 2)} ms`)
    }
    await limit.fill(size.schedules.at(-1)!)
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
    if (size.hasPlans) {
      await table.makeDue(size.herds.at(-1)!)
      for (const [name, plan] of await explainTick(table.store)) print(`${name}:\n${plan}`)
    }
    return middle(rates)
  } finally {
    await table.close()
    await limit.close()
    await server.remove()
  }
}

/** How the database carries out each statement of a tick, one batch of them. */
async function explainTick(store: Store): Promise<Map<string, string>> {
  const plans = new Map<string, string>()
  const explaining = (session: Session, name: string): Session => ({
    now: session.now,
    async query(statement, params) {
      const rows = await session.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, costs off) ${statement}`,
        params,
      )
      plans.set(name, rows.map((row) => row['QUERY PLAN']).join('\n'))
      return []
    },
  })
  await store.transaction(async (session) => {
    await lockDueSchedules(explaining(session, 'lock due schedules'), LIMITS)
    const { due, now } = await lockDueSchedules(session, LIMITS)
    const planned = due.map((schedule) => {
      const plan = planOccurrences(toPlannable(schedule), now!)
      return { schedule, plan, wakeAt: plan.nextAt }
    })
    await recordDue(explaining(session, 'record plans'), planned, store.channel)
  })
  await msUntilWake(explaining(store, 'when to wake'), LIMITS)
  return plans
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchFire(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
