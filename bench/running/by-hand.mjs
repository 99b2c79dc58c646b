/**
 * A scheduler and a worker by hand, in one process: about the least that fires a row when it is due, claims it and records its end, each in one
 * statement for a batch. Plan times are a day apart, runs are kept, and nothing is fenced, checked, limited or retried. It tells its
 * parent of each handler that begins, as `process.mjs` does. Its argument is the database's URL.
 */
import pg from 'pg'

const BATCH = 500
const url = process.argv[2]

async function open() {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // A plan that was made while the tables were small must not read all of them when they have grown.
  await client.query('set enable_seqscan = off; set plan_cache_mode = force_generic_plan')
  return client
}
const [scheduler, worker, recorder, ears] = await Promise.all([open(), open(), open(), open()])

const NEXT =
  'select ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms from by_hand.cursors'
const FIRE = `
  with due as (
    select id, next_at, input from by_hand.cursors where next_at <= clock_timestamp() order by next_at limit ${BATCH} for update skip locked
  ),
  -- By an array, which leads to the primary key however large the table is.
  moved as (update by_hand.cursors set next_at = next_at + interval '1 day' where id = any(array(select id from due))),
  made as (
    insert into by_hand.runs (schedule_id, plan_time, input, state) select id, next_at, input, 'pending' from due returning 1
  )
  select count(*)::int as runs, pg_notify('by_hand_runs', '') from made having count(*) > 0`
const CLAIM = `
  update by_hand.runs set state = 'running', started_at = clock_timestamp()
  where id = any(array(
    select id from by_hand.runs where state = 'pending' order by plan_time limit ${BATCH} for update skip locked
  ))
  returning id, plan_time, input`
const RECORD = `update by_hand.runs set state = 'succeeded', finished_at = clock_timestamp() where id = any($1::uuid[])`

const ask = async (client, name, text, values = []) => (await client.query({ name, text, values })).rows

let wake = () => {}
const sleep = (ms) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(ms, 5_000))
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

async function schedule() {
  for (;;) {
    const [{ ms }] = await ask(scheduler, 'next', NEXT)
    if (ms === null || ms > 0) await sleep(ms ?? 5_000)
    for (;;) {
      const [fired] = await ask(scheduler, 'fire', FIRE)
      if (fired?.runs !== BATCH) break
    }
  }
}

/** Told together, so that telling does not hold up those that come next. */
let begun = []
function begin(run, planTime) {
  if (begun.length === 0) setImmediate(tell)
  begun.push({ run, at: Date.now(), planTime: planTime.getTime() })
}
function tell() {
  process.send({ begun })
  begun = []
}

let isWorking = false
let hasNews = false
let recorded = Promise.resolve()
async function work() {
  hasNews = true
  if (isWorking) return
  isWorking = true
  while (hasNews) {
    hasNews = false
    const rows = await ask(worker, 'claim', CLAIM)
    if (rows.length === BATCH) hasNews = true
    for (const row of rows) begin(row.id, row.plan_time)
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) recorded = recorded.then(() => ask(recorder, 'record', RECORD, [ids]))
  }
  isWorking = false
}

ears.on('notification', ({ channel }) => (channel === 'by_hand_runs' ? void work() : wake()))
await ears.query('listen by_hand_runs; listen by_hand_cursors')
void schedule()

process.on('disconnect', () => process.exit())
process.on('SIGTERM', () => process.exit())
process.send({ isReady: true })
