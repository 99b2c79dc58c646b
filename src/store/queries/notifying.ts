import { often } from '../often.js'
import { listenersLockOf, type Session, type Store } from '../store.js'

/** Tells other processes to look for `what`. Sent at commit; PostgreSQL folds repeats of one transaction into one. */
export async function notify(
  session: Session,
  channel: string,
  what: 'schedules' | 'runs' | 'cancelled',
): Promise<void> {
  await session.query(NOTIFY, [channel, what])
}

const NOTIFY = often('notify', 'select pg_notify($1, $2)')

/** To whoever listens to a channel that is none of ours. */
export async function sendNotification(session: Session, channel: string, payload: string): Promise<void> {
  await session.query('select pg_notify($1, $2)', [channel, payload])
}

/** Tells other processes what this one did, if one of them listens. Two that ask in the same moment may both send. */
export async function notifyEvents({ query, eventsChannel }: Store, message: string): Promise<void> {
  await query(often('tell others', 'select pg_notify($1, $2) where not pg_try_advisory_xact_lock($3)'), [
    eventsChannel,
    message,
    listenersLockOf(eventsChannel),
  ])
}
