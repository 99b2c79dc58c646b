import { createHash } from 'node:crypto'
import type { Clock } from '../clock.js'
import type { Database, Param, Queryable, Transaction } from './database.js'
import { explainMoved } from './moved.js'

/**
 * What statements are run against. Their texts say `{schema}` where our schema's name goes; those that decide by
 * time take `now()` as their first parameter and fall back to the database's clock when it is null (see `NOW`).
 */
export interface Session {
  query<Row = Record<string, unknown>>(statement: string, params?: readonly Param[]): Promise<Row[]>
  now(): Date | null
}

export interface Store extends Session {
  readonly database: Database
  /** Whose `now` it takes; what is waited for beside its statements is measured by it as well. */
  readonly clock: Clock
  readonly schema: string
  /** The channel on which processes tell each other to look: payload `schedules` or `runs`. */
  readonly channel: string
  /** The channel on which they tell each other what they did: another one, so that it wakes nobody's loops. */
  readonly eventsChannel: string
  transaction<T>(work: (session: Session, tx: Transaction) => Promise<T>): Promise<T>
  /** Our statements on a connection of the caller's. */
  over(queryable: Queryable): Session
}

/**
 * `now` in a statement whose first parameter is `session.now()`. Cut to the millisecond, never rounded up: a rounded
 * clock would fire up to half a millisecond early. Volatile: to compare a column with it, put it in a subselect.
 */
export const NOW = `coalesce($1::timestamptz, date_trunc('milliseconds', clock_timestamp()))`

/**
 * The instant whose milliseconds since the epoch a `float8` expression gives. Batches of instants travel like this: as
 * dates in text they took longer to write and to read than to plan.
 */
export const instantAt = (ms: string) => `to_timestamp(${ms} / 1000)::timestamptz(3)`

export function createStore(database: Database, schema: string, clock: Clock): Store {
  const quotedSchema = quoteIdentifier(schema)
  const texts = new Map<string, string>()

  function withSchema(statement: string): string {
    let text = texts.get(statement)
    if (text === undefined) {
      text = statement.replaceAll('{schema}', () => quotedSchema)
      texts.set(statement, text)
    }
    return text
  }

  const sessionOver = (queryable: Queryable): Session => ({
    async query(statement, params) {
      try {
        return await queryable.query(withSchema(statement), params)
      } catch (error) {
        throw explainMoved(error)
      }
    },
    now: () => {
      const instant = clock.now()
      return instant === null ? null : new Date(instant)
    },
  })

  return {
    ...sessionOver(database),
    database,
    clock,
    schema,
    channel: channelOf(schema),
    eventsChannel: channelOf(schema, 'escapement-events'),
    transaction: (work) => database.transaction((tx) => work(sessionOver(tx), tx)),
    over: sessionOver,
  }
}

/** Several reads that must fit together: all of them see the database as it was at the first. */
export function readTogether<T>(store: Store, read: (session: Session) => Promise<T>): Promise<T> {
  return store.transaction(async (session, tx) => {
    await tx.script('set transaction isolation level repeatable read, read only')
    return read(session)
  })
}

/** The same for a look that may be given up: the server ends a statement that takes longer, and says so. */
export function readWithin<T>(store: Store, ms: number, read: (session: Session) => Promise<T>): Promise<T> {
  return readTogether(store, async (session) => {
    await session.query(`set local statement_timeout = ${ms}`)
    return read(session)
  })
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Channel names are cut at 63 bytes, and a cut name is another name: a long schema goes by its hash. */
export function channelOf(schema: string, topic = 'escapement'): string {
  const name = `${topic}:${schema}`
  if (Buffer.byteLength(name) <= 61) return name
  return `${topic}:${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

/**
 * The advisory lock that all who listen to a channel hold together, for as long as they are connected: whoever finds it free
 * need not send. A notification wakes every listening session of its database, whatever channel it is for.
 */
export function listenersLockOf(channel: string): string {
  return createHash('sha256').update(`listeners of ${channel}`).digest().readBigInt64BE().toString()
}
