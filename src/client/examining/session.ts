/** What lies between this process and the database: clocks, and the way there. */
import { randomUUID } from 'node:crypto'
import { hostNow, monotonicMs } from '../../clock.js'
import type { ConnectionMode } from '../../store/database.js'
import { IS_WRITABLE_SQL, NOTIFICATION_QUEUE_SQL } from '../../store/mending.js'
import { sendNotification } from '../../store/queries/notifying.js'
import { readServerFacts, type ServerFacts } from '../../store/queries/server-facts.js'
import type { Store } from '../../store/store.js'
import { type Diagnosis, told } from '../diagnosis.js'

const SKEW_MS = 2_000
const LOOKS = 3
const SLOW_MS = 1_000
/** As long as one notification is waited for. */
const PATIENCE_MS = 1_500

export interface Server extends ServerFacts {
  /** By how much the database's clock is ahead of this host's. */
  skewMs: number
  /** How far the truth may be from that. */
  marginMs: number
}

/** Of some looks the one with the shortest way there and back: the answer was written in about the middle of it. */
export async function readServer(store: Store): Promise<Server> {
  let best: Server | undefined
  for (let look = 0; look < LOOKS; look++) {
    const [hostMs, beganMs] = [hostNow(), monotonicMs()]
    const facts = await readServerFacts(store)
    const marginMs = (monotonicMs() - beganMs) / 2
    // Not minus zero.
    const skewMs = Math.round(facts.now.getTime() - hostMs - marginMs) + 0
    if (best === undefined || marginMs < best.marginMs) best = { ...facts, skewMs, marginMs }
  }
  return best!
}

export function clockDiagnoses({ skewMs, marginMs }: Server): Diagnosis[] {
  if (Math.abs(skewMs) - marginMs <= SKEW_MS) return []
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  return told('clock_skew', [skewMs], () => ({
    subject: 'the clock of this host',
    detail:
      `is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the database's; no decision depends on it, ` +
      'but the times in its log, of previews and of signed requests do',
    fix: 'let both hosts keep their time by NTP',
    command: 'sudo timedatectl set-ntp true',
  }))
}

export function writableDiagnoses({ isStandby, isReadOnly }: Server): Diagnosis[] {
  return told('read_only', isStandby || isReadOnly ? [isStandby] : [], () => ({
    subject: 'the database',
    detail: isStandby
      ? 'is a standby: nothing can be planned, claimed or changed'
      : 'allows this user to read only',
    fix: isStandby
      ? 'connect to the primary'
      : 'connect as a user whose default_transaction_read_only is off',
    command: IS_WRITABLE_SQL,
  }))
}

/** It works all the same, but nothing can be kept in a session: no notification comes, and no lock says that a worker lives. */
export function poolerDiagnoses(mode: ConnectionMode): Diagnosis[] {
  return told('pooler', mode === 'pooled' ? [mode] : [], () => ({
    subject: 'the connection',
    detail:
      'leads through a transaction pooler: all works, but what other processes ask for is seen by polling, within a second, and a killed ' +
      'worker is missed only when its leases end',
    fix: 'to have it at once, give Escapement a URL that leads to PostgreSQL itself, or to a pooler in session mode',
    command: null,
  }))
}

/**
 * How long a notification to ourselves takes; null where none has come in time. One that is slow may have met a busy moment of this
 * process: of some looks the quickest counts.
 */
export async function measureNotification(store: Store, patienceMs = PATIENCE_MS): Promise<number | null> {
  let best = Number.POSITIVE_INFINITY
  for (let look = 0; look < LOOKS && best > SLOW_MS; look++) {
    best = Math.min(best, (await notifyOurselves(store, patienceMs)) ?? Number.POSITIVE_INFINITY)
  }
  return Number.isFinite(best) ? best : null
}

async function notifyOurselves(store: Store, patienceMs: number): Promise<number | null> {
  const channel = `escapement-doctor:${randomUUID()}`
  let hear!: () => void
  const heard = new Promise<void>((resolve) => {
    hear = resolve
  })
  const stop = await store.database.listen(channel, (payload) => payload === channel && hear())
  let timer: NodeJS.Timeout | undefined
  try {
    const beganMs = monotonicMs()
    await sendNotification(store, channel, channel)
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, patienceMs, 'late')
    })
    return (await Promise.race([heard, late])) === 'late' ? null : monotonicMs() - beganMs
  } finally {
    clearTimeout(timer)
    await stop()
  }
}

export function notificationDiagnoses(tookMs: number | null): Diagnosis[] {
  if (tookMs !== null && tookMs <= SLOW_MS) return []
  return told('notification_latency', [tookMs], () => ({
    subject: 'notifications',
    detail:
      `${tookMs === null ? 'do not reach this process' : `took ${(tookMs / 1000).toFixed(1)} s to reach this process`}: ` +
      'what others ask for is seen when it is next looked for, up to 5 s later',
    fix: 'see that nothing in between drops or delays what the server sends, and that no session listens in a transaction that never ends, which fills the queue',
    command: NOTIFICATION_QUEUE_SQL,
  }))
}
