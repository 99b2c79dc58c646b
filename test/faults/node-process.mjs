/**
 * One process of the system under test. Its first argument holds, as JSON: `dist` (the library's folder), `database` (by way of its
 * proxy), `direct` (the server itself, for the witness's own clock), `witness` (its file), `seed`, `isPooled` (whether PgBouncer is
 * on its way), `hasOwnPool` (whether the library works on a pool that is the program's), `isQuiet` (whether there is a worker
 * beside it that has hardly anything to do), and `hasFew` (whether it has the job with a limit).
 *
 * Each start and each end of a handler is a line, synced, in its own file, outside of the system: what ran, under which lease, and
 * when by the database's clock.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { openWitness } from './witnessing.mjs'

const { dist, database, direct, witness, seed, isPooled, hasOwnPool, isQuiet, hasFew } = JSON.parse(
  process.argv[2],
)
const { createEscapement, set } = await import(pathToFileURL(`${dist}/index.js`).href)
const { witnessed, ready, close } = openWitness({ file: witness, direct })

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

const logger = {
  debug() {},
  info() {},
  warn() {},
  error: (facts, message) => console.error(message, facts?.err?.message ?? ''),
}
const ownPool = hasOwnPool
  ? new pg.Pool({ connectionString: database, max: 12, connectionTimeoutMillis: 5_000 })
  : null
// Whose pool it is hears of its idle connections that break: without that the process would end.
ownPool?.on('error', () => {})
const escapement = await createEscapement({
  database: ownPool ?? database,
  logger,
  // More than run at once in a storm: how many a worker has places for is not what is tried here.
  worker: { concurrency: 30 },
  sweeper: { wake: true, interval: '2 seconds' },
})

const PATIENT = { retry: { attempts: 100, backoff: ['200 milliseconds'] }, lease: '5s' }
escapement.job('quick', { ...PATIENT, handler: (context) => witnessed(context) })
escapement.job('slow', {
  ...PATIENT,
  handler: (context) =>
    witnessed(context, () => sleep(300 + 5_700 * chanceOf(context.run.id, 'slow') ** 1.5)),
})
escapement.job('flaky', {
  ...PATIENT,
  handler: (context) =>
    witnessed(context, () => {
      if (chanceOf(context.run.id, context.attempt) < 0.3) throw new Error('flaky')
    }),
})
// Tried twice, each time for long enough to lose its lease on the way: what a stale attempt says is not true of the other.
escapement.job('limping', {
  ...PATIENT,
  handler: (context) =>
    witnessed(context, async () => {
      await sleep(1_000 + 2_500 * chanceOf(context.run.id, 'limping'))
      if (context.attempt === 1) throw new Error('limping')
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

// Only some have it: the others claim without counting, also what these have put aside for themselves.
if (hasFew)
  escapement.job('few', {
    ...PATIENT,
    concurrency: 2,
    handler: (context) => witnessed(context, () => sleep(100 + 500 * chanceOf(context.run.id, 'few'))),
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
const quiet = isQuiet
  ? await createEscapement({ database, logger, migrate: false, worker: { queues: ['quiet'] } })
  : null
quiet?.job('quiet', { ...PATIENT, handler: (context) => witnessed(context) })
await quiet?.start({ roles: ['worker'] })
ready({ isPooled, mode: escapement.database.mode })
process.send({ isReady: true })
process.on('SIGTERM', async () => {
  await Promise.all([escapement.close(), quiet?.close()])
  await ownPool?.end()
  close()
  process.exit(0)
})

/** Holds all connections that this process has: those of its own pool, or those that callers of the library share. */
async function exhaustPool(ms) {
  if (ownPool === null) {
    const asked = Array.from({ length: 30 }, () =>
      escapement.database.query('select pg_sleep($1)', [ms / 1_000 / 2]).catch(() => {}),
    )
    await Promise.all(asked)
    return
  }
  const until = performance.now() + ms
  const taken = Array.from({ length: ownPool.options.max }, async () => {
    const client = await ownPool.connect().catch(() => null)
    client?.on('error', () => {})
    await sleep(Math.max(0, until - performance.now()))
    client?.release(true)
  })
  await Promise.all(taken)
}

process.on('message', (message) => {
  if (typeof message?.exhaustPoolMs === 'number') void exhaustPool(message.exhaustPoolMs)
})
