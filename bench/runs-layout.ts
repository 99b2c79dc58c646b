/**
 * Four layouts of runs side by side, with ever more finished runs in the table: what it costs to enqueue, to claim and
 * to complete (ADR 0009).
 *
 *     npm run bench:runs-layout             up to 10,000,000 finished runs; about an hour
 *     npm run bench:runs-layout -- --quick  small enough for the tests
 *     npm run bench:runs-layout -- --ordered  with ids in the order of time instead of random ones (ADR 0010)
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, autovacuum as it comes. Runs are enqueued and drained in batches of
 * 1,000 without a handler; while one batch is completed, the next is claimed.
 */
import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { newUuid } from '../src/runs/uuid.js'
import type { Database } from '../src/store/database.js'
import { openDatabase } from '../src/store/open.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { cpuSeconds, inEnglish, number, seconds, spread, walPosition } from './figures.js'
import { LAYOUTS, type Layout } from './runs-layouts.js'

export interface RunsLayoutSize {
  /** Whether ids are in the order of time. */
  ordered?: boolean
  /** With each of these many finished runs in the table, `rounds` times `runs` are enqueued and drained. */
  steps: readonly { finished: number; runs: number; rounds: number }[]
}

const FULL: RunsLayoutSize = {
  steps: [
    { finished: 100_000, runs: 100_000, rounds: 3 },
    { finished: 1_000_000, runs: 100_000, rounds: 3 },
    { finished: 10_000_000, runs: 100_000, rounds: 10 },
  ],
}
export const QUICK: RunsLayoutSize = { steps: [{ finished: 2_000, runs: 2_000, rounds: 1 }] }

const BATCH = 1_000
const SCHEDULES = 100_000

export async function benchRunsLayout(
  { steps, ordered = false }: RunsLayoutSize,
  print: (line: string) => void,
  layouts: readonly Layout[] = LAYOUTS,
): Promise<void> {
  const server = await startPostgres({
    fsync: true,
    settings: ['shared_buffers=1GB', 'max_wal_size=8GB', 'checkpoint_timeout=10min'],
  })
  const { inner, outer } = await openDatabase(server.url)
  try {
    for (const { finished, runs, rounds } of steps) {
      for (const layout of layouts) {
        await prepare(outer, layout, finished, ordered)
        const sizeBefore = await sizeOf(outer)
        const enqueued: number[] = []
        const drained: number[] = []
        const wal: number[] = []
        const cpu: number[] = []
        for (let round = 0; round < rounds; round++) {
          const before = await walPosition(outer)
          const cpuBefore = cpuSeconds(server.pid)
          enqueued.push(runs / (await seconds(() => enqueue(inner, layout, runs, ordered))))
          drained.push(runs / (await seconds(() => drain(inner, layout, runs))))
          wal.push(((await walPosition(outer)) - before) / runs)
          cpu.push(((cpuSeconds(server.pid) - cpuBefore) / runs) * 1e6)
        }
        const grown = ((await sizeOf(outer)) - sizeBefore) / (runs * rounds)
        print(
          [
            `${layout.name}, ${inEnglish(finished)} finished: enqueue ${spread(enqueued)}/s, drain ${spread(drained)}/s`,
            `${spread(cpu)} µs of the server's processors`,
            `WAL ${spread(wal)} and growth ${inEnglish(grown)} bytes for each run`,
            `${inEnglish(await deadRows(outer))} dead rows`,
            `find ${await latency(outer, layout, 'find')} ms, list ${await latency(outer, layout, 'list')} ms`,
            `prune 1,000 ${await latency(outer, layout, 'prune')} ms`,
          ].join('; '),
        )
        await outer.query('drop schema bench cascade')
      }
    }
  } finally {
    await inner.close()
    await outer.close()
    await server.remove()
  }
}

/** Finished runs of the last thirty days, with the indexes built after them. */
async function prepare(
  database: Database,
  layout: Layout,
  finished: number,
  ordered: boolean,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.script(
      `create schema bench; set local synchronous_commit = off; set local maintenance_work_mem = '512MB'; ${layout.tables}`,
    )
    await tx.query(layout.fill, [finished, SCHEDULES, ordered])
    await tx.script(layout.indexes)
  })
  await database.query('vacuum analyze')
  await database.query('checkpoint')
}

async function enqueue(
  database: Database,
  { enqueue }: Layout,
  runs: number,
  ordered: boolean,
): Promise<void> {
  for (let done = 0; done < runs; done += BATCH) {
    const ids = Array.from({ length: BATCH }, () => (ordered ? newUuid(Date.now()) : randomUUID()))
    const schedules = ids.map(() => Math.floor(Math.random() * SCHEDULES))
    await database.transaction((tx) => tx.query(enqueue, [ids, schedules, new Date(), INPUT]))
  }
}

const INPUT = JSON.stringify({ customer: 123_456, report: 'x'.repeat(100) })

interface Claimed {
  id: string
  /** What a layout needs to find the run again. */
  at: Date
}

async function drain(database: Database, { claim, complete }: Layout, runs: number): Promise<void> {
  const worker = randomUUID()
  let done = 0
  let completing: Promise<unknown> = Promise.resolve()
  for (;;) {
    const token = randomUUID()
    const claimed = await database.transaction((tx) =>
      tx.query<Claimed>(claim, [BATCH, worker, token, 'default']),
    )
    const completed = (await completing) as { id: string }[] | undefined
    done += completed?.length ?? 0
    if (claimed.length === 0) break
    const params = [
      claimed.map(({ id }) => id),
      token,
      claimed.map(() => '{"rows": 12345}'),
      claimed.map(({ at }) => at),
    ]
    completing = database.transaction((tx) => tx.query<{ id: string }>(complete, params))
  }
  if (done !== runs) throw new Error(`${done} of ${runs} runs were completed`)
}

/** Median in milliseconds, of a finished run by its id, the newest fifty runs of a schedule, the oldest thousand deleted. */
async function latency(database: Database, layout: Layout, verb: 'find' | 'list' | 'prune'): Promise<string> {
  const ms: number[] = []
  for (let round = 0; round < 21; round++) {
    const [run] = await database.query<{ id: string; schedule_id: string }>(layout.sample, [Math.random()])
    const params = { find: [run!.id], list: [run!.schedule_id], prune: [BATCH] }[verb]
    ms.push((await seconds(() => database.query(layout[verb], params))) * 1000)
  }
  return ms.sort((a, b) => a - b)[10]!.toFixed(1)
}

async function sizeOf(database: Database): Promise<number> {
  return number(
    database,
    `select sum(pg_total_relation_size(oid))::float8 as value from pg_class
     where relnamespace = 'bench'::regnamespace and relkind = 'r'`,
  )
}

async function deadRows(database: Database): Promise<number> {
  return number(
    database,
    `select sum(n_dead_tup)::float8 as value from pg_stat_user_tables where schemaname = 'bench'`,
  )
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const size = process.argv.includes('--quick') ? QUICK : FULL
  await benchRunsLayout({ ...size, ordered: process.argv.includes('--ordered') }, console.log)
}
