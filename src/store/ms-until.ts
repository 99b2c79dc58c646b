import type { Param } from './database.js'
import { often } from './often.js'
import { NOW, type Session } from './store.js'

/**
 * Milliseconds from now until the instant that the subselect `earliest` finds, rounded up and never negative; null
 * when it finds none. Its parameters begin with $2, and `purpose` says what is waited for. How long to sleep is the one thing that leaves the database's
 * clock, as a span and not as a time of day.
 */
export async function msUntil(
  session: Session,
  purpose: string,
  earliest: string,
  params: readonly Param[] = [],
): Promise<number | null> {
  const [row] = await session.query<{ ms: number | null }>(
    often(purpose, `select ceil(extract(epoch from (${earliest}) - ${NOW}) * 1000)::float8 as ms`),
    [session.now(), ...params],
  )
  return row?.ms == null ? null : Math.max(0, row.ms)
}
