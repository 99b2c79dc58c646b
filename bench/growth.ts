/**
 * What growth costs: runs are enqueued and drained with ever more finished runs beside them (ADR 0009), and herds fire out of ever
 * larger tables of schedules (ADR 0008).
 *
 *     npm run bench:growth                     up to 10,000,000 finished runs and 1,000,000 schedules
 *     npm run bench:growth -- --quick          small enough for the tests
 *     npm run bench:growth -- --pictures DIR   draws the charts there instead of in docs/pictures; with --quick too, which else draws none
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, autovacuum as it comes. Each size has a database of its own, and all are
 * filled first: then they take turns, so that what disturbs the machine disturbs all of them. Beside each rate stands how many times
 * that of the smallest it is: the median of the rounds' own ratios.
 */
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.js'
import { cpuSeconds, inEnglish, middle, number, spread, walPosition } from './figures.js'
import { openScheduleTable } from './herd.js'
import { openHistory } from './history.js'
import { type Chart, writeChart } from './plot.js'

export interface GrowthSize {
  /** With each of these many finished runs, `runs` are enqueued and drained in each round. */
  finished: readonly number[]
  runs: number
  /** Out of each of these many schedules, `herd` fire in each round. */
  schedules: readonly number[]
  herd: number
  rounds: number
}

const FULL: GrowthSize = {
  finished: [100_000, 1_000_000, 10_000_000],
  runs: 100_000,
  schedules: [100_000, 1_000_000],
  herd: 50_000,
  rounds: 7,
}
export const QUICK: GrowthSize = {
  finished: [1_000, 2_000],
  runs: 1_000,
  schedules: [1_000, 2_000],
  herd: 500,
  rounds: 1,
}

type Print = (line: string) => void

export async function benchGrowth(size: GrowthSize, print: Print, pictures?: string): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=4GB', 'max_wal_size=8GB'] })
  try {
    const besideHistory = await benchHistory(server, size, print)
    const ofSchedules = await benchFiring(server, size, print)
    if (pictures === undefined) return
    writeChart(path.join(pictures, 'growth-drain.svg'), besideHistory)
    writeChart(path.join(pictures, 'growth-firing.svg'), ofSchedules)
  } finally {
    await server.remove()
  }
}

async function benchHistory(
  server: PostgresServer,
  { finished, runs, rounds }: GrowthSize,
  print: Print,
): Promise<Chart> {
  const histories = await openEach(server, 'history', finished, openHistory)
  const enqueue = createRates(finished)
  const drain = createRates(finished)
  const cpu = createRates(finished)
  const wal = createRates(finished)
  try {
    for (const { one } of histories) {
      await one.enqueue(Math.ceil(runs / 10))
      await one.drain(Math.ceil(runs / 10))
    }
    await takeTurns(histories, rounds, async ({ count, one }) => {
      const [walBefore, cpuBefore] = [await walPosition(one.database), cpuSeconds(server.pid)]
      enqueue.add(count, await one.enqueue(runs))
      drain.add(count, await one.drain(runs))
      wal.add(count, ((await walPosition(one.database)) - walBefore) / runs)
      cpu.add(count, ((cpuSeconds(server.pid) - cpuBefore) / runs) * 1e6)
    })
    for (const { count, one } of histories) {
      print(
        [
          `${inEnglish(count)} finished: enqueue ${enqueue.tell(count)}, drain ${drain.tell(count)}`,
          `${spread(cpu.of(count))} µs of the server's processors and ${spread(wal.of(count))} bytes of WAL for each run`,
          `${inEnglish(await number(one.database, DEAD_ROWS))} dead rows`,
        ].join('; '),
      )
    }
  } finally {
    await closeEach(histories)
  }
  return {
    title: 'Direct runs beside ever more finished ones',
    x: { label: 'finished runs', isLog: true },
    y: { label: 'runs per second' },
    series: [enqueue.asSeries('enqueued in bulk'), drain.asSeries('drained by one worker')],
  }
}

const DEAD_ROWS = `select sum(n_dead_tup)::float8 as value from pg_stat_user_tables where relname like 'runs%'`

async function benchFiring(
  server: PostgresServer,
  { schedules, herd, rounds }: GrowthSize,
  print: Print,
): Promise<Chart> {
  const tables = await openEach(server, 'schedules', schedules, openScheduleTable)
  const rates = createRates(schedules)
  try {
    for (const { one } of tables) await one.fire(Math.ceil(herd / 10))
    await takeTurns(tables, rounds, async ({ count, one }) => rates.add(count, await one.fire(herd)))
    for (const { count } of tables) {
      print(`${inEnglish(count)} schedules, ${inEnglish(herd)} of them due: fired ${rates.tell(count)}`)
    }
  } finally {
    await closeEach(tables)
  }
  return {
    title: `${inEnglish(herd)} schedules that are due at once, out of ever more`,
    x: { label: 'schedules', isLog: true },
    y: { label: 'schedules per second' },
    series: [rates.asSeries('fired by one scheduler')],
  }
}

interface Sized<One> {
  count: number
  one: One
}

/** A database for each size, filled. */
async function openEach<One extends { fill(count: number): Promise<void> }>(
  server: PostgresServer,
  name: string,
  counts: readonly number[],
  open: (url: string) => Promise<One>,
): Promise<Sized<One>[]> {
  const opened: Sized<One>[] = []
  for (const count of counts) {
    const one = await open(await createDatabase(server.url, `${name}_${count}`))
    await one.fill(count)
    opened.push({ count, one })
  }
  return opened
}

async function closeEach(opened: readonly Sized<{ close(): Promise<void> }>[]): Promise<void> {
  await Promise.all(opened.map(({ one }) => one.close()))
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return serverUrl.replace(/[^/]+$/, name)
}

/** Each round begins with another one, so that none is always the first. */
async function takeTurns<One>(
  ones: readonly Sized<One>[],
  rounds: number,
  measure: (one: Sized<One>) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const start = round % ones.length
    for (const one of [...ones.slice(start), ...ones.slice(0, start)]) await measure(one)
  }
}

/** What was measured with each size, round by round. */
function createRates(counts: readonly number[]) {
  const rates = new Map<number, number[]>(counts.map((count) => [count, []]))
  const of = (count: number) => rates.get(count)!
  const smallest = counts[0]!
  return {
    of,
    add: (count: number, rate: number) => void of(count).push(rate),
    tell(count: number): string {
      const ratio = middle(of(count).map((rate, round) => rate / of(smallest)[round]!))
      const beside = count === smallest ? '' : `, ${ratio.toFixed(2)} × that with ${inEnglish(smallest)}`
      return `${spread(of(count))}/s${beside}`
    },
    asSeries: (name: string) => ({
      name,
      points: counts.map((count) => [count, middle(of(count))] as const),
      dots: counts.flatMap((count) => of(count).map((rate) => [count, rate] as const)),
    }),
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, pictures: { type: 'string' } },
  })
  const docs = fileURLToPath(new URL('../docs/pictures', import.meta.url))
  await benchGrowth(
    values.quick ? QUICK : FULL,
    console.log,
    values.pictures ?? (values.quick ? undefined : docs),
  )
}
