/**
 * What history costs: runs are enqueued and drained by one worker with ever more finished runs beside them (ADR 0009).
 *
 *     npm run bench:growth             up to 10,000,000 finished runs; about half an hour
 *     npm run bench:growth -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, autovacuum as it comes.
 */
import { pathToFileURL } from 'node:url'
import { createEscapement, type Escapement } from '../src/index.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { cpuSeconds, inEnglish, number, seconds, spread, walPosition } from './figures.js'

export interface GrowthSize {
  /** With each of these many finished runs, `rounds` times `runs` are enqueued and drained. */
  finished: readonly number[]
  runs: number
  rounds: number
}

const FULL: GrowthSize = { finished: [100_000, 1_000_000, 10_000_000], runs: 100_000, rounds: 5 }
export const QUICK: GrowthSize = { finished: [1_000, 2_000], runs: 1_000, rounds: 1 }

const SCHEDULES = 100_000
const BATCH = 10_000
const INPUT = { customer: 123_456, report: 'x'.repeat(100) }

export async function benchGrowth(
  { finished, runs, rounds }: GrowthSize,
  print: (line: string) => void,
): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const escapement = await createEscapement({ database: server.url, worker: { concurrency: 2_000 } })
  try {
    const { database } = escapement
    const idle = drainer(escapement)
    let filled = 0
    for (const count of finished) {
      await fill(database, filled, count)
      filled = count
      const rates = {
        enqueue: [] as number[],
        drain: [] as number[],
        cpu: [] as number[],
        wal: [] as number[],
      }
      for (let round = 0; round < rounds; round++) {
        const [wal, cpu] = [await walPosition(database), cpuSeconds(server.pid)]
        rates.enqueue.push(runs / (await seconds(() => enqueue(escapement, runs))))
        rates.drain.push(runs / (await seconds(() => idle.drain(runs))))
        rates.wal.push(((await walPosition(database)) - wal) / runs)
        rates.cpu.push(((cpuSeconds(server.pid) - cpu) / runs) * 1e6)
      }
      print(
        [
          `${inEnglish(count)} finished: enqueue ${spread(rates.enqueue)}/s, drain ${spread(rates.drain)}/s`,
          `${spread(rates.cpu)} µs of the server's processors and ${spread(rates.wal)} bytes of WAL for each run`,
          `${inEnglish(await number(database, DEAD_ROWS))} dead rows`,
        ].join('; '),
      )
    }
  } finally {
    await escapement.close()
    await server.remove()
  }
}

const DEAD_ROWS = `select sum(n_dead_tup)::float8 as value from pg_stat_user_tables where relname like 'runs%'`

/** Finished runs of the last thirty days, a million in one transaction. */
async function fill(database: Escapement['database'], from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1_000_000) {
    await database.query(
      `with asked as (
         insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
           priority, created_at)
         select gen_random_uuid(), lpad(to_hex((random() * ${SCHEDULES})::int), 32, '0')::uuid, 'global', at, 1, 'scheduled',
           'report', $3::jsonb, 'default', 0, at
         from generate_series($1::int, $2::int) as n
         cross join lateral (select now() - interval '30 days' * (1 - n::float8 / 1e7)) as age (at)
         returning id, created_at
       )
       insert into escapement.runs_ended (id, state, eligible_at, attempt, lease_token, worker_id, result, started_at, finished_at)
       select id, 'succeeded', created_at, 1, gen_random_uuid(), gen_random_uuid(), '{"rows": 12345}', created_at, created_at
       from asked`,
      [at + 1, Math.min(at + 1_000_000, to), JSON.stringify(INPUT)],
    )
  }
  await database.query('vacuum analyze escapement.runs_asked, escapement.runs_ended')
  await database.query('checkpoint')
}

async function enqueue(escapement: Escapement, runs: number): Promise<void> {
  for (let done = 0; done < runs; done += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, runs - done) }, () => ({ input: INPUT }))
    await escapement.runs.enqueueMany('report', items)
  }
}

/** Works only when it is told to: enqueueing and draining are measured apart. */
function drainer(escapement: Escapement) {
  let left = 0
  let isDone = () => {}
  escapement.job('report', {
    handler: () => {
      left--
      if (left === 0) isDone()
      return { rows: 12_345 }
    },
  })
  return {
    async drain(runs: number) {
      left = runs
      const handled = new Promise<void>((resolve) => {
        isDone = resolve
      })
      await escapement.start({ roles: ['worker'] })
      await handled
      await escapement.stop()
    },
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchGrowth(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
