/**
 * What PostgreSQL gives when nothing else is asked of it: schedules, narrow cursors, and runs whose id is their only unique key. A tick
 * locks what is due, plans it here, moves the cursors by compare-and-set and inserts the runs, all in batches. No versions, no
 * skips, no overlap, no history of a schedule, no lines by queue and priority. It is the limit that ours is held against.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'

export interface HandWrittenFiring {
  fill(count: number): Promise<void>
  /** Has a random herd of them fire: so many in a second. */
  fire(herd: number): Promise<number>
  close(): Promise<void>
}

const HOUR = 3_600_000
const BATCH = 1_000
const AT_ONCE = 2

const CREATE = `
  create schema if not exists hand;
  create table hand.schedules (id uuid primary key, name text not null, job text not null, input jsonb not null, timing jsonb not null);
  create table hand.cursors (schedule_id uuid primary key, next_at timestamptz(3) not null);
  create index on hand.cursors (next_at, schedule_id);
  create table hand.runs (id uuid primary key, schedule_id uuid not null, plan_time timestamptz(3) not null, job text not null,
    input jsonb not null, state text not null, eligible_at timestamptz(3) not null);
  create index on hand.runs (eligible_at, id) where state = 'pending'`

const SCHEDULES = `
  insert into hand.schedules
  select uuidv7(), 'customer:' || n, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
    jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours', 'anchor', '2001-01-01T00:00:00', 'zone', 'UTC')
  from generate_series(1, $1::int) as n`

const DUE = `
  update hand.cursors set next_at = $1
  where schedule_id in (select id from hand.schedules order by md5(id::text || $2::text) limit $3::int)`

const LOCK = `
  select c.schedule_id, c.next_at, s.timing->>'every' as every
  from (select * from hand.cursors where next_at <= $1 order by next_at, schedule_id limit ${BATCH} for update skip locked) as c
  join hand.schedules as s on s.id = c.schedule_id`

const RECORD = `
  with moved as (
    update hand.cursors as c set next_at = plan.next_at
    from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::uuid[]) as plan (id, cursor, next_at, run_id)
    where c.schedule_id = plan.id and c.next_at = plan.cursor
    returning c.schedule_id, plan.cursor as plan_time, plan.run_id
  )
  insert into hand.runs
  select moved.run_id, s.id, moved.plan_time, s.job, s.input, 'pending', moved.plan_time
  from moved join hand.schedules as s on s.id = moved.schedule_id`

interface Due {
  schedule_id: string
  next_at: Date
  every: string
}

export async function openHandWrittenFiring(url: string): Promise<HandWrittenFiring> {
  const pool = new pg.Pool({ connectionString: url, max: 4, options: '-c enable_seqscan=off' })
  // Its server may go down before the last of them has said goodbye.
  pool.on('error', () => {})
  await pool.query(CREATE)
  let now = Date.parse('2026-03-01T00:00:00Z')

  /** Returns how many were due. */
  async function tick(): Promise<number> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows } = await client.query<Due>({ name: 'lock', text: LOCK, values: [new Date(now)] })
      const plans = rows.map((row) => ({
        ...row,
        next: row.next_at.getTime() + Number.parseInt(row.every, 10) * HOUR,
      }))
      await client.query({
        name: 'record',
        text: RECORD,
        values: [
          plans.map((plan) => plan.schedule_id),
          plans.map((plan) => plan.next_at.toISOString()),
          plans.map((plan) => new Date(plan.next).toISOString()),
          plans.map((plan) => runId(plan.schedule_id, plan.next_at)),
        ],
      })
      await client.query('commit')
      return rows.length
    } finally {
      client.release()
    }
  }

  return {
    async fill(count) {
      await pool.query('truncate hand.schedules, hand.cursors, hand.runs')
      await pool.query(SCHEDULES, [count])
      await pool.query(`insert into hand.cursors select id, '2030-01-01' from hand.schedules`)
      await pool.query('vacuum analyze hand.schedules, hand.cursors')
    },
    async fire(herd) {
      now += HOUR
      await pool.query(DUE, [new Date(now), String(now), herd])
      await pool.query('vacuum hand.cursors')
      const startedAt = performance.now()
      const ticks = async () => {
        while ((await tick()) === BATCH);
      }
      await Promise.all(Array.from({ length: AT_ONCE }, ticks))
      return herd / ((performance.now() - startedAt) / 1000)
    },
    close: () => pool.end(),
  }
}

/** The plan time first, so that what is planned together lies together. */
function runId(scheduleId: string, planTime: Date): string {
  const time = planTime.getTime().toString(16).padStart(12, '0')
  const name = createHash('sha1').update(`${scheduleId}|${planTime.getTime()}`).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-8${name.slice(0, 3)}-8${name.slice(3, 6)}-${name.slice(6, 18)}`
}
