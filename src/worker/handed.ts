import { monotonicMs } from '../clock.js'
import type { Logger } from '../logger.js'
import { handingChannel, readHanded, releaseHanded } from '../store/queries/begun-as-enqueued.js'
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
  /** Whether something may be leased to it of which it has not heard. */
  mayMiss(): boolean
  /** Gives back what was handed over before then and is not held: it was not heard, and will not be. */
  giveBackUnheard(before: Instant, held: readonly string[]): Promise<void>
  /** Nobody is to hand over more. */
  refuse(): void
  /** Gives back what was handed over and not heard, and hears no more. */
  end(): Promise<void>
}

/** What was sent before that may soon be somebody else's: a worker that stood still hears of it late. No lease is shorter than twice as long. */
export const TOO_OLD_MS = 2_500
/** Since it was last at rest: some looks for what was not heard, each of which passes over what is not yet too old. */
const MAY_MISS_MS = 15_000

export function createHanded(parts: {
  store: Store
  logger: Logger
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
  let refused: Promise<void> | undefined
  let restedMs = Number.NEGATIVE_INFINITY

  const isFresh = (row: ClaimedRow) => parts.databaseNow() - row.started_at!.getTime() < TOO_OLD_MS

  function hear(payload: string): void {
    const row = readHanded(payload)
    if (row === null || (parts.isFree() && isFresh(row) && parts.begin(row))) return
    waiting.push(row)
    // Whatever holds it up, others have places.
    resting.leave()
    parts.wake()
    // It may have passed its last turn. What is not given back here is given back at the end.
    if (refused) void settle(false).catch(() => {})
  }

  async function settle(isLineEmpty: boolean): Promise<void> {
    const rows = waiting
    waiting = []
    const others = rows.filter(
      (row) => !(isLineEmpty && parts.room() > 0 && isFresh(row) && parts.begin(row)),
    )
    if (others.length > 0) await parts.release(others.map(({ id }) => id))
  }

  const tellOthers = () => notify(store, store.channel, 'runs')

  return {
    enter() {
      restedMs = monotonicMs()
      resting.enter()
    },
    leave: resting.leave,
    mayMiss() {
      if (resting.isEntered()) restedMs = monotonicMs()
      return monotonicMs() - restedMs < MAY_MISS_MS
    },
    async giveBackUnheard(before, held) {
      if (!(await releaseHanded(store, workerId, { before, held }))) return
      parts.logger.warn({ workerId }, 'a run was handed over and not heard of: it is given back')
      // By the session that should have heard: if that does not answer, it is opened anew.
      resting.leave()
      parts.wake()
      await tellOthers()
    },
    async listen() {
      // A start that failed had come so far: heard twice, each would begin twice.
      stopHearing ??= await store.database.listen(handingChannel(workerId), hear)
    },
    settle,
    refuse() {
      refused = resting.end()
    },
    async end() {
      await refused
      if (await releaseHanded(store, workerId)) await tellOthers()
      waiting = []
      await stopHearing?.()
      stopHearing = undefined
    },
  }
}
