import { AsyncLocalStorage } from 'node:async_hooks'
import { EscapementError } from '../errors.js'
import { damaged, ensureDirectory, inspectDataDirectory, markComplete, notCreated } from './data-directory.js'
import type { Database, Param, PoolUse, Queryable, Transaction } from './database.js'
import { type DirectoryLock, lockDirectory } from './directory-lock.js'
import { readEmptyDatabase } from './empty-database.js'
import { parameterText } from './parameters.js'
import { closedError, PGliteEngine, rowsOf } from './pglite-engine.js'
import { errorFromFields } from './pglite-errors.js'
import type { MaintenanceLimits } from './pglite-messages.js'
import { createPlaces } from './places.js'
import { holdLockSql, letGoOfLockSql, listenSql, unlistenSql } from './session-statements.js'

export interface PGliteOptions {
  /** Where the database lives; created when absent. Without it, it is in memory and gone on `close()`. */
  directory?: string
  /** How often the engine tidies up, and how much its log may grow. */
  maintenance?: Partial<MaintenanceLimits>
  /** An archive made by `dump()`, with which a database that does not exist yet begins. */
  template?: Blob
}

export const PGLITE_MAINTENANCE = {
  lookAtLogMs: 1_000,
  checkpointAfterBytes: 16 * 1024 * 1024,
  lookAtTablesMs: 60_000,
} satisfies MaintenanceLimits

/** What the embedded database offers beyond the port. */
export interface EmbeddedDatabase extends Database {
  readonly kind: 'pglite'
  /** The lock on its directory, to say there where a server listens; null in memory. */
  readonly lock: DirectoryLock | null
  /** Resolves when the engine has stopped by itself: close it, and open it again. */
  readonly stopped: Promise<Error>
  /** The whole data directory as an archive, for `template`. */
  dump(): Promise<Blob>
  /** How its one session is used. */
  use(): Omit<PoolUse, 'pool'>
}

export function isEmbedded(database: Database): database is EmbeddedDatabase {
  return database instanceof PGliteDatabase
}

export async function openPGlite(options: PGliteOptions = {}): Promise<EmbeddedDatabase> {
  const { directory } = options
  const maintenance = { ...PGLITE_MAINTENANCE, ...options.maintenance }
  const begin = () => (options.template ? options.template.arrayBuffer() : readEmptyDatabase())
  if (directory === undefined) {
    const template = await begin()
    return new PGliteDatabase(await PGliteEngine.start({ data: null, template, maintenance }), null)
  }
  await ensureDirectory(directory)
  const lock = await lockDirectory(directory)
  try {
    const data = await inspectDataDirectory(directory)
    const template = data.isNew ? await begin() : null
    const engine = await PGliteEngine.start({ data, template, maintenance }).catch((error) => {
      throw data.isNew ? notCreated(directory, error) : damaged(directory, error)
    })
    if (data.isNew) {
      await markComplete(directory).catch(async (error) => {
        await engine.terminate()
        throw notCreated(directory, error)
      })
    }
    return new PGliteDatabase(engine, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * One session serves everybody: each query outside of a transaction and each whole transaction is a turn, and turns
 * are taken in the order in which they were asked for.
 */
class PGliteDatabase implements EmbeddedDatabase {
  readonly kind = 'pglite'
  readonly mode = 'direct'
  readonly canListen = true
  readonly lock: DirectoryLock | null
  readonly stopped: Promise<Error>
  readonly #engine: PGliteEngine
  readonly #listeners = new Map<string, Set<(payload: string) => void>>()
  readonly #current = new AsyncLocalStorage<PGliteTransaction>()
  /** One handler at a time, so that what others ask for meanwhile comes before the next one. */
  readonly #inPlace = createPlaces(1)
  #turn: Promise<unknown> = Promise.resolve()
  /** The one that is taken, and those that wait for theirs. */
  #turns = 0
  #closing: Promise<void> | null = null

  constructor(engine: PGliteEngine, lock: DirectoryLock | null) {
    this.#engine = engine
    this.stopped = engine.stopped
    this.lock = lock
    engine.onNotification = (channel, payload) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(payload)
    }
  }

  async query<Row = Record<string, unknown>>(text: string, params: readonly Param[] = []): Promise<Row[]> {
    const texts = params.map(parameterText)
    const reply = await this.#takeTurn(() => this.#engine.request({ op: 'query', text, params: texts }))
    return rowsOf(reply) as Row[]
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.#takeTurn(async () => {
      rowsOf(await this.#engine.request({ op: 'begin' }))
      const tx = new PGliteTransaction(this.#engine)
      try {
        const result = await this.#current.run(tx, work, tx)
        tx.ended = true
        const [outcome] = rowsOf(await this.#engine.request({ op: 'commit' })) as { command: string }[]
        // PostgreSQL answers the commit of a failed transaction with a rollback and no error.
        if (outcome?.command === 'ROLLBACK') throw tx.failure
        return result
      } catch (error) {
        tx.ended = true
        // Without effect, and without harm, where the commit itself has failed.
        await this.#engine.request({ op: 'rollback' })
        throw error
      }
    })
  }

  /** Nobody else is there for whom a silent process would hold anything up. */
  async longTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.refuseInsideTransaction()
    return await this.#inPlace(() => this.transaction(work))
  }

  async session<T>(work: (session: Queryable) => Promise<T>): Promise<T> {
    // The one session is everybody's: between two statements others have their turn.
    return await work({ query: (text, params) => this.query(text, params) })
  }

  async listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>> {
    // A listener of its own, so that the same function may listen twice and stop once.
    const own = (payload: string) => listener(payload)
    await this.#takeTurn(async () => {
      const listeners = this.#listeners.get(channel) ?? new Set()
      if (listeners.size === 0) rowsOf(await this.#engine.request({ op: 'script', text: listenSql(channel) }))
      this.#listeners.set(channel, listeners.add(own))
    })
    return async () => {
      const listeners = this.#listeners.get(channel)
      listeners?.delete(own)
      if (this.#closing) return
      await this.#takeTurn(async () => {
        if (listeners?.size !== 0 || !this.#listeners.delete(channel)) return
        rowsOf(await this.#engine.request({ op: 'script', text: unlistenSql(channel) }))
      })
    }
  }

  async holdLock(key: string, onChange: (isHeld: boolean) => void): Promise<() => Promise<void>> {
    await this.query(holdLockSql(key))
    onChange(true)
    return async () => {
      if (!this.#closing) await this.query(letGoOfLockSql(key))
    }
  }

  async dump(): Promise<Blob> {
    const reply = await this.#takeTurn(() => this.#engine.request({ op: 'dump' }))
    if ('error' in reply) throw errorFromFields(reply.error)
    return new Blob('archive' in reply ? [reply.archive] : [])
  }

  use(): Omit<PoolUse, 'pool'> {
    return { total: 1, idle: this.#turns === 0 ? 1 : 0, waiting: Math.max(0, this.#turns - 1) }
  }

  async close(): Promise<void> {
    this.refuseInsideTransaction()
    this.#closing ??= this.#turn.then(async () => {
      await this.#engine.request({ op: 'close' })
      await this.#engine.terminate()
      await this.lock?.release()
    })
    await this.#closing
  }

  /** Inside a transaction's callback the turn would never come: it waits for that callback to settle. */
  refuseInsideTransaction(): void {
    const tx = this.#current.getStore()
    if (!tx || tx.ended) return
    throw new EscapementError('database_busy', {
      message:
        'The embedded database has one session, and the transaction around this call holds it. ' +
        'Use the `tx` that was handed to the callback.',
    })
  }

  #takeTurn<T>(work: () => Promise<T>): Promise<T> {
    this.refuseInsideTransaction()
    if (this.#closing) throw closedError()
    const result = this.#turn.then(work)
    const onOver = () => {
      this.#turns -= 1
    }
    this.#turns += 1
    this.#turn = result.then(onOver, onOver)
    return result
  }
}

const IN_FAILED_TRANSACTION = '25P02'

class PGliteTransaction implements Transaction, Queryable {
  ended = false
  /** Of the statement that aborted the transaction: the reason if its commit turns out to be a rollback. */
  failure: unknown = null
  readonly #engine: PGliteEngine

  constructor(engine: PGliteEngine) {
    this.#engine = engine
  }

  async query<Row = Record<string, unknown>>(text: string, params: readonly Param[] = []): Promise<Row[]> {
    const texts = params.map(parameterText)
    return (await this.#run({ op: 'query', text, params: texts })) as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#run({ op: 'script', text })
  }

  async #run(request: Parameters<PGliteEngine['request']>[0]): Promise<unknown[]> {
    if (this.ended) {
      throw new EscapementError('closed', {
        message: 'This transaction has ended. Await its statements before its callback returns.',
      })
    }
    try {
      return rowsOf(await this.#engine.request(request))
    } catch (error) {
      // Each later statement only says that the transaction was already aborted.
      if ((error as { code?: string }).code !== IN_FAILED_TRANSACTION) this.failure = error
      throw error
    }
  }
}
