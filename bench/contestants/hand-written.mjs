import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { COUNT_STATEMENTS, emptyTables, settleTables } from './postgres-tables.mjs'
import { serve } from './serve.mjs'

/**
 * What PostgreSQL gives when nothing else is asked of it: a queue of one table that keeps its history, with fenced
 * outcomes. No retries, no leases that expire, no schedules. It is the limit that the others are held against.
 */
const TABLES = ['queue']
const BATCH = { backlog: 1000, single: 10 }
const POLL_MS = 5_000
const KEYS_ONLY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

const CREATE = `
  create table if not exists queue (
    id bigint generated always as identity primary key,
    job text not null,
    input jsonb not null,
    priority integer not null default 0,
    state text not null default 'pending',
    eligible_at timestamptz(3) not null default now(),
    attempt integer not null default 0,
    lease_token uuid,
    lease_expires_at timestamptz(3),
    result jsonb,
    started_at timestamptz(3),
    finished_at timestamptz(3)
  );
  create index if not exists queue_for_claiming on queue (priority desc, eligible_at, id) where state = 'pending'`

const ENQUEUE = `
  with added as (insert into queue (job, input) values ('noop', $1::jsonb) returning id)
  select pg_notify('queue', ''), id from added`

const ENQUEUE_MANY = `
  with added as (insert into queue (job, input) select 'noop', input::jsonb from unnest($1::text[]) as input returning id)
  select pg_notify('queue', ''), count(*) from added`

const CLAIM = `
  update queue as q
  set state = 'running', attempt = q.attempt + 1, lease_token = $2, started_at = clock_timestamp(),
    lease_expires_at = clock_timestamp() + interval '30 seconds'
  from (
    select ctid from queue where state = 'pending' and eligible_at <= now()
    order by priority desc, eligible_at, id limit $1 for update skip locked
  ) as picked
  where q.ctid = picked.ctid
  returning q.id, q.input`

// Statistics call a row that is running impossible, and would have every one of them compared with every outcome: the
// batch leads, and finds its rows one by one.
const COMPLETE = `
  update queue as q set state = 'succeeded', result = o.result::jsonb, finished_at = clock_timestamp(), lease_expires_at = null
  from unnest($1::bigint[], $2::text[]) as o (id, result)
  cross join lateral (
    select ctid from queue where id = o.id and state = 'running' and lease_token = $3 for update offset 0
  ) as held
  where q.ctid = held.ctid
  returning q.id`

await serve(async (url) => {
  // Found by their keys, a batch at a time, whatever the statistics of a table say that was filled a moment ago.
  const pool = new pg.Pool({ connectionString: url, max: 25, options: KEYS_ONLY })
  const query = (text) => pool.query(text)
  const json = (n) => JSON.stringify({ n })
  let stopping = false
  let wake = () => {}
  let loops = []

  /** Claims the next batch while the outcomes of the one before are written. */
  async function loop(handle, batch) {
    let completing = Promise.resolve()
    while (!stopping) {
      const woken = new Promise((resolve) => {
        wake = resolve
      })
      const token = randomUUID()
      const { rows } = await pool.query({ name: 'claim', text: CLAIM, values: [batch, token] })
      await completing
      for (const { input } of rows) handle(input.n)
      if (rows.length > 0) {
        const ids = rows.map(({ id }) => id)
        const results = rows.map(() => 'null')
        completing = pool.query({ name: 'complete', text: COMPLETE, values: [ids, results, token] })
      } else {
        const timer = setTimeout(wake, POLL_MS)
        await woken
        clearTimeout(timer)
      }
    }
    await completing
  }

  return {
    async prepare() {
      await query(CREATE)
    },
    empty: () => emptyTables(query, TABLES),
    settle: () => settleTables(query, TABLES),
    enqueue: (n) => pool.query({ name: 'enqueue', text: ENQUEUE, values: [json(n)] }),
    enqueueMany: (numbers) => pool.query({ name: 'many', text: ENQUEUE_MANY, values: [numbers.map(json)] }),
    async work(handle, load) {
      const listener = await pool.connect()
      listener.on('notification', () => wake())
      await listener.query('listen queue')
      loops = [loop(handle, BATCH[load])]
    },
    async unfinished() {
      const { rowCount } = await pool.query(`select 1 from queue where state <> 'succeeded' limit 1`)
      return rowCount !== 0
    },
    async statements() {
      const { rows } = await pool.query(COUNT_STATEMENTS)
      return rows[0].statements
    },
    async close() {
      stopping = true
      wake()
      await Promise.all(loops)
    },
  }
})
