import type { ConnectionMode } from './database.js'
import { alone, type Borrowed, type ClientLike, type PoolLike, withClient } from './postgres-session.js'

/** Whether a transaction pooler stands before the server, or that it is to be found out. */
export type PoolerOption = boolean | 'detect'

/**
 * Whether a session lasts as long as its connection, or a transaction pooler gives each transaction another one.
 *
 * A server tells each connection the number of its process. A pooler, which has to know whose statement is to be cancelled, tells
 * numbers that it has made up. So where the process that answers has the number that was told, nothing stands in between: that
 * takes one statement. Where it has another, two connections ask in turns: who shares a session with the other, or has
 * another one than before, is pooled. What could not be shown to keep its session counts as pooled, which is slower and never wrong.
 *
 * To listen, and to notify oneself, shows nothing: a pooler with nothing else to do gives both the same session, and it is
 * heard. And it leaves a session behind that listens, for whoever shares it; this asks for numbers alone, and leaves nothing.
 */
export function probeSession(pool: PoolLike, connections: number): Promise<ConnectionMode> {
  return withClient(pool, { deadlineMs: DEADLINE_MS }, async (first) => {
    if ((await processOf(first)) === first.client.processID) return 'direct'
    if (connections < 2) return 'pooled'
    try {
      const keepsThem = await withClient(patient(pool), { deadlineMs: DEADLINE_MS }, (second) =>
        keepSessions(first, second),
      )
      return keepsThem ? 'direct' : 'pooled'
    } catch {
      return 'pooled'
    }
  })
}

const DEADLINE_MS = 5_000
/** A caller's pool that is used up would be waited for without end. */
const PATIENCE_MS = 3_000
/** A busy pooler with two sessions, which draws lots, gives itself away with all but one in some thousand tries. */
const ROUNDS = 4

async function keepSessions(first: Borrowed, second: Borrowed): Promise<boolean> {
  const [own, other] = [await processOf(first), await processOf(second)]
  if (own === other) return false
  for (let round = 0; round < ROUNDS; round++) {
    // Not in strict turns: a pooler that goes around two sessions would give each of them its own.
    if ((await processOf(first)) !== own || (await processOf(first)) !== own) return false
    if ((await processOf(second)) !== other) return false
  }
  return true
}

async function processOf(borrowed: Borrowed): Promise<number> {
  const [row] = await alone<{ process: number }>(borrowed, 'select pg_backend_pid() as process')
  return row!.process
}

function patient(pool: PoolLike): Pick<PoolLike, 'connect'> {
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        let isLate = false
        const timer = setTimeout(() => {
          isLate = true
          reject(new Error('There is no second connection.'))
        }, PATIENCE_MS)
        const take = (client: ClientLike) => {
          clearTimeout(timer)
          if (isLate) client.release?.()
          else resolve(client)
        }
        pool.connect().then(take, (error) => {
          clearTimeout(timer)
          reject(error)
        })
      }),
  }
}
