import type { Session, Store } from '../store.js'

/** Tells other processes to look for `what`. Sent at commit; PostgreSQL folds repeats of one transaction into one. */
export async function notify(
  session: Session,
  channel: string,
  what: 'schedules' | 'runs' | 'cancelled',
): Promise<void> {
  await session.query('select pg_notify($1, $2)', [channel, what])
}

/**
 * Tells other processes what this one did. A notification is a transaction that is written down, under a lock that all
 * notifications of the server share: it is not waited for until that has reached the disk, since a hint may be lost.
 */
export async function notifyEvents({ query, eventsChannel }: Store, message: string): Promise<void> {
  await query(`select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`, [
    eventsChannel,
    message,
  ])
}
