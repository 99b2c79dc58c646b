import pg from 'pg'
import { EscapementError } from '../errors.js'
import { ARRAY_ELEMENTS, PARSERS } from './column-types.js'
import type { Database, Param, Queryable, Transaction } from './database.js'
import { parameterText } from './parameters.js'
import { unreachable } from './postgres-errors.js'
import { openListener } from './postgres-listener.js'

/** What we need of a caller's `pg` pool, whichever copy of `pg` it comes from. */
export interface PoolLike {
  connect(): Promise<ClientLike>
  readonly options?: { max?: number }
  readonly totalCount: number
}

/** What we need of a caller's connected `pg` client. */
export interface ClientLike {
  query(config: object): Promise<{ rows: unknown[]; command: string }>
  on(event: string, listener: EventListener): unknown
  off(event: string, listener: EventListener): unknown
  release?(error?: Error | boolean): void
}

// biome-ignore lint/suspicious/noExplicitAny: what an emitter's own type says; anything narrower refuses pg's classes
type EventListener = (...args: any[]) => void

export interface PostgresOptions {
  /**
   * Connections that the pool may open. A scheduler and a worker together keep about three busy.
   * @default 10
   */
  maxConnections?: number
}

export const POSTGRES_DEFAULTS = { maxConnections: 10 } satisfies PostgresOptions

const OLDEST_SERVER = 150_000
const CONNECT_TIMEOUT_MS = 10_000

/** Opens a pool of our own, and refuses at once what could never work: no server, no access, too old. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections ?? POSTGRES_DEFAULTS.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'escapement',
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  const database = overPool(pool, {
    connectListener: async () => {
      const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'escapement' })
      client.on('error', () => {})
      await client.connect()
      return { client, end: () => client.end() }
    },
    end: () => pool.end(),
  })
  try {
    await refuseOldServer(database)
  } catch (error) {
    await database.close()
    throw error instanceof EscapementError ? error : unreachable(url, error)
  }
  return database
}

/** Works on the caller's pool and leaves it open on `close`. One of its connections is kept for notifications. */
export async function borrowPool(pool: PoolLike): Promise<Database> {
  const database = overPool(pool, {
    connectListener: async () => {
      const client = await pool.connect()
      return { client, end: async () => client.release?.(true) }
    },
    end: async () => {},
  })
  try {
    await refuseOldServer(database)
  } catch (error) {
    throw error instanceof EscapementError ? error : unreachable(undefined, error)
  }
  return database
}

/** Works on the caller's single connected client, one transaction at a time, and leaves it connected on `close`. */
export function borrowClient(client: ClientLike): Promise<Database> {
  let last: Promise<unknown> = Promise.resolve()
  const takeTurn = async (): Promise<ClientLike> => {
    const before = last
    let release!: () => void
    last = new Promise<void>((resolve) => {
      release = resolve
    })
    await before
    return {
      query: (config) => client.query(config),
      on: client.on.bind(client),
      off: client.off.bind(client),
      release,
    }
  }
  return borrowPool({ connect: takeTurn, totalCount: 1, options: { max: 1 } }).then((database) => ({
    ...database,
    // Notifications arrive on the connection that statements use: there is no second one to keep.
    listen: (channel, listener) => listenOn(client, channel, listener),
  }))
}

interface PoolOwner {
  connectListener(): Promise<{ client: ClientLike; end(): Promise<void> }>
  end(): Promise<void>
}

function overPool(pool: PoolLike, owner: PoolOwner): Database {
  const listener = openListener(owner.connectListener)
  const underWay = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  // Awaited at each step, so that an error's stack leads back to the caller.
  async function track<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw closedError()
    const promise = work()
    underWay.add(promise)
    try {
      return await promise
    } finally {
      underWay.delete(promise)
    }
  }

  return {
    kind: 'postgres',
    async query(text, params) {
      return await track(() => withClient(pool, (borrowed) => alone(borrowed, text, params)))
    },
    async transaction(work) {
      return await track(() => withClient(pool, (borrowed) => inTransaction(borrowed, work)))
    },
    listen: (channel, onPayload) =>
      closed ? Promise.reject(closedError()) : listener.listen(channel, onPayload),
    close() {
      closed ??= Promise.allSettled(underWay).then(async () => {
        await listener.close()
        await owner.end()
      })
      return closed
    },
  }
}

/** A pool's client while it is ours. One that is spoiled is thrown away instead of reused. */
interface Borrowed {
  client: ClientLike
  spoil(error: unknown): void
}

async function withClient<T>(pool: PoolLike, work: (borrowed: Borrowed) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let spoiled: Error | undefined
  const spoil = (error: unknown) => {
    spoiled ??= error as Error
  }
  client.on('error', spoil)
  try {
    return await work({ client, spoil })
  } finally {
    client.off('error', spoil)
    client.release?.(spoiled)
  }
}

async function alone<Row>({ client, spoil }: Borrowed, text: string, params?: readonly Param[]) {
  try {
    return await run<Row>(client, text, params)
  } catch (error) {
    if (!isRefusal(error)) spoil(error)
    throw error
  }
}

async function inTransaction<T>(
  { client, spoil }: Borrowed,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let open = true
  let failure: unknown
  let last: Promise<unknown> = Promise.resolve()
  // One after the other, also when the callback asks for several at once: a client takes one statement at a time.
  async function guarded<R>(statement: () => Promise<R>): Promise<R> {
    if (!open) throw transactionOver()
    const turn = last.then(statement)
    last = turn.catch((error) => {
      failure ??= error
    })
    return await turn
  }
  const tx: Transaction = {
    query: (text, params) => guarded(() => run(client, text, params)),
    script: (text) => guarded(async () => void (await client.query({ text }))),
  }
  try {
    await client.query({ text: 'begin' })
    const result = await work(tx)
    open = false
    const { command } = await client.query({ text: 'commit' })
    // After a failed statement that the caller swallowed, PostgreSQL answers COMMIT with ROLLBACK and no error.
    if (command === 'ROLLBACK') throw failure
    return result
  } catch (error) {
    open = false
    // If even the rollback fails the connection is gone, and with it the transaction; the first error says why.
    await client.query({ text: 'rollback' }).catch(spoil)
    throw error
  }
}

async function run<Row>(client: ClientLike, text: string, params: readonly Param[] = []): Promise<Row[]> {
  const { rows } = await client.query({ text, values: params.map(parameterText), types })
  return rows as Row[]
}

// Its published type describes another version.
const arrays = pg.types.arrayParser as unknown as {
  create(text: string, parse: (text: string) => unknown): { parse(): unknown[] }
}

/** Passed with each statement: a caller's own type parsers, global or on their pool, do not reach us. */
const types = {
  getTypeParser(oid: number): (text: string) => unknown {
    const element = ARRAY_ELEMENTS[oid]
    if (element === undefined) return PARSERS[oid] ?? String
    const parse = PARSERS[element] ?? String
    return (text) => arrays.create(text, parse).parse()
  },
}

async function refuseOldServer(database: Queryable): Promise<void> {
  const [row] = await database.query<{ version: number; text: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as text`,
  )
  if (row && row.version >= OLDEST_SERVER) return
  throw new EscapementError('database_unusable', {
    message: `PostgreSQL ${row?.text} is too old: Escapement needs version 15 or newer.`,
  })
}

async function listenOn(client: ClientLike, channel: string, listener: (payload: string) => void) {
  const quoted = pg.escapeIdentifier(channel)
  const onNotification = (message: { channel: string; payload?: string }) => {
    if (message.channel === channel) listener(message.payload ?? '')
  }
  client.on('notification', onNotification)
  await client.query({ text: `listen ${quoted}` })
  return async () => {
    client.off('notification', onNotification)
    await client.query({ text: `unlisten ${quoted}` })
  }
}

/** The server refused a statement and goes on; anything else leaves the connection in an unknown state. */
function isRefusal(error: unknown): boolean {
  return (error as { severity?: unknown } | null)?.severity === 'ERROR'
}

function closedError(): EscapementError {
  return new EscapementError('closed', { message: 'The database is closed.' })
}

function transactionOver(): EscapementError {
  return new EscapementError('closed', {
    message: 'This transaction is over: its callback has settled. Await every statement inside the callback.',
  })
}
