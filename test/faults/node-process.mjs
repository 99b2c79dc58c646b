/**
 * One process of the system under test. Its first argument holds, as JSON: `dist` (the library's folder), `database` (by way of its
 * proxy), `direct` (the server itself, for the witness's own clock), `witness` (its file), `seed`, and `isPooled` (whether PgBouncer is
 * on its way).
 *
 * Each start and each end of a handler is a line, synced, in its own file, outside of the system: what ran, and when by the
 * database's clock.
 */
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'

const { dist, database, direct, witness, seed, isPooled } = JSON.parse(process.argv[2])
const { createEscapement, set } = await import(pathToFileURL(`${dist}/index.js`).href)
const file = fs.openSync(witness, 'a')
const nodeId = randomUUID()

function write(line) {
  fs.writeSync(file, `${JSON.stringify(line)}\n`)
  fs.fdatasyncSync(file)
}

let connection
/** An answer of the database past everything that is broken, or undefined where it has none. */
async function ask(text, params) {
  let client
  try {
    connection ??= connect()
    client = await connection
    return (await client.query(text, params)).rows[0]
  } catch {
    connection = undefined
    // One that only took too long is still there.
    client?.end().catch(() => {})
    return undefined
  }
}

async function connect() {
  const client = new pg.Client({
    connectionString: direct,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  })
  client.on('error', () => {
    connection = undefined
  })
  await client.connect()
  return client
}

async function databaseTime() {
  const row = await ask('select extract(epoch from clock_timestamp()) * 1000 as now')
  return row ? Number(row.now) : null
}

/** The lease under which this attempt runs, as long as nobody has taken it. */
async function leaseOf(run, attempt) {
  const row = await ask(
    "select lease_token from escapement.runs_open where id = $1 and attempt = $2 and state = 'running'",
    [run, attempt],
  )
  return row?.lease_token ?? null
}

/** Whatever the preloaded clock says: this one nobody moves. */
const hostTime = () => performance.timeOrigin + performance.now()

async function witnessed({ job, run, schedule, scope, planTime, attempt, workerId, signal }, work) {
  const nonce = randomUUID()
  const facts = {
    run: run.id,
    job,
    schedule,
    scheduleId: run.scheduleId,
    scope,
    planTime: planTime?.getTime() ?? null,
    attempt,
    nonce,
    worker: workerId,
    node: nodeId,
    pid: process.pid,
  }
  const startedAt = await databaseTime()
  const lease = await leaseOf(run.id, attempt)
  write({ what: 'start', ...facts, mono: performance.now(), host: hostTime(), database: startedAt, lease })
  try {
    await work?.()
    write({ what: 'end', ...facts, mono: performance.now(), host: hostTime(), aborted: signal.aborted })
    return { nonce, attempt }
  } catch (error) {
    write({
      what: 'failed',
      ...facts,
      mono: performance.now(),
      host: hostTime(),
      message: String(error.message).slice(0, 100),
    })
    throw error
  }
}

/** From 0 to 1, the same on each host: what fails and how long things take follows from the seed and the run. */
function chanceOf(...parts) {
  return (
    createHash('sha256')
      .update([seed, ...parts].join('|'))
      .digest()
      .readUInt32BE(0) /
    2 ** 32
  )
}

const escapement = await createEscapement({
  database,
  logger: {
    debug() {},
    info() {},
    warn() {},
    error: (facts, message) => console.error(message, facts?.err?.message ?? ''),
  },
  sweeper: { wake: true, interval: '2 seconds' },
})

const PATIENT = { retry: { attempts: 100, backoff: ['200 milliseconds'] }, lease: '5s' }
escapement.job('quick', { ...PATIENT, handler: (context) => witnessed(context) })
escapement.job('slow', {
  ...PATIENT,
  handler: (context) => witnessed(context, () => sleep(300 + 5_700 * chanceOf(context.run.id, 'slow') ** 2)),
})
escapement.job('flaky', {
  ...PATIENT,
  handler: (context) =>
    witnessed(context, () => {
      if (chanceOf(context.run.id, context.attempt) < 0.3) throw new Error('flaky')
    }),
})
escapement.job('doomed', {
  retry: { attempts: 1 },
  lease: '5s',
  handler: (context) =>
    witnessed(context, () => {
      if (chanceOf(context.run.id, 'doomed') < 0.7) throw new Error('doomed')
    }),
})
escapement.job('at-most-once', {
  onStale: 'fail',
  retry: { attempts: 1 },
  lease: '5s',
  handler: (context) => witnessed(context, () => sleep(200 * chanceOf(context.run.id, 'slow'))),
})
escapement.job('count', {
  ...PATIENT,
  transactional: true,
  handler: (context) =>
    witnessed(context, async () => {
      await context.tx.query('insert into public.tally (run, attempt) values ($1, $2)', [
        context.run.id,
        context.attempt,
      ])
      await sleep(100 * chanceOf(context.run.id, 'count'))
    }),
})

await escapement.transitions.declare('public.posts', {
  fields: {
    publish_at: set('status', { from: 'draft', to: 'published' }),
    archive_at: set('status', { to: 'archived' }),
  },
  inTransaction: (tx, changes) =>
    tx.query('insert into public.outbox (post, field) select * from unnest($1::text[], $2::text[])', [
      changes.map(({ key }) => key.id),
      changes.map(({ field }) => field),
    ]),
})

// Whoever started it is gone, and with that the one who would end it.
process.on('disconnect', () => process.exit(1))
await escapement.start()
write({ what: 'ready', node: nodeId, pid: process.pid, isPooled, mode: escapement.database.mode })
process.send({ isReady: true })
process.on('SIGTERM', async () => {
  await escapement.close()
  fs.closeSync(file)
  process.exit(0)
})
