/**
 * How fast direct runs are written: many in one call, beside a hand-written insert of the same rows, and single calls
 * that wait together.
 *
 *     npm run bench:enqueue             100,000 at once; about a minute
 *     npm run bench:enqueue -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each figure is the median of its rounds with the lowest and
 * highest beside it.
 */
import { pathToFileURL } from 'node:url'
import { assemble } from '../src/escapement.js'
import type { Database } from '../src/index.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { seconds, spread } from './figures.js'

export interface EnqueueSize {
  many: number
  callers: number
  rounds: number
}

const FULL: EnqueueSize = { many: 100_000, callers: 1_000, rounds: 7 }
export const QUICK: EnqueueSize = { many: 2_000, callers: 50, rounds: 1 }
const CHUNK = 5_000

const inputOf = (customer: number) => ({ customer, report: 'x'.repeat(50) })

export async function benchEnqueue(size: EnqueueSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const { escapement } = await assemble({ database: server.url })
  const { database, runs } = escapement
  const job = escapement.job('noop', { handler: () => {} })
  const items = Array.from({ length: size.many }, (_, n) => ({ input: inputOf(n) }))
  const keyed = items.map(({ input }) => ({ input, key: `customer:${input.customer}` }))
  const ways: Record<string, () => Promise<unknown>> = {
    'by hand': () => insertByHand(database, size.many),
    enqueueMany: () => runs.enqueueMany(job, items),
    'enqueueMany with keys': () => runs.enqueueMany(job, keyed),
  }
  try {
    const rates = new Map(Object.keys(ways).map((name) => [name, [] as number[]]))
    // In turns, so that what disturbs the machine disturbs all of them.
    for (let round = 0; round < size.rounds; round++) {
      for (const [name, way] of Object.entries(ways)) {
        await database.query(
          'truncate escapement.runs_asked, escapement.runs_open, escapement.runs_ended cascade',
        )
        rates.get(name)!.push(size.many / (await seconds(way)))
      }
    }
    for (const [name, values] of rates) print(`${name}: ${spread(values)} runs/s`)
    print(
      `enqueue, ${size.callers} callers: ${spread(await singles(size, () => runs.enqueue(job, inputOf(1))))} calls/s`,
    )
    const alone = await singles({ ...size, callers: 1 }, () => runs.enqueue(job, inputOf(1)))
    print(`enqueue, 1 caller: ${spread(alone)} calls/s`)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

/** What the rows cost without us: arrays of the two columns that differ, in one transaction. */
async function insertByHand(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    for (let from = 0; from < count; from += CHUNK) {
      const inputs = Array.from({ length: Math.min(CHUNK, count - from) }, (_, n) => inputOf(from + n))
      await tx.query(
        `with asked as (
           insert into escapement.runs_asked (id, trigger, job, input, queue, priority, created_at)
           select gen_random_uuid(), 'direct', 'noop', input, 'default', 0, now() from unnest($1::jsonb[]) as input
           returning id, job, queue, priority
         )
         insert into escapement.runs_open (id, job, queue, priority, state, eligible_at)
         select id, job, queue, priority, 'pending', now() from asked`,
        [inputs.map((input) => JSON.stringify(input))],
      )
    }
  })
}

/** Callers that each ask again as soon as they are answered. */
async function singles({ callers, rounds }: EnqueueSize, call: () => Promise<unknown>): Promise<number[]> {
  const rates: number[] = []
  const calls = 20
  const caller = async () => {
    for (let n = 0; n < calls; n++) await call()
  }
  for (let round = 0; round < rounds; round++) {
    const taken = await seconds(() => Promise.all(Array.from({ length: callers }, caller)))
    rates.push((callers * calls) / taken)
  }
  return rates
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchEnqueue(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
