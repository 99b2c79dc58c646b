/**
 * The connection port: the one seam between Escapement and a database.
 *
 * There is one dialect and one set of statements; what differs between a PostgreSQL server and PGlite inside
 * the process is only how a statement travels. Both implementations answer alike, and `test/store/database.test.ts`
 * holds them to it:
 *
 * - Parameters: null, boolean, number, string, Date, and arrays of these. JSON travels as text with a `::jsonb` cast.
 * - Rows: `timestamptz` is a Date, `int8` a number (a value that a number cannot hold is an error, never rounded),
 *   `numeric` text, `json`/`jsonb` parsed, arrays are arrays.
 * - A failed statement rejects with the driver's error, whose `code` is the SQLSTATE.
 */
export interface Queryable {
  query<Row = Record<string, unknown>>(text: string, params?: readonly Param[]): Promise<Row[]>
}

export type ScalarParam = null | boolean | number | string | Date
export type Param = ScalarParam | readonly ScalarParam[]

/** Valid until the callback that received it settles; a statement after that is refused. */
export interface Transaction extends Queryable {
  /** Runs one or more statements that take no parameters. */
  script(text: string): Promise<void>
}

export interface Database extends Queryable {
  readonly kind: 'postgres' | 'pglite'

  readonly mode: ConnectionMode

  /** Whether notifications can come at all. Loops look more often where they cannot, as nobody wakes them. */
  readonly canListen: boolean

  /**
   * Commits when `work` resolves, rolls back when it rejects, and resolves only when the commit is durable.
   * A transaction that the server turned into a rollback rejects.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>

  /**
   * The same for a handler, which may hold it for as long as it takes: only so many are open at once that all other calls
   * find a connection beside them, and further ones wait. The server ends one of whose process it has heard nothing for
   * `silentMs`, and so gives free what that had locked.
   */
  longTransaction<T>(work: (tx: Transaction) => Promise<T>, limits: { silentMs: number }): Promise<T>

  /**
   * One connection for several statements that no transaction can hold, such as an index that is built concurrently under a
   * session's lock. What is set on it must be reset. Refused with `session_needed` behind a transaction pooler.
   */
  session<T>(work: (session: Queryable) => Promise<T>): Promise<T>

  /**
   * Calls `listener` with the payload of each notification on `channel`. Notifications are hints: they may be lost
   * while a connection is re-established, and where none can be had they do not come. Resolves once the channel is
   * listened to, or will be as soon as there is a connection; the answer stops it.
   */
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>

  /**
   * Holds a session's advisory lock for as long as this process is connected: it is gone when the process is. It is taken
   * as soon as it can be, and again after a broken connection: `onChange` tells whenever it was taken, and whenever it was lost.
   * Null where no connection can be kept for it; else the answer lets go of it.
   */
  holdLock(key: string, onChange: (isHeld: boolean) => void): Promise<(() => Promise<void>) | null>

  /**
   * Throws `database_busy` inside the callback of a transaction that holds the only session: a call that is not of that
   * transaction would wait for ever. For those whose call is made by somebody else; absent where there are sessions enough.
   */
  refuseInsideTransaction?(): void

  /** Waits for what is under way, then lets go of the database. Later calls are refused with `closed`. */
  close(): Promise<void>
}

/**
 * `direct`: a session lasts as long as its connection. `pooled`: a transaction pooler stands in between, and each transaction may
 * have another session, which others have before and after it. What is done to that outside of a transaction is done to them.
 */
export type ConnectionMode = 'direct' | 'pooled'

/**
 * The two ways into one database: our own loops must not wait for a connection that a handler holds, nor for one that
 * went silent; the statements of callers may take as long as they take. Where there is one session they are the same.
 */
export interface Connections {
  inner: Database
  outer: Database
  /** How the connections are used; none of a server's database that somebody else has opened. */
  use(): PoolUse[]
}

/** How many connections a pool has, how many of them nobody uses, and how many calls wait for one. */
export interface PoolUse {
  /** `loops` for ours, `callers` for those of the program and its handlers, `borrowed` for its own pool, `embedded`. */
  pool: 'loops' | 'callers' | 'borrowed' | 'embedded'
  total: number
  idle: number
  waiting: number
}
