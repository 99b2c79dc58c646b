/**
 * What sweeps cost: a table of posts of which most were published long ago, a share of them due, and one sweeper.
 *
 *     npm run bench:transitions             1,000,000 rows, 800,000 long done, 100,000 due; some minutes
 *     npm run bench:transitions -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. The limit is one UPDATE by hand over the same rows and the same index,
 * without a log, without batches, without locks that others could pass over. Each figure is the median of its rounds with the lowest
 * and highest beside it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { declareTable } from '../src/client/declaring.js'
import { assemble } from '../src/escapement.js'
import { set } from '../src/index.js'
import { silentLogger } from '../src/logger.js'
import { applyPlans } from '../src/store/queries/transition-apply.js'
import { lockDueRows, msUntilDue, readLockedRows } from '../src/store/queries/transition-sweep.js'
import type { Session, Store } from '../src/store/store.js'
import { planRow } from '../src/transitions/plan.js'
import { createTransitionRegistry } from '../src/transitions/registry.js'
import type { SweptTable } from '../src/transitions/table.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, measure, spread } from './figures.js'

export interface TransitionsSize {
  /** The empty sweep is measured with each of these, the rest with the last. */
  rows: readonly number[]
  rounds: number
  /** How many rows are due in two seconds each, one after the other. */
  late: number
}

const FULL: TransitionsSize = { rows: [10_000, 1_000_000], rounds: 5, late: 20 }
export const QUICK: TransitionsSize = { rows: [1_000, 10_000], rounds: 1, late: 1 }

const BATCH = 500
/** After its last sweep. */
const FALLS_ASLEEP_MS = 200
const DECLARATION = {
  softDelete: 'deleted_at',
  fields: { publish_at: set('status', { from: 'draft', to: 'published' }) },
}
const BY_HAND = `update posts set status = 'published' where publish_at <= now() and status = 'draft' and deleted_at is null`

export async function benchTransitions(size: TransitionsSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const { escapement, store, sweeper } = await assemble({
    database: server.url,
    sweeper: { batchSize: BATCH, wake: true },
  })
  const query = <Row>(text: string) => escapement.database.query<Row>(text)
  const largest = size.rows.at(-1)!
  const due = largest / 10

  try {
    await query(
      `create table posts (id bigint primary key, title text, status text, publish_at timestamptz, deleted_at timestamptz)`,
    )
    await escapement.transitions.declare('posts', DECLARATION)
    const parts = {
      store,
      database: escapement.database,
      tables: createTransitionRegistry(),
      logger: silentLogger,
    }
    const table = await declareTable({ ...parts, indexes: 'check', wake: false }, 'posts', DECLARATION)
    for (const rows of size.rows) {
      await fill(query, rows)
      const ms = await measure(200, () => escapement.transitions.sweep())
      print(`${inEnglish(rows)} rows, nothing due: a sweep takes ${spread(ms, 2)} ms`)
      print(
        `${inEnglish(rows)} rows, nothing due, the plan:\n${await store.transaction((session) => explain(session, (asked) => msUntilDue(asked, table)))}`,
      )
    }
    const rates: Record<string, number[]> = { 'by hand': [], sweeps: [] }
    for (let round = 0; round < size.rounds; round++) {
      await makeDue(query, due)
      rates['by hand']!.push(await rateOf(due, () => query(BY_HAND)))
      await makeDue(query, due)
      rates.sweeps!.push(
        await rateOf(due, async () => {
          while ((await escapement.transitions.sweep()).truncated);
        }),
      )
      const [left] = await query<{ count: number }>(
        `select count(*) from posts where status = 'draft' and publish_at <= now()`,
      )
      if (left!.count !== 0) throw new Error(`${left!.count} rows are left`)
    }
    for (const [name, found] of Object.entries(rates)) {
      print(`${inEnglish(due)} due of ${inEnglish(largest)} rows, ${name}: ${spread(found)} rows/s`)
    }
    await makeDue(query, due)
    for (const [name, plan] of await explainSweep(store, table)) print(`${name}:\n${plan}`)
    while ((await sweeper.sweep()).truncated);
    print(
      `written two seconds before it is due while the sweeper sleeps, ${size.late} times: changed ${spread(await lateness(escapement, size.late), 1)} ms late`,
    )
  } finally {
    await escapement.close()
    await server.remove()
  }
}

type Query = <Row>(text: string) => Promise<Row[]>

/** Eight in ten were published long ago, as the log says; one is a draft for a later day, and one has no date yet. */
async function fill(query: Query, rows: number): Promise<void> {
  await query('truncate posts, escapement.transition_log')
  await query(`
    insert into posts (id, title, status, publish_at)
    select n, repeat('x', 100), case when n % 10 < 8 then 'published' else 'draft' end,
      case when n % 10 < 8 then now() - n * interval '1 minute' when n % 10 = 8 then now() + interval '1 year' + n * interval '1 second' end
    from generate_series(1, ${rows}) as n`)
  await query(`
    insert into escapement.transition_log (field_id, key, due_at, applied_at, action, column_name, from_value, to_value)
    select f.id, p.id::text, p.publish_at, p.publish_at, 'set', 'status', 'draft', 'published'
    from posts as p, escapement.transition_fields as f where p.status = 'published'`)
  await query('vacuum analyze')
}

/** Drafts without a date become due, each at a time of its own; in the next round they are drafts with another one. */
async function makeDue(query: Query, due: number): Promise<void> {
  await query(
    `update posts set status = 'draft', publish_at = now() - random() * interval '1 hour' where id % 10 = 9`,
  )
  await query('vacuum analyze posts')
  await query('checkpoint')
  const [found] = await query<{ count: number }>(
    `select count(*) from posts where status = 'draft' and publish_at <= now()`,
  )
  if (found!.count !== due) throw new Error(`${found!.count} rows are due, and not ${due}`)
}

async function rateOf(rows: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return rows / ((performance.now() - startedAt) / 1000)
}

async function explain(session: Session, ask: (session: Session) => Promise<unknown>): Promise<string> {
  let plan = ''
  await ask({
    now: session.now,
    async query(statement, params) {
      const rows = await session.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, costs off) ${statement}`,
        params,
      )
      plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      return []
    },
  })
  return plan
}

/** How the database carries out each statement of a sweep, one batch of them. */
async function explainSweep(store: Store, table: SweptTable): Promise<Map<string, string>> {
  return store.transaction(async (session) => {
    const plans = new Map<string, string>()
    plans.set('lock due rows', await explain(session, (asked) => lockDueRows(asked, table, BATCH + 1)))
    const locked = await lockDueRows(session, table, BATCH)
    plans.set('read locked rows', await explain(session, (asked) => readLockedRows(asked, table, locked)))
    const { rows, now } = await readLockedRows(session, table, locked)
    const planned = rows.map((row) => ({ row, plan: planRow(table, row) }))
    plans.set('apply plans', await explain(session, (asked) => applyPlans(asked, table, planned, now!)))
    return plans
  })
}

/**
 * Milliseconds from each row's due time until the hook has heard of its change, with nothing else to do. One sweeper is
 * there throughout, and sleeps for a minute when the row is written.
 */
async function lateness(
  escapement: Awaited<ReturnType<typeof assemble>>['escapement'],
  count: number,
): Promise<number[]> {
  const late: number[] = []
  let heard: () => void = () => {}
  escapement.on('transition.applied', ({ dueAt }) => {
    late.push(Date.now() - dueAt.getTime())
    heard()
  })
  await escapement.start({ roles: ['sweeper'] })
  for (let round = 0; round < count; round++) {
    await pause(FALLS_ASLEEP_MS)
    const isHeard = new Promise<void>((resolve) => {
      heard = resolve
    })
    await escapement.database.query(
      `update posts set status = 'draft', publish_at = date_trunc('milliseconds', clock_timestamp()) + interval '2 seconds' where id = 9`,
    )
    await isHeard
  }
  await escapement.stop()
  return late
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchTransitions(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
