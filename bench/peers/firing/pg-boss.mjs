/** So many schedules of every minute: how long until each has its job, from the first one on. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'

const [url, count] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 2 })
await pool.query('drop schema if exists pgboss cascade')
const start = async (options) => {
  const boss = new PgBoss({ connectionString: url, max: 25, ...options })
  boss.on('error', (error) => console.error(error))
  return boss.start()
}
const before = await start({ schedule: false, supervise: false })
await before.createQueue('noop')
await before.schedule('noop', '* * * * *', { n: 0 }, { key: '0' })
await pool.query(
  `insert into pgboss.schedule (name, key, kind, cron, timezone, data, options, created_on, updated_on)
   select name, n::text, kind, cron, timezone, jsonb_build_object('n', n), options, created_on, updated_on
   from pgboss.schedule cross join generate_series(1, $1::int - 1) as n`,
  [count],
)
await before.stop({ graceful: false })
await start({ schedule: true, cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 })
const made = async () =>
  (
    await pool.query(
      `select count(*)::int as made, extract(epoch from max(created_on) - min(created_on))::float8 * 1000 as ms
       from pgboss.job where name = 'noop'`,
    )
  ).rows[0]
// Its slots are minutes: one that ends in between makes some of them again.
const giveUpAt = performance.now() + 55_000
while ((await made()).made < Number(count) && performance.now() < giveUpAt) await sleep(500)
console.log(JSON.stringify(await made()))
process.exit()
