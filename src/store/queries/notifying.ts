import type { Session } from '../store.js'

/** Tells other processes to look for `what`. Sent at commit; PostgreSQL folds repeats of one transaction into one. */
export async function notify(
  session: Session,
  channel: string,
  what: 'schedules' | 'runs' | 'cancelled',
): Promise<void> {
  await session.query('select pg_notify($1, $2)', [channel, what])
}
