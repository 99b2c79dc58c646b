/**
 * The thread in which PGlite runs. The engine computes synchronously: on the main thread, a query of one second would
 * be a second without a timer, a request or a lease renewal.
 *
 * It answers requests one after the other, in the order in which they came; which of them belong to a transaction is
 * decided on the main side (`pglite.ts`), which never mixes others in between.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { isOften } from './often.js'
import { answer, endStrayTransaction } from './pglite-answer.js'
import { errorFields } from './pglite-errors.js'
import { Maintenance } from './pglite-maintenance.js'
import {
  type FromThread,
  type Request,
  STARTING,
  type ThreadOptions,
  type ToThread,
} from './pglite-messages.js'
import { createPrepared } from './pglite-prepared.js'
import { startPGlite } from './pglite-start.js'
import { syncTree } from './sync-to-disk.js'
import { SyncedFileSystem } from './synced-file-system.js'
import { unpack } from './unpack.js'

/** Those of a program, and some more: each takes some hundred kilobytes. */
const MOST_PREPARED = 40
/** For the statement alone: see the connections to a server, which do the same. */
const ONE_PLAN = 'set local plan_cache_mode = force_generic_plan; '

const port = parentPort!
const options = workerData as ThreadOptions

async function main(): Promise<void> {
  const { data, template } = options
  if (data?.isNew && template) createFrom(template, data.path)
  const files = data && new SyncedFileSystem(data.path)
  const engine = await startPGlite(files, data ? null : template, fail)
  // Without a template the engine made its own files, and did not sync them.
  if (data?.isNew && !template) syncTree(data.path)
  engine.onNotification((channel, payload) => send({ notification: { channel, payload } }))

  const prepared = createPrepared(engine, MOST_PREPARED)
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
      let reply = await (request.op === 'query' && isOften(request.text)
        ? prepared.run(request.text, request.params, inTransaction ? '' : ONE_PLAN)
        : answer(engine, request))
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

function createFrom(template: ArrayBuffer, path: string): void {
  unpack(template, path)
  syncTree(path)
}

const ENDS_TRANSACTION: ReadonlySet<Request['op']> = new Set(['commit', 'rollback'])

/** The last message: the main side rejects what is pending and ends this thread, wherever it is. */
function fail(error: unknown): void {
  send({ failed: errorFields(error) })
}

function send(message: FromThread): void {
  port.postMessage(message)
}

main().catch((error) => send({ id: STARTING, reply: { error: errorFields(error) } }))
