/**
 * Cursors in the wide row of their schedule, or in a narrow one of their own: what moving them costs (ADR 0008).
 *
 *     node --import jiti/register bench/layout.ts          300,000 rows; about a minute
 *     node --import jiti/register bench/layout.ts --quick  small enough for the tests
 *
 * Both layouts take turns, round by round, moving the cursors of 1,000 random rows in one statement.
 */
import { pathToFileURL } from 'node:url'
import { migrate } from '../src/store/migrate.js'
import { openDatabase } from '../src/store/open.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { walPosition } from './figures.js'

export interface LayoutSize {
  rows: number
  rounds: number
}

const FULL: LayoutSize = { rows: 300_000, rounds: 60 }
export const QUICK: LayoutSize = { rows: 2_000, rounds: 2 }
const BATCH = 1_000

const WIDE = `
  create table wide (like escapement.schedules including all, next_at timestamptz(3), wake_at timestamptz(3),
    decided_through timestamptz(3)) with (fillfactor = 80);
  create index wide_for_waking on wide (wake_at, id) where wake_at is not null;`
const NARROW = `
  create table narrow (schedule_id uuid primary key, version int, kind text, next_at timestamptz(3),
    wake_at timestamptz(3), decided_through timestamptz(3)) with (fillfactor = 80);
  create index narrow_for_waking on narrow (wake_at, schedule_id) where wake_at is not null;`

export async function benchLayout(size: LayoutSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const { inner, outer } = await openDatabase(server.url)
  try {
    await migrate(outer, 'escapement')
    await outer.transaction((tx) => tx.script(WIDE + NARROW))
    await outer.query(`
      insert into wide (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at, state,
        state_since, ledger_from, created_at, updated_at, next_at, wake_at, decided_through)
      select gen_random_uuid(), 'customer:' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
        'default', 0, '{global}', '{"kind":"every","every":"1 hour","anchor":"2001-01-01T00:00:00","zone":"UTC"}',
        '{"catchUp":"latest","catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds"}',
        now(), 'active', now(), now(), now(), now(), now(), now(), now()
      from generate_series(1, ${size.rows}) as n`)
    await outer.query(
      'insert into narrow select id, version, $1, next_at, wake_at, decided_through from wide',
      ['every'],
    )
    await outer.query('vacuum analyze')
    await outer.query('checkpoint')
    const results = { wide: measure(), narrow: measure() }
    for (let round = 0; round < size.rounds; round++) {
      for (const table of ['wide', 'narrow'] as const) {
        const key = table === 'wide' ? 'id' : 'schedule_id'
        const ids = await outer.query<{ id: string }>(
          `select ${key} as id from ${table} order by md5(${key}::text || '${round}') limit ${BATCH}`,
        )
        const before = await walPosition(outer)
        const startedAt = performance.now()
        await inner.transaction((tx) =>
          tx.query(
            `update ${table} as c set next_at = now() + interval '1 hour', wake_at = now() + interval '1 hour',
               decided_through = now() from unnest($1::uuid[]) as plan (id) where c.${key} = plan.id and c.version = 1`,
            [ids.map(({ id }) => id)],
          ),
        )
        results[table].ms.push(performance.now() - startedAt)
        results[table].bytes.push(((await walPosition(outer)) - before) / ids.length)
      }
    }
    for (const [table, { ms, bytes }] of Object.entries(results)) {
      print(`${table}: ${spread(ms)} ms for ${BATCH} cursors, ${spread(bytes)} bytes of WAL for each`)
    }
  } finally {
    await inner.close()
    await outer.close()
    await server.remove()
  }
}

const measure = () => ({ ms: [] as number[], bytes: [] as number[] })

function spread(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(0)
  return `${at(0.5)} (${at(0.1)}–${at(0.9)})`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchLayout(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
