/**
 * How fast schedules fire: a table of many schedules, a herd of them due at one instant, and one scheduler that gives
 * all of them their runs.
 *
 *     npm run bench:fire             a table of 1,000,000; about ten minutes
 *     npm run bench:fire -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each figure is the median of its rounds with the lowest and
 * highest beside it.
 */
import { pathToFileURL } from 'node:url'
import { assemble } from '../src/escapement.js'
import { lockDueSchedules, msUntilWake } from '../src/store/queries/planning.js'
import { createManualClock } from '../src/testing/manual-clock.js'
import { TIMING_KINDS } from '../src/time/timing.js'
import { startPostgres } from '../test/support/postgres-server.js'

export interface FireSize {
  schedules: number
  herds: readonly number[]
  rounds: number
}

const FULL: FireSize = { schedules: 1_000_000, herds: [10_000, 100_000], rounds: 3 }
export const QUICK: FireSize = { schedules: 2_000, herds: [500], rounds: 1 }

const START = Date.parse('2026-03-01T00:00:00Z')
const HOUR = 3_600_000

export async function benchFire(size: FireSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const clock = createManualClock(START)
  const { escapement, store, scheduler } = await assemble({ database: server.url, clock })
  const query = (text: string) => escapement.database.query(text)
  try {
    escapement.job('noop', { handler: () => {} })
    print(`${size.schedules.toLocaleString('en')} schedules, 50 distinct timings`)
    await fill(query, size.schedules)
    await query('vacuum analyze')
    print(
      `empty tick: ${await emptyTick(
        () => scheduler.tick(),
        () => msUntilWake(store, { kinds: TIMING_KINDS, providers: [] }),
      )} ms`,
    )
    for (const herd of size.herds) {
      const rates: number[] = []
      for (let round = 0; round < size.rounds; round++) {
        clock.set(clock.now() + HOUR)
        await makeDue(query, herd, new Date(clock.now()))
        const startedAt = performance.now()
        let created = 0
        for (;;) {
          const report = await scheduler.tick()
          created += report.created.length
          if (report.due === 0) break
        }
        if (created < herd) throw new Error(`${created} runs of ${herd}`)
        rates.push(created / ((performance.now() - startedAt) / 1000))
      }
      print(
        `${herd.toLocaleString('en')} due: ${spread(rates)} schedules/s, all within ${(herd / Math.min(...rates)).toFixed(2)} s`,
      )
    }
    clock.set(clock.now() + HOUR)
    await makeDue(query, size.herds.at(-1)!, new Date(clock.now()))
    print(await explainLock(query))
    await store.transaction(async (session) => {
      await lockDueSchedules(session, { limit: 1000, kinds: TIMING_KINDS, providers: [] })
    })
  } finally {
    await escapement.close()
    await server.remove()
  }
}

/** Fifty distinct grids; all cursors far in the future. */
async function fill(query: (text: string) => Promise<unknown>, count: number): Promise<void> {
  const timing = `jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours', 'anchor', '2001-01-01T00:00:00', 'zone', 'UTC')`
  const policies = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","deleteWhenDone":false}'`
  await query(`
    insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at,
      state, state_since, ledger_from, created_at, updated_at)
    select gen_random_uuid(), 'customer:' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
      'default', 0, '{global}', ${timing}, ${policies}, '2026-01-01', 'active', '2026-01-01', '2026-02-28', '2026-01-01',
      '2026-01-01'
    from generate_series(1, ${count}) as n`)
  await query(`
    insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
    select id, 1, 'every', '2030-01-01', '2030-01-01', '2026-02-28T23:59:59Z' from escapement.schedules`)
}

/** Brings the cursors of a random herd to one instant at which all of their timings have a plan time. */
async function makeDue(query: (text: string) => Promise<unknown>, herd: number, at: Date): Promise<void> {
  await query(`
    update escapement.cursors set next_at = '${at.toISOString()}', wake_at = '${at.toISOString()}',
      decided_through = '${new Date(at.getTime() - 1).toISOString()}'
    where schedule_id in (select id from escapement.schedules order by md5(id::text || '${at.toISOString()}') limit ${herd})`)
}

async function emptyTick(tick: () => Promise<unknown>, look: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < 200; round++) {
    const startedAt = performance.now()
    await tick()
    await look()
    times.push(performance.now() - startedAt)
  }
  return spread(times, 2)
}

async function explainLock(query: (text: string) => Promise<unknown>): Promise<string> {
  const rows = (await query(`
    explain (analyze, buffers, costs off)
    select s.id, s.timing, c.next_at
    from (
      select schedule_id, version, next_at from escapement.cursors
      where wake_at <= (select '2029-01-01'::timestamptz) and kind = any('{once,every,cron,after,rrule}')
        and (provider is null or provider = any('{}'))
      order by wake_at, schedule_id limit 1000 for update skip locked
    ) as c
    join escapement.schedules as s on s.id = c.schedule_id and s.version = c.version and s.state = 'active'`)) as {
    'QUERY PLAN': string
  }[]
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

function spread(values: readonly number[], digits = 0): string {
  const sorted = [...values].sort((a, b) => a - b)
  const text = (value: number) => value.toLocaleString('en', { maximumFractionDigits: digits })
  return `${text(sorted[Math.floor(sorted.length / 2)]!)} (${text(sorted[0]!)}–${text(sorted.at(-1)!)})`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchFire(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
