/** So many cron items, all of one minute: how long until each has its job. Begun a second before a minute ends, by its clock. */
import { EventEmitter, once } from 'node:events'
import { Logger, parseCronItems, run } from 'graphile-worker'
import pg from 'pg'

const [url, count] = process.argv.slice(2)
const pgPool = new pg.Pool({ connectionString: url, max: 25 })
pgPool.on('error', () => {})
await pgPool.query('drop schema if exists graphile_worker cascade')
const events = new EventEmitter()
const begins = once(events, 'cron:schedule').then(() => performance.now())
await run({
  pgPool,
  events,
  logger: new Logger(() => () => {}),
  noHandleSignals: true,
  // Another job's: nothing is worked on meanwhile.
  taskList: { other: () => {} },
  parsedCronItems: parseCronItems(
    Array.from({ length: Number(count) }, (_, n) => ({
      task: 'noop',
      match: '* * * * *',
      identifier: `customer:${n}`,
      payload: { n },
    })),
  ),
})
await once(events, 'cron:scheduled')
const ms = performance.now() - (await begins)
const { rows } = await pgPool.query('select count(*)::int as made from graphile_worker._private_jobs')
console.log(JSON.stringify({ made: rows[0].made, ms }))
process.exit()
