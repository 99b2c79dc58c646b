import type { Database } from './database.js'
import { openPGlite } from './pglite.js'
import { borrowClient, borrowPool, type ClientLike, openPostgres, type PoolLike } from './postgres.js'

/** Opens whichever database was asked for; the caller has checked that it is one of these. */
export function openDatabase(
  wanted: string | { directory: string } | PoolLike | ClientLike,
): Promise<Database> {
  if (wanted === 'memory:') return openPGlite({})
  if (typeof wanted === 'string') return openPostgres(wanted)
  if ('directory' in wanted) return openPGlite({ directory: wanted.directory })
  return isPool(wanted) ? borrowPool(wanted) : borrowClient(wanted as ClientLike)
}

function isPool(wanted: PoolLike | ClientLike): wanted is PoolLike {
  return typeof (wanted as PoolLike).totalCount === 'number'
}
