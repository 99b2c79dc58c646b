import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { COUNT_STATEMENTS, emptyTables, settleTables } from '../contestants/postgres-tables.mjs'
import { serve } from '../contestants/serve.mjs'

const TABLES = ['graphile_worker._private_jobs']

await serve(async (url) => {
  const pgPool = new pg.Pool({ connectionString: url, max: 25 })
  pgPool.on('error', () => {})
  const logger = new Logger(() => () => {})
  const query = (text) => pgPool.query(text)
  let utils
  let runner
  const client = async () => {
    utils ??= await makeWorkerUtils({ pgPool, logger })
    return utils
  }

  return {
    prepare: async () => (await client()).migrate(),
    empty: () => emptyTables(query, TABLES),
    settle: () => settleTables(query, TABLES),
    enqueue: async (n) => (await client()).addJob('noop', { n }),
    enqueueMany: async (numbers) =>
      (await client()).addJobs(numbers.map((n) => ({ identifier: 'noop', payload: { n } }))),
    async work(handle, load) {
      const backlog = { concurrentJobs: 100, localQueue: { size: 1000, refetchDelay: { durationMs: 10 } } }
      const single = { concurrentJobs: 10, localQueue: { size: 11 } }
      runner = await run({
        pgPool,
        logger,
        noHandleSignals: true,
        taskList: { noop: ({ n }) => handle(n) },
        preset: {
          worker: {
            ...(load === 'backlog' ? backlog : single),
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      })
    },
    async unfinished() {
      const { rowCount } = await pgPool.query(`select 1 from ${TABLES[0]} limit 1`)
      return rowCount > 0
    },
    async statements() {
      const { rows } = await pgPool.query(COUNT_STATEMENTS)
      return rows[0].statements
    },
    async close() {
      await runner?.stop()
      await utils?.release()
    },
  }
})
