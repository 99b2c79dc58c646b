/**
 * How fast schedules fire: a table of many schedules, a herd of them due at one instant, and one scheduler that gives
 * all of them their runs.
 *
 *     npm run bench:fire             a table of 1,000,000; about ten minutes
 *     npm run bench:fire -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each figure is the median of its rounds with the lowest and
 * highest beside it. At the end come the plans of the tick's statements, in the full table with the largest herd due.
 */
import { pathToFileURL } from 'node:url'
import { assemble } from '../src/escapement.js'
import { planOccurrences } from '../src/schedules/plan.js'
import { type DueLimits, lockDueSchedules, msUntilWake, recordPlans } from '../src/store/queries/planning.js'
import { toPlannable } from '../src/store/rows.js'
import type { Session, Store } from '../src/store/store.js'
import { createManualClock } from '../src/testing/manual-clock.js'
import { TIMING_KINDS } from '../src/time/timing.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, measure, spread } from './figures.js'

export interface FireSize {
  /** The empty tick is measured with each of these, the rest with the last. */
  schedules: readonly number[]
  herds: readonly number[]
  rounds: number
}

const FULL: FireSize = { schedules: [1_000, 1_000_000], herds: [10_000, 100_000], rounds: 5 }
export const QUICK: FireSize = { schedules: [100, 3_000], herds: [500, 2_500], rounds: 1 }

const START = Date.parse('2026-03-01T00:00:00Z')
const HOUR = 3_600_000
const LIMITS: DueLimits = { limit: 1_000, kinds: TIMING_KINDS, providers: [] }

export async function benchFire(size: FireSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const clock = createManualClock(START)
  const { escapement, store, scheduler } = await assemble({ database: server.url, clock })
  const query = <Row>(text: string) => escapement.database.query<Row>(text)

  async function fireHerd(herd: number): Promise<number> {
    clock.set(clock.now() + HOUR)
    await makeDue(query, herd, new Date(clock.now()))
    const runsBefore = await countRuns(query)
    const startedAt = performance.now()
    await scheduler.tickWhileDue()
    const seconds = (performance.now() - startedAt) / 1000
    const created = (await countRuns(query)) - runsBefore
    if (created !== herd) throw new Error(`${created} runs of ${herd}`)
    return herd / seconds
  }

  try {
    escapement.job('noop', { handler: () => {} })
    for (const count of size.schedules) {
      await fill(query, count)
      const ms = await measure(200, async () => {
        await scheduler.tick()
        await msUntilWake(store, LIMITS)
      })
      print(`${inEnglish(count)} schedules: empty tick ${spread(ms, 2)} ms`)
    }
    for (const herd of size.herds) {
      const rates: number[] = []
      for (let round = 0; round < size.rounds; round++) rates.push(await fireHerd(herd))
      const slowest = herd / Math.min(...rates)
      print(
        `${inEnglish(herd)} due: ${spread(rates)} schedules/s, all within ${slowest.toFixed(2)} s at the slowest`,
      )
    }
    clock.set(clock.now() + HOUR)
    await makeDue(query, size.herds.at(-1)!, new Date(clock.now()))
    for (const [name, plan] of await explainTick(store)) print(`${name}:\n${plan}`)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

type Query = <Row>(text: string) => Promise<Row[]>

/** Fifty distinct grids, with ids as the product gives them; all cursors far in the future. */
async function fill(query: Query, count: number): Promise<void> {
  const timing = `jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours', 'anchor', '2001-01-01T00:00:00', 'zone', 'UTC')`
  const policies = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","deleteWhenDone":false}'`
  await query('truncate escapement.schedules cascade')
  await query(`
    insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at,
      state, state_since, ledger_from, zone_data, created_at, updated_at)
    select uuidv7(), 'customer:' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
      'default', 0, '{global}', ${timing}, ${policies}, '2026-01-01', 'active', '2026-01-01', '2026-02-28', null,
      '2026-01-01', '2026-01-01'
    from generate_series(1, ${count}) as n`)
  await query(`
    insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
    select id, 1, 'every', '2030-01-01', '2030-01-01', '2026-02-28T23:59:59Z' from escapement.schedules`)
  await query('vacuum analyze')
}

/**
 * Brings the cursors of a random herd to one instant at which all of their timings have a plan time. The versions that
 * this leaves dead are cleared: in life cursors stand where they are for long before they are due.
 */
async function makeDue(query: Query, herd: number, at: Date): Promise<void> {
  await query(`
    update escapement.cursors set next_at = '${at.toISOString()}', wake_at = '${at.toISOString()}',
      decided_through = '${new Date(at.getTime() - 1).toISOString()}'
    where schedule_id in (select id from escapement.schedules order by md5(id::text || '${at.toISOString()}') limit ${herd})`)
  await query('vacuum escapement.cursors')
}

async function countRuns(query: Query): Promise<number> {
  const [row] = await query<{ count: number }>('select count(*) as count from escapement.runs_asked')
  return row!.count
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
    await recordPlans(explaining(session, 'record plans'), planned, store.channel)
  })
  await msUntilWake(explaining(store, 'when to wake'), LIMITS)
  return plans
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchFire(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
