import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { EscapementError } from '../errors.js'
import type { ConnectionMode, Connections, PoolUse } from './database.js'
import { type PoolerOption, probeSession } from './pooler-probe.js'
import { unreachable } from './postgres-errors.js'
import { openListener, silentListener } from './postgres-listener.js'
import { type ClientLike, overPool, type PoolLike, type SoleTransaction } from './postgres-session.js'

const OLDEST_SERVER = 150_000
const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 30_000
const LOOP_DEADLINE_MS = 15_000
/**
 * The server ends our loops' statements by itself, before we give its answer up: who merely hangs up leaves one behind that goes on,
 * and another the next time, until nothing else gets its turn.
 */
const LOOP_STATEMENT_MS = 14_000
/** Two batches of a tick, claim, a look beside each, renewal, outcomes, a sweep, and the count of minutes: they must never wait for a handler's transaction. */
const INNER_CONNECTIONS = 9
/** What callers ask for, and handlers' transactions: a worker's ten by default, beside which there is room for the others. */
const OUTER_CONNECTIONS = 14
const LONG_TRANSACTIONS = 10
/**
 * What our loops ask finds rows by their keys, a batch at a time. A plan that is kept since the table was small must not read all of it when it has grown,
 * nor all of a line, by a bitmap, and sort it: while few wait that is as quick as to take the first in their order, and with a backlog it never ends.
 * Up to PostgreSQL 17 a plan that cannot do without reading a small table then counts as so expensive that each time it is carried out it would be compiled
 * first, for seconds, where the server can do that.
 */
const LOOP_SETTINGS = `set enable_seqscan = off; set enable_bitmapscan = off; set jit = off; set statement_timeout = ${LOOP_STATEMENT_MS}`
/** What a pool of `pg` has that was given no `max`. */
const POOL_DEFAULT_MAX = 10

/** Opens pools of our own, and refuses at once what could never work: no server, no access, too old. */
export async function openPostgres(url: string, pooler: PoolerOption): Promise<Connections> {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // What drops silent connections on the way drops them after minutes.
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'escapement',
  }
  const newPool = (max: number) => {
    const pool = new pg.Pool({ ...config, max, allowExitOnIdle: true })
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    pool.on('error', () => {})
    hearErrors(pool)
    return pool
  }
  const innerPool = newPool(INNER_CONNECTIONS)
  const outerPool = newPool(OUTER_CONNECTIONS)
  const openOwnListener = () =>
    openListener(async () => {
      const client = new pg.Client(config)
      client.on('error', () => {})
      await client.connect()
      return { client, end: () => client.end() }
    })
  try {
    const mode = await modeOf(innerPool, INNER_CONNECTIONS, pooler)
    const listener = mode === 'pooled' ? silentListener : openOwnListener()
    const shared = { mode, listener, longTransactions: LONG_TRANSACTIONS }
    const own = (settings: string) => (mode === 'direct' ? { ...shared, settings } : shared)
    const connections: Connections = {
      inner: overPool(innerPool, {
        ...own(LOOP_SETTINGS),
        deadlineMs: LOOP_DEADLINE_MS,
        end: () => innerPool.end(),
      }),
      outer: overPool(outerPool, { ...own(''), deadlineMs: null, end: () => outerPool.end() }),
      use: () => [useOf('loops', innerPool), useOf('callers', outerPool)],
    }
    await refuseOldServer(connections)
    return connections
  } catch (error) {
    await innerPool.end()
    await outerPool.end()
    throw error instanceof EscapementError ? error : unreachable(url, error)
  }
}

/**
 * A server that goes down may say so in the same breath in which it lets a new connection in: before whoever waits for that has
 * got it, and when the pool no longer listens. Nobody would hear it, and the process would end. The next statement fails.
 */
function hearErrors(pool: PoolLike): void {
  if (pool.on === undefined || heard.has(pool)) return
  heard.add(pool)
  pool.on('connect', (client: ClientLike) => client.on('error', () => {}))
}

const heard = new WeakSet<PoolLike>()

/** Whether a transaction pooler stands before the server; found out unless it is said. */
async function modeOf(pool: PoolLike, connections: number, pooler: PoolerOption): Promise<ConnectionMode> {
  if (pooler === 'detect') return probeSession(pool, connections)
  return pooler ? 'pooled' : 'direct'
}

/**
 * Works on the caller's pool and leaves it open on `close`. One of its connections is kept for notifications, if it
 * has three or more; else they are done without. Handlers hold half of them at most: leases must be renewed meanwhile.
 */
export function borrowPool(pool: PoolLike, pooler: PoolerOption): Promise<Connections> {
  return borrow(pool, pool.options?.max ?? POOL_DEFAULT_MAX, pooler)
}

async function keepOne(pool: PoolLike) {
  const client = await pool.connect()
  return { client, end: async () => client.release?.(true) }
}

/**
 * Works on the caller's single connected client, one transaction at a time, and leaves it connected on `close`. What the
 * caller sends on it meanwhile lands in our transactions: it is for programs that do nothing else with it.
 */
export function borrowClient(client: ClientLike, pooler: PoolerOption): Promise<Connections> {
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
      processID: client.processID ?? null,
    }
  }
  return borrow({ connect: takeTurn, totalCount: 1 }, 1, pooler)
}

async function borrow(pool: PoolLike, max: number, pooler: PoolerOption): Promise<Connections> {
  hearErrors(pool)
  try {
    const mode = await modeOf(pool, max, pooler)
    const shared = {
      mode,
      listener: mode === 'pooled' || max < 3 ? silentListener : openListener(() => keepOne(pool)),
      longTransactions: Math.max(1, Math.floor(max / 2)),
      ...(max === 1 && { sole: new AsyncLocalStorage<SoleTransaction>() }),
      end: async () => {},
    }
    const connections: Connections = {
      inner: overPool(pool, { ...shared, deadlineMs: LOOP_DEADLINE_MS }),
      outer: overPool(pool, { ...shared, deadlineMs: null }),
      use: () => (pool.idleCount === undefined ? [] : [useOf('borrowed', pool)]),
    }
    await refuseOldServer(connections)
    return connections
  } catch (error) {
    throw error instanceof EscapementError ? error : unreachable(undefined, error)
  }
}

function useOf(name: PoolUse['pool'], pool: PoolLike): PoolUse {
  return { pool: name, total: pool.totalCount, idle: pool.idleCount ?? 0, waiting: pool.waitingCount ?? 0 }
}

async function refuseOldServer({ inner }: Connections): Promise<void> {
  const [row] = await inner.query<{ version: number; text: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as text`,
  )
  if (row && row.version >= OLDEST_SERVER) return
  throw new EscapementError('database_unusable', {
    message: `PostgreSQL ${row?.text} is too old: Escapement needs version 15 or newer.`,
  })
}
