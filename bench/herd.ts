/** A table of many schedules, a herd of them due at one instant, and one scheduler that gives all of them their runs. */
import { assemble } from '../src/escapement.js'
import type { Scheduler } from '../src/scheduler/scheduler.js'
import type { Store } from '../src/store/store.js'
import { createManualClock } from '../src/testing/manual-clock.js'
import { number, seconds } from './figures.js'

export interface ScheduleTable {
  readonly store: Store
  readonly scheduler: Scheduler
  /** Puts so many schedules in the place of all others: fifty distinct grids, all cursors far in the future. */
  fill(count: number): Promise<void>
  /** Goes on by an hour, at which a random herd is due. */
  makeDue(herd: number): Promise<void>
  /** Goes on by so much, or back. */
  go(ms: number): void
  /** Has such a herd fire: so many in a second. */
  fire(herd: number): Promise<number>
  close(): Promise<void>
}

const START = Date.parse('2026-03-01T00:00:00Z')
const HOUR = 3_600_000

export async function openScheduleTable(url: string): Promise<ScheduleTable> {
  const clock = createManualClock(START)
  const { escapement, store, scheduler } = await assemble({ database: url, clock })
  const { database } = escapement
  escapement.job('noop', { handler: () => {} })

  async function makeDue(herd: number): Promise<void> {
    clock.set(clock.now() + HOUR)
    const at = new Date(clock.now())
    await database.query(DUE, [at, new Date(at.getTime() - 1), at.toISOString(), herd])
    // In life cursors stand where they are for long before they are due: no dead versions beside them.
    await database.query('vacuum escapement.cursors')
  }

  return {
    store,
    scheduler,
    makeDue,
    go: (ms) => clock.set(clock.now() + ms),
    async fill(count) {
      await database.query('truncate escapement.schedules cascade')
      await database.query(SCHEDULES, [count])
      await database.query(CURSORS)
      await database.query('vacuum analyze')
    },
    async fire(herd) {
      await makeDue(herd)
      const runsBefore = await number(database, COUNT_RUNS)
      const taken = await seconds(() => scheduler.tickWhileDue())
      const created = (await number(database, COUNT_RUNS)) - runsBefore
      if (created !== herd) throw new Error(`${created} runs of ${herd}`)
      return herd / taken
    },
    close: () => escapement.close(),
  }
}

const COUNT_RUNS = 'select count(*)::float8 as value from escapement.runs_asked'

const TIMING = `jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours', 'anchor', '2001-01-01T00:00:00', 'zone', 'UTC')`
const POLICIES = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","deleteWhenDone":false}'`

/** With ids as the product gives them. */
const SCHEDULES = `
  insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at,
    state, state_since, ledger_from, zone_data, created_at, updated_at)
  select uuidv7(), 'customer:' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
    'default', 0, '{global}', ${TIMING}, ${POLICIES}, '2026-01-01', 'active', '2026-01-01', '2026-02-28', null,
    '2026-01-01', '2026-01-01'
  from generate_series(1, $1::int) as n`

const CURSORS = `
  insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
  select id, 1, 'every', '2030-01-01', '2030-01-01', '2026-02-28T23:59:59Z' from escapement.schedules`

/** Brings the cursors of a random herd to one instant at which all of their timings have a plan time. */
const DUE = `
  update escapement.cursors set next_at = $1, wake_at = $1, decided_through = $2
  where schedule_id in (select id from escapement.schedules order by md5(id::text || $3::text) limit $4::int)`
