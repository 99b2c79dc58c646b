import type { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import pg from 'pg'
import { EscapementError } from '../errors.js'
import { ARRAY_ELEMENTS, PARSERS } from './column-types.js'
import type { ConnectionMode, Database, Param, Transaction } from './database.js'
import { isOften } from './often.js'
import { parameterText } from './parameters.js'
import { createPlaces } from './places.js'
import type { Listener } from './postgres-listener.js'

/** What we need of a caller's `pg` pool, whichever copy of `pg` it comes from. */
export interface PoolLike {
  connect(): Promise<ClientLike>
  on?(event: 'connect', listener: EventListener): unknown
  readonly options?: { max?: number }
  readonly totalCount: number
  readonly idleCount?: number
  readonly waitingCount?: number
}

/** What we need of a caller's connected `pg` client. */
export interface ClientLike {
  /** The number of the server's process, as that told it when the connection was opened. */
  readonly processID?: number | null
  query(config: object): Promise<{ rows: unknown[]; command: string }>
  on(event: string, listener: EventListener): unknown
  off(event: string, listener: EventListener): unknown
  release?(error?: Error | boolean): void
}

// biome-ignore lint/suspicious/noExplicitAny: what an emitter's own type says; anything narrower refuses pg's classes
type EventListener = (...args: any[]) => void

/**
 * How long our own loops wait for a statement: a connection that went silent is abandoned then, and its transaction
 * with it. Null for statements of the caller, which take as long as they take.
 */
type Deadline = number | null

/**
 * No hostage: a process that freezes between lock and write loses its transaction, and with it the locks, after 5
 * seconds; one that waits for somebody else's lock gives up after 10. And our statements find rows by their keys, a batch at a
 * time: up to some hundred thousand rows the planner would rather read the whole table for that, or a line from end to end before it sorts
 * it, where its beginning is asked for. How large the batch is, it should know: transactions join what they have read. Nor is it compiled:
 * planned without reading small tables it counts as expensive.
 */
const BEGIN_GUARDED = `begin isolation level read committed; set local idle_in_transaction_session_timeout = '5s';
  set local lock_timeout = '10s'; set local enable_seqscan = off; set local enable_bitmapscan = off;
  set local jit = off; set local plan_cache_mode = auto`
const BEGIN = 'begin isolation level read committed'
/** No statement at all: it takes no snapshot, so that a handler may still choose its isolation level after it. */
const ALIVE = '-- a handler is at work'
const ROLLBACK_DEADLINE_MS = 5_000

export interface PoolOwner {
  mode: ConnectionMode
  listener: Listener
  deadlineMs: Deadline
  /** How many of its connections handlers may hold at once. */
  longTransactions: number
  /**
   * Set on each of its sessions before its first statement; they then keep the statements prepared that are marked as `often`. Only
   * where the sessions are ours alone: an undefined one leaves them as they are.
   */
  settings?: string
  /** Of a pool with one connection: which transaction a call is made in, as it could never be answered there. */
  sole?: AsyncLocalStorage<SoleTransaction>
  end(): Promise<void>
}

export interface SoleTransaction {
  isOpen: boolean
}

/** The connection port over a pool. */
export function overPool(pool: PoolLike, owner: PoolOwner): Database {
  const { mode, listener, deadlineMs, settings, sole, end } = owner
  const inPlace = createPlaces(owner.longTransactions)
  const underWay = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  // Awaited at each step, so that an error's stack leads back to the caller.
  async function track<T>(work: () => Promise<T>): Promise<T> {
    refuseInsideTransaction()
    if (closed) throw closedError()
    const promise = work()
    underWay.add(promise)
    try {
      return await promise
    } finally {
      underWay.delete(promise)
    }
  }

  function refuseInsideTransaction(): void {
    if (sole?.getStore()?.isOpen) throw soleConnection()
  }

  const transaction = <T>(begin: string, work: (tx: Transaction) => Promise<T>, silentMs?: number) =>
    withClient(pool, { deadlineMs, settings }, async (borrowed) => {
      if (sole === undefined) return await inTransaction(borrowed, begin, work, silentMs)
      const current = { isOpen: true }
      const within = (tx: Transaction) => sole.run(current, work, tx)
      return await inTransaction(borrowed, begin, within, silentMs).finally(() => {
        current.isOpen = false
      })
    })

  return {
    kind: 'postgres',
    mode,
    canListen: listener.canListen,
    ...(sole && { refuseInsideTransaction }),
    async query(text, params) {
      return await track(() =>
        withClient(pool, { deadlineMs, settings }, async (borrowed) => {
          if (settings) await choosePlans(borrowed, isOften(text))
          return await alone(borrowed, text, params)
        }),
      )
    },
    async transaction(work) {
      return await track(() => transaction(deadlineMs === null ? BEGIN : BEGIN_GUARDED, work))
    },
    async longTransaction(work, { silentMs }) {
      const begin = `${BEGIN}; set local idle_in_transaction_session_timeout = ${Math.ceil(silentMs)}`
      return await track(() => inPlace(() => transaction(begin, work, silentMs)))
    },
    async session(work) {
      if (mode === 'pooled') throw sessionNeeded()
      return await track(() =>
        withClient(pool, { deadlineMs, settings }, (borrowed) =>
          work({ query: (text, params) => alone(borrowed, text, params) }),
        ),
      )
    },
    holdLock: (key, onChange) => listener.holdLock(key, onChange),
    async listen(channel, onPayload) {
      if (closed) throw closedError()
      return await listener.listen(channel, onPayload)
    },
    close() {
      closed ??= Promise.allSettled(underWay).then(async () => {
        await listener.close()
        await end()
      })
      return closed
    },
  }
}

/** A pool's client while it is ours. One that is spoiled is thrown away instead of reused. */
export interface Borrowed {
  client: ClientLike
  deadlineMs: Deadline
  keepsPlans: boolean
  spoil(error: unknown): void
}

const settled = new WeakSet<ClientLike>()

export async function withClient<T>(
  pool: Pick<PoolLike, 'connect'>,
  { deadlineMs, settings }: { deadlineMs: Deadline; settings?: string | undefined },
  work: (borrowed: Borrowed) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let spoiled: Error | undefined
  const spoil = (error: unknown) => {
    spoiled ??= error as Error
  }
  client.on('error', spoil)
  const borrowed = { client, deadlineMs, spoil, keepsPlans: settings !== undefined }
  try {
    if (settings && !settled.has(client)) {
      await alone(borrowed, settings)
      settled.add(client)
    }
    return await work(borrowed)
  } finally {
    client.off('error', spoil)
    client.release?.(spoiled)
  }
}

export async function alone<Row>(
  borrowed: Borrowed,
  text: string,
  params?: readonly Param[],
): Promise<Row[]> {
  try {
    return await run<Row>(borrowed, text, params)
  } catch (error) {
    if (!isRefusal(error) || isOutdated(error)) borrowed.spoil(error)
    throw error
  }
}

async function inTransaction<T>(
  borrowed: Borrowed,
  begin: string,
  work: (tx: Transaction) => Promise<T>,
  silentMs?: number,
): Promise<T> {
  const { client, spoil } = borrowed
  let open = true
  let failure: unknown
  let last: Promise<unknown> = Promise.resolve()
  // One after the other, also when the callback asks for several at once: a client takes one statement at a time. What
  // waits its turn when the transaction ends is refused: sent later, it would stand outside of it.
  async function guarded<R>(statement: () => Promise<R>): Promise<R> {
    const turn = last.then(() => {
      if (!open) throw transactionOver()
      return statement()
    })
    last = turn.catch((error) => {
      failure ??= error
    })
    return await turn
  }
  const tx: Transaction = {
    query: (text, params) => guarded(() => run(borrowed, text, params)),
    script: (text) => guarded(async () => void (await send(borrowed, { text }))),
  }
  let isTelling = false
  const sayAlive = async () => {
    // A statement that is under way says it as well.
    if (isTelling) return
    isTelling = true
    await guarded(() => send(borrowed, { text: ALIVE })).catch(() => {})
    isTelling = false
  }
  // A third: two may come late before the server takes us for dead.
  const alive = silentMs === undefined ? undefined : setInterval(sayAlive, silentMs / 3)
  try {
    await send(borrowed, { text: begin })
    const result = await work(tx)
    open = false
    await last
    const { command } = await send(borrowed, { text: 'commit' })
    // After a failed statement that the caller swallowed, PostgreSQL answers COMMIT with ROLLBACK and no error.
    if (command === 'ROLLBACK') throw failure
    return result
  } catch (error) {
    open = false
    await last
    if (isOutdated(error)) spoil(error)
    // If even the rollback fails the connection is gone, and with it the transaction; the first error says why.
    await client.query({ text: 'rollback', query_timeout: ROLLBACK_DEADLINE_MS }).catch(spoil)
    throw error
  } finally {
    clearInterval(alive)
  }
}

type PlanMode = 'auto' | 'force_generic_plan'
const planModes = new WeakMap<ClientLike, PlanMode>()

/**
 * What runs all the time finds rows by their keys: its parameters say nothing that would lead to a better plan than the one that is kept.
 * Whatever else is asked is planned for what it is asked for: a list, as it is filtered. The server is told so by session.
 */
async function choosePlans(borrowed: Borrowed, areKept: boolean): Promise<void> {
  const mode = areKept ? 'force_generic_plan' : 'auto'
  if ((planModes.get(borrowed.client) ?? 'auto') === mode) return
  await alone(borrowed, `set plan_cache_mode = ${mode}`)
  planModes.set(borrowed.client, mode)
}

function send(
  { client, deadlineMs }: Borrowed,
  config: { name?: string; text: string; values?: unknown[]; types?: object },
) {
  return client.query(deadlineMs === null ? config : { ...config, query_timeout: deadlineMs })
}

async function run<Row>(borrowed: Borrowed, text: string, params: readonly Param[] = []): Promise<Row[]> {
  const name = borrowed.keepsPlans && isOften(text) ? { name: preparedName(text) } : {}
  const { rows } = await send(borrowed, { ...name, text, values: params.map(parameterText), types })
  return rows as Row[]
}

const names = new Map<string, string>()

/** By its text, schema and all: a name stands for one text on a connection. */
function preparedName(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `escapement_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
  }
  return name
}

// Its published type describes another version.
const arrays = pg.types.arrayParser as unknown as {
  create(text: string, parse: (text: string) => unknown): { parse(): unknown[] }
}

/** A list with nothing quoted, nested or null in it, as most are; null for any other. A batch brings thousands of ids. */
function plainArray(text: string, parse: (text: string) => unknown): unknown[] | null {
  if (!/^\{[^{}"\\]+\}$/.test(text) || /\bnull\b/i.test(text)) return null
  return text.slice(1, -1).split(',').map(parse)
}

/** Passed with each statement: a caller's own type parsers, global or on their pool, do not reach us. */
const types = {
  getTypeParser(oid: number): (text: string) => unknown {
    const element = ARRAY_ELEMENTS[oid]
    if (element === undefined) return PARSERS[oid] ?? String
    const parse = PARSERS[element] ?? String
    return (text) => plainArray(text, parse) ?? arrays.create(text, parse).parse()
  },
}

/** The server refused a statement and goes on; anything else leaves the connection in an unknown state. */
function isRefusal(error: unknown): boolean {
  const { severity, code } = (error ?? {}) as { severity?: unknown; code?: unknown }
  // Classes 08 and 57P: the server ends the connection. Severity is localised, but only the server gives one.
  return severity !== undefined && !/^(08|57P)/.test(String(code))
}

/** Of a prepared statement: its answer has other columns than before, as a migration came in between; it is not there any more; it is there already. */
const OUTDATED: readonly unknown[] = ['0A000', '26000', '42P05']

/** What a session remembers is not what we take it to: a new one begins anew. */
function isOutdated(error: unknown): boolean {
  return OUTDATED.includes((error as { code?: unknown } | null)?.code)
}

function closedError(): EscapementError {
  return new EscapementError('closed', { message: 'The database is closed.' })
}

function soleConnection(): EscapementError {
  return new EscapementError('database_busy', {
    message:
      'Escapement was given one connection, and the transaction around this call holds it. ' +
      'Use the `tx` that was handed to the callback, or give a pool of more connections.',
  })
}

function sessionNeeded(): EscapementError {
  return new EscapementError('session_needed', {
    message:
      'This needs a session of its own, and behind a transaction pooler there is none. Connect directly to the server for it, ' +
      'or set `pooler: false` if the pooler keeps a session for each connection.',
  })
}

function transactionOver(): EscapementError {
  return new EscapementError('closed', {
    message: 'This transaction is over: its callback has settled. Await every statement inside the callback.',
  })
}
