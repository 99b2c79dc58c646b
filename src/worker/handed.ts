import {
  HANDED_LEASE_MS,
  handingChannel,
  readHanded,
  releaseHanded,
} from '../store/queries/begun-as-enqueued.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import { notify } from '../store/queries/notifying.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { createResting, type Resting } from './resting.js'

/** Runs that somebody has enqueued and leased to this worker, as it was at rest. */
export interface Handed extends Pick<Resting, 'enter' | 'leave'> {
  /** Hears of them from now on. */
  listen(): Promise<void>
  /** Begins those for whom there is a place, if nobody stands in line, and gives the others back. */
  settle(isLineEmpty: boolean): Promise<void>
  /** Nobody is to hand over more. */
  refuse(): void
  /** Gives back what was handed over and not heard, and hears no more. */
  end(): Promise<void>
}

/** What was sent before that may soon be somebody else's: a worker that stood still hears of it late. */
const TOO_OLD_MS = HANDED_LEASE_MS / 2

export function createHanded(parts: {
  store: Store
  workerId: string
  restLock: string
  /** What its clock says by now, or somewhat more. */
  databaseNow(): Instant
  /** Whether nobody stands in line, and there is a place. */
  isFree(): boolean
  room(): number
  /** Returns whether it does. */
  begin(row: ClaimedRow): boolean
  /** Gives back what is leased under these tokens. */
  release(leaseTokens: readonly string[]): Promise<void>
  /** Has it settle what waits. */
  wake(): void
}): Handed {
  const { store, workerId } = parts
  const resting = createResting(store.database, parts.restLock)
  /** They came when it was not at rest, and wait until it has seen who stands in line. */
  let waiting: ClaimedRow[] = []
  let stopHearing: (() => Promise<void>) | undefined
  let refused = Promise.resolve()

  const isFresh = (row: ClaimedRow) => parts.databaseNow() - row.started_at!.getTime() < TOO_OLD_MS

  function hear(payload: string): void {
    const row = readHanded(payload)
    if (row === null || (parts.isFree() && isFresh(row) && parts.begin(row))) return
    waiting.push(row)
    parts.wake()
  }

  return {
    enter: resting.enter,
    leave: resting.leave,
    async listen() {
      // A start that failed had come so far: heard twice, each would begin twice.
      stopHearing ??= await store.database.listen(handingChannel(workerId), hear)
    },
    async settle(isLineEmpty) {
      const rows = waiting
      waiting = []
      const others = rows.filter(
        (row) => !(isLineEmpty && parts.room() > 0 && isFresh(row) && parts.begin(row)),
      )
      if (others.length > 0) await parts.release(others.map(({ id }) => id))
    },
    refuse() {
      refused = resting.end()
    },
    async end() {
      await refused
      if (await releaseHanded(store, workerId)) await notify(store, store.channel, 'runs')
      waiting = []
      await stopHearing?.()
      stopHearing = undefined
    },
  }
}
