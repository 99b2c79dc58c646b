import type { Connections, Database, PoolUse } from './database.js'
import { type EmbeddedDatabase, isEmbedded, openPGlite } from './pglite.js'
import type { PoolerOption } from './pooler-probe.js'
import { borrowClient, borrowPool, openPostgres } from './postgres.js'
import type { ClientLike, PoolLike } from './postgres-session.js'

/** What names a database: see `EscapementOptions.database`. */
export type DatabaseSource = string | { directory: string } | Database | PoolLike | ClientLike

/** Opens whichever database was asked for; the caller has checked that it is one of these. */
export async function openDatabase(
  wanted: DatabaseSource,
  pooler: PoolerOption = 'detect',
): Promise<Connections> {
  if (wanted === 'memory:') return embedded(await openPGlite({}))
  if (typeof wanted === 'string') return openPostgres(wanted, pooler)
  if ('directory' in wanted) return embedded(await openPGlite({ directory: wanted.directory }))
  if (isDatabase(wanted)) {
    return both({ ...bound(wanted), close: async () => {} }, isEmbedded(wanted) ? useOf(wanted) : () => [])
  }
  return isPool(wanted) ? borrowPool(wanted, pooler) : borrowClient(wanted as ClientLike, pooler)
}

/** Whether connections of our own are opened to a server, or the caller's are used. */
export function isServer(wanted: DatabaseSource): boolean {
  if (typeof wanted !== 'object') return wanted !== 'memory:'
  return !('directory' in wanted) && !isDatabase(wanted)
}

function embedded(database: EmbeddedDatabase): Connections {
  return both(database, useOf(database))
}

function useOf(database: EmbeddedDatabase): Connections['use'] {
  return () => [{ pool: 'embedded', ...database.use() }]
}

function both(database: Database, use: () => PoolUse[]): Connections {
  return { inner: database, outer: database, use }
}

function isDatabase(wanted: object): wanted is Database {
  return 'kind' in wanted && 'transaction' in wanted
}

/** Methods that can be taken off, whether the database is an object or of a class. */
function bound(database: Database): Database {
  return {
    kind: database.kind,
    mode: database.mode,
    canListen: database.canListen,
    query: database.query.bind(database),
    transaction: database.transaction.bind(database),
    longTransaction: database.longTransaction.bind(database),
    session: database.session.bind(database),
    listen: database.listen.bind(database),
    holdLock: database.holdLock.bind(database),
    close: database.close.bind(database),
    ...(database.refuseInsideTransaction && {
      refuseInsideTransaction: database.refuseInsideTransaction.bind(database),
    }),
  }
}

function isPool(wanted: PoolLike | ClientLike): wanted is PoolLike {
  return typeof (wanted as PoolLike).totalCount === 'number'
}
