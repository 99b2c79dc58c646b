import { setTimeout as pause } from 'node:timers/promises'
import { monotonicMs } from '../clock.js'
import { EscapementError } from '../errors.js'
import { endHold, holdClaims, listAtWork, type RunAtWork } from '../store/queries/moving.js'
import type { Store } from '../store/store.js'

/** Long enough to be renewed at leisure; whoever dies meanwhile holds nobody up for longer. */
const HOLD_MS = 10_000
const RENEW_MS = 3_000
const FIRST_LOOK_MS = 20
const MAX_LOOK_MS = 500
const MOST_NAMED = 5

/** Runs are claimed by nobody, so that those that are at work come to an end. */
export interface Drain {
  /** Resolves when no handler is at work. Rejects with `run_open` if some still are when the time is up. */
  untilIdle(): Promise<void>
  /** Waits a little before what could not be done is tried again; false when the time is up. */
  again(): Promise<boolean>
  /** Whoever waits to claim goes on. */
  end(): Promise<void>
}

export function createDrain(
  store: Store,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal | undefined },
): Drain {
  const deadlineMs = monotonicMs() + waitMs
  let heldAtMs = Number.NEGATIVE_INFINITY
  let lookMs = FIRST_LOOK_MS

  async function hold(): Promise<void> {
    signal?.throwIfAborted()
    if (monotonicMs() - heldAtMs < RENEW_MS) return
    await holdClaims(store, HOLD_MS)
    heldAtMs = monotonicMs()
  }

  async function again(): Promise<boolean> {
    const leftMs = deadlineMs - monotonicMs()
    if (leftMs <= 0) return false
    await pause(Math.min(lookMs, leftMs), undefined, signal && { signal }).catch(() => {})
    lookMs = Math.min(lookMs * 2, MAX_LOOK_MS)
    return true
  }

  return {
    again,
    async untilIdle() {
      for (;;) {
        await hold()
        const atWork = await listAtWork(store, MOST_NAMED)
        if (atWork.length === 0) return
        if (!(await again())) throw stillAtWork(atWork, waitMs)
      }
    },
    end: () => endHold(store),
  }
}

function stillAtWork(runs: readonly RunAtWork[], waitMs: number): EscapementError {
  const total = runs[0]!.total
  const named = runs.map(({ id, job, schedule, host, pid }) => {
    const what = schedule === null ? `job ${job}` : `job ${job} of ${schedule}`
    return `${id} (${what}${pid === null ? '' : `, process ${pid} on ${host}`})`
  })
  const rest = total > runs.length ? ` and ${total - runs.length} more` : ''
  return new EscapementError('run_open', {
    message:
      `Nothing was moved: after ${waitMs / 1000} s ${total === 1 ? 'a run is' : `${total} runs are`} still at work: ` +
      `${named.join(', ')}${rest}. Wait longer (--wait), or cancel them.`,
    details: { runs: runs.map(({ id }) => id), total },
  })
}
