/** A database with finished runs, in which runs are enqueued and drained beside them. */
import { createEscapement } from '../src/index.js'
import { seconds } from './figures.js'

export interface History {
  readonly database: { query<Row>(text: string): Promise<Row[]> }
  /** Writes so many finished runs of the last thirty days. */
  fill(count: number): Promise<void>
  /** Asks for so many in bulk: so many in a second. */
  enqueue(runs: number): Promise<number>
  /** Has one worker do so many that wait: so many in a second. */
  drain(runs: number): Promise<number>
  close(): Promise<void>
}

const SCHEDULES = 100_000
const CALL = 10_000
const TRANSACTION = 1_000_000
const INPUT = { customer: 123_456, report: 'x'.repeat(100) }

export async function openHistory(url: string): Promise<History> {
  const escapement = await createEscapement({ database: url, worker: { concurrency: 2_000 } })
  const { database } = escapement
  let left = 0
  let isDone = () => {}
  escapement.job('report', {
    handler: () => {
      left--
      if (left === 0) isDone()
      return { rows: 12_345 }
    },
  })

  async function enqueueAll(runs: number): Promise<void> {
    for (let done = 0; done < runs; done += CALL) {
      const items = Array.from({ length: Math.min(CALL, runs - done) }, () => ({ input: INPUT }))
      await escapement.runs.enqueueMany('report', items)
    }
  }

  /** Works only while it is told to: enqueueing and draining are measured apart. */
  async function drainAll(runs: number): Promise<void> {
    left = runs
    const handled = new Promise<void>((resolve) => {
      isDone = resolve
    })
    await escapement.start({ roles: ['worker'] })
    await handled
    await escapement.stop()
  }

  return {
    database,
    async fill(count) {
      for (let at = 0; at < count; at += TRANSACTION) {
        await database.query(FINISHED, [
          at + 1,
          Math.min(at + TRANSACTION, count),
          count,
          JSON.stringify(INPUT),
        ])
      }
      await database.query('vacuum analyze escapement.runs_asked, escapement.runs_ended')
      await database.query('checkpoint')
    },
    enqueue: async (runs) => runs / (await seconds(() => enqueueAll(runs))),
    drain: async (runs) => runs / (await seconds(() => drainAll(runs))),
    close: () => escapement.close(),
  }
}

const FINISHED = `
  with asked as (
    insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
      priority, created_at)
    select gen_random_uuid(), lpad(to_hex((random() * ${SCHEDULES})::int), 32, '0')::uuid, 'global', at, 1, 'scheduled',
      'report', $4::jsonb, 'default', 0, at
    from generate_series($1::int, $2::int) as n
    cross join lateral (select now() - interval '30 days' * (1 - n::float8 / $3::float8)) as age (at)
    returning id, created_at
  )
  insert into escapement.runs_ended (id, state, eligible_at, attempt, lease_token, worker_id, result, started_at, finished_at)
  select id, 'succeeded', created_at, 1, gen_random_uuid(), gen_random_uuid(), '{"rows": 12345}', created_at, created_at
  from asked`
