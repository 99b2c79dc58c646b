import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { COUNT_STATEMENTS, emptyTables, settleTables } from '../contestants/postgres-tables.mjs'
import { serve } from '../contestants/serve.mjs'

const QUEUE = 'noop'

await serve(async (url) => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const query = (text) => pool.query(text)
  let client
  let worker
  async function start(options) {
    const boss = new PgBoss({ connectionString: url, max: 25, schedule: false, ...options })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    return boss
  }
  async function boss() {
    client ??= await start({ supervise: false })
    return client
  }
  async function tables() {
    const { rows } = await pool.query(`select table_name from pgboss.queue where name = '${QUEUE}'`)
    return [`pgboss.${rows[0].table_name}`]
  }

  return {
    prepare: async () => (await boss()).createQueue(QUEUE, { partition: true, notify: true }),
    empty: async () => emptyTables(query, await tables()),
    settle: async () => settleTables(query, await tables()),
    enqueue: async (n) => (await boss()).send(QUEUE, { n }),
    enqueueMany: async (numbers) => {
      await (await boss()).insert(
        QUEUE,
        numbers.map((n) => ({ data: { n } })),
      )
    },
    async work(handle, load) {
      worker = await start({ useListenNotify: true })
      const backlog = { batchSize: 1000, burstWhenBatchFull: true, localConcurrency: 2 }
      await worker.work(QUEUE, load === 'backlog' ? backlog : { batchSize: 10 }, async (jobs) => {
        for (const { data } of jobs) handle(data.n)
      })
    },
    async unfinished() {
      const [table] = await tables()
      const { rowCount } = await pool.query(`select 1 from ${table} where state < 'completed' limit 1`)
      return rowCount > 0
    },
    async statements() {
      const { rows } = await pool.query(COUNT_STATEMENTS)
      return rows[0].statements
    },
    async close() {
      await worker?.stop({ graceful: false })
      await client?.stop({ graceful: false })
    },
  }
})
