import { createEscapement } from 'escapement'
import { COUNT_STATEMENTS, emptyTables, settleTables } from './postgres-tables.mjs'
import { serve } from './serve.mjs'

const TABLES = ['runs_asked', 'runs_open', 'lots', 'runs_ended'].map((table) => `escapement.${table}`)
const CONCURRENCY = { backlog: 1000, single: 10 }

await serve(async (url) => {
  const client = await createEscapement({ database: url })
  const query = (text) => client.database.query(text)
  const job = client.job('noop', { handler: () => {} })
  let worker

  return {
    // Opening it did.
    prepare: async () => {},
    empty: () => emptyTables(query, TABLES),
    settle: () => settleTables(query, TABLES),
    enqueue: (n) => client.runs.enqueue(job, { n }),
    enqueueMany: (numbers) => {
      const items = numbers.map((n) => ({ input: { n } }))
      return client.runs.enqueueMany(job, items)
    },
    async work(handle, load) {
      worker = await createEscapement({ database: url, worker: { concurrency: CONCURRENCY[load] } })
      worker.job('noop', { handler: ({ input }) => handle(input.n) })
      await worker.start({ roles: ['worker'] })
    },
    async unfinished() {
      const rows = await query(`select 1 from escapement.runs_at_hand limit 1`)
      return rows.length > 0
    },
    async statements() {
      const [row] = await query(COUNT_STATEMENTS)
      return row.statements
    },
    async close() {
      await worker?.close()
      await client.close()
    },
  }
})
