/**
 * The thread in which PGlite runs. The engine computes synchronously: on the main thread, a query of one second would
 * be a second without a timer, a request or a lease renewal.
 *
 * It answers requests one after the other, in the order in which they came; which of them belong to a transaction is
 * decided on the main side (`pglite.ts`), which never mixes others in between.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { DATE, INT8, keepText, parseInt8, parseTimestamptz, TIMESTAMP, TIMESTAMPTZ } from './column-types.js'
import { errorFields } from './pglite-errors.js'
import { Maintenance } from './pglite-maintenance.js'
import {
  type FromThread,
  type Reply,
  type Request,
  STARTING,
  type ThreadOptions,
  type ToThread,
} from './pglite-messages.js'
import { syncTree } from './sync-to-disk.js'
import { SyncedFileSystem } from './synced-file-system.js'

const port = parentPort!
const options = workerData as ThreadOptions

const SETTINGS = {
  search_path: 'public',
  exit_on_error: 'false',
  log_checkpoints: 'false',
  // There is one process: what would be done by others must not be waited for.
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  io_method: 'sync',
  datestyle: 'ISO, YMD',
  fsync: 'on',
  // The only method that reaches the file system: `fdatasync` and `open_datasync` do nothing in the engine.
  wal_sync_method: 'fsync',
  // The memory of a WebAssembly module never shrinks; the host's page cache does the rest.
  shared_buffers: '8MB',
  wal_buffers: '256kB',
  max_connections: '5',
  work_mem: '4MB',
  maintenance_work_mem: '16MB',
}

function startParams(): string[] {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['--single', '-O', '-j', ...settings]
}

async function main(): Promise<void> {
  const { data, template } = options
  const files = data && new SyncedFileSystem(data.path)
  const engineOptions: PGliteOptions = {
    startParams: startParams(),
    // A segment of 1 MB instead of 16: small folders, and checkpoints that give space back.
    initDbStartParams: ['--wal-segsize=1'],
    parsers: {
      [INT8]: parseInt8,
      [DATE]: keepText,
      [TIMESTAMP]: keepText,
      [TIMESTAMPTZ]: parseTimestamptz,
    },
  }
  if (files) engineOptions.fs = files
  if (template && data?.isNew !== false) engineOptions.loadDataDir = new Blob([template])
  const engine = await startEngine(engineOptions)
  // What was unpacked was only written; from here on the engine syncs what it writes.
  if (data?.isNew) syncTree(data.path)
  engine.onNotification((channel, payload) => send({ notification: { channel, payload } }))

  let inTransaction = false
  let turn: Promise<void> = Promise.resolve()
  const takeTurn = (work: () => Promise<void>) => {
    turn = turn.then(async () => {
      await work()
      // A failed vacuum is tried again at the next look; a broken engine shows below.
      if (maintenance.isDue && !inTransaction) await maintenance.run().catch(() => {})
      if (files?.failure) fail(files.failure)
    })
    turn.catch(fail)
  }
  const maintenance = new Maintenance(engine, options.maintenance, () => takeTurn(async () => {}))
  port.on('message', ({ id, request }: ToThread) =>
    takeTurn(async () => {
      if (request.op === 'close') maintenance.stop()
      let reply = await answer(engine, request).catch(replyToFailure)
      inTransaction = request.op === 'begin' || (inTransaction && !ENDS_TRANSACTION.has(request.op))
      if (request.op !== 'close') {
        maintenance.noteActivity()
        if (!inTransaction && engine.isInTransaction()) reply = await endStrayTransaction(engine)
      }
      if (!files?.failure) send({ id, reply })
    }),
  )
  send({ id: STARTING, reply: { done: true } })
}

/** When PGlite cannot start, its own error says nothing; the engine says why on its standard error. */
async function startEngine(engineOptions: PGliteOptions): Promise<PGlite> {
  let reason = ''
  const onStderr = (line: string) => {
    const [, fatal] = /\b(?:FATAL|PANIC): +(.*)/.exec(line) ?? []
    reason ||= fatal ?? ''
    return false
  }
  try {
    return await PGlite.create({ ...engineOptions, onStderr })
  } catch (error) {
    throw reason ? new Error(reason, { cause: error }) : error
  }
}

const ENDS_TRANSACTION: ReadonlySet<Request['op']> = new Set(['commit', 'rollback'])

/** A bare `begin` would draw everybody's later statements into one transaction that nobody commits. */
async function endStrayTransaction(engine: PGlite): Promise<Reply> {
  await engine.exec('rollback')
  const message =
    'A statement left a transaction open in the one session that all share. Use `transaction()`.'
  return { error: { message, escapement: { code: 'database_busy', details: {} } } }
}

/** The engine itself broke down, as opposed to a statement that it refused. */
class EngineCrash extends Error {}

function replyToFailure(error: unknown): Reply {
  if (error instanceof EngineCrash) throw error
  return { error: errorFields(error) }
}

/** PGlite swallows what the engine throws when it crashes, and answers with an empty result. */
async function requireAnswer(engine: PGlite, result: { command?: string } | undefined): Promise<void> {
  if (result?.command !== undefined) return
  // An empty statement has no command either, but then the engine still answers.
  const { rows } = await engine.query('select 1')
  if (rows.length === 0) throw new EngineCrash('the engine crashed')
}

async function answer(engine: PGlite, request: Request): Promise<Reply> {
  switch (request.op) {
    case 'query': {
      const result = await engine.query(request.text, [...request.params])
      await requireAnswer(engine, result)
      return { rows: result.rows }
    }
    case 'script':
      await requireAnswer(engine, (await engine.exec(request.text)).at(-1))
      return { done: true }
    case 'begin':
    case 'rollback':
      await requireAnswer(engine, (await engine.exec(request.op)).at(-1))
      return { done: true }
    case 'commit': {
      const [result] = await engine.exec('commit')
      await requireAnswer(engine, result)
      return { rows: [{ command: result?.command }] }
    }
    case 'dump':
      return { archive: await (await engine.dumpDataDir('none')).arrayBuffer() }
    case 'close':
      await engine.close()
      return { done: true }
  }
}

function fail(error: unknown): void {
  send({ failed: errorFields(error) })
  port.close()
}

function send(message: FromThread): void {
  port.postMessage(message)
}

main().catch((error) => send({ id: STARTING, reply: { error: errorFields(error) } }))
