import type { Chance } from '../chance.js'
import { monotonicMs } from '../clock.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { randomUuid } from '../runs/uuid.js'
import { isMoved } from '../store/moved.js'
import {
  type ClaimedRow,
  type Counted,
  claimRuns,
  msUntilNext,
  releaseClaims,
} from '../store/queries/claiming.js'
import { notify } from '../store/queries/notifying.js'
import { hasTakenTooLong, isPastDeadline } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { createLines } from './lines.js'

/** How a worker comes by its runs. What a claim took whose answer was lost, nobody works on: it is given back first. */
export interface Claims {
  /**
   * Takes at most `limit` runs whose jobs are here, all under one lease token. Now and then it may miss some that came to stand
   * before those it has taken already, unless it is told to look at the whole line.
   */
  take(
    limit: number,
    options?: { isWhole?: boolean },
  ): Promise<{ rows: readonly ClaimedRow[]; leaseToken: string }>
  /** What is leased under this token, or will be yet, nobody works on. */
  lose(leaseToken: string): void
  /** Gives back at once what is leased under these tokens, and tells workers of it. No attempt is spent. */
  release(leaseTokens: readonly string[]): Promise<void>
  /** How long until what was lost is to be given back. */
  msUntilGiveBack(): number
  /** Gives it back, and tells workers of it. No attempt is spent. Resolves to whether there was anything. */
  giveBack(): Promise<boolean>
  /** They stand in line again, in the places that they had. */
  stand(runs: readonly { queue: string; priority: number; eligible_at: Date }[]): void
  /** The next claim looks at lots at once, instead of finding out first that some wait. */
  expectLots(): void
  /** When the next run may be claimed, 0 if one may be now; null where none is known of. While claiming is paused nothing can be told of the line. */
  msUntilMore(): Promise<{ ms: number | null; isPaused: boolean }>
}

/** A transaction whose answer was lost may be at work for longer than we wait for it: until the server ends it, and its commit reaches the disk. */
const MAY_COMMIT_MS = 30_000
const GIVE_BACK_EVERY_MS = 1_000

export function createClaims(
  store: Store,
  jobs: JobRegistry,
  {
    workerId,
    queues,
    chance,
    onFurther,
  }: {
    workerId: string
    queues: readonly string[]
    chance: Chance
    /** Is told when somebody turns out to stand before where claims have looked. */
    onFurther(): void
  },
): Claims {
  /** Tokens of claims whose answer was lost: when to give each back, and until when it may still come to hold something. */
  const lost = new Map<string, { atMs: number; untilMs: number }>()
  const { elapsedMs } = store.clock
  const lots = { areWaiting: false }
  const counted = new Map<string, Counted>()
  const lines = createLines(store, jobs, { queues, onFurther })
  /** Whose turn it is: where places come free one by one, a flood in the first queue would have them all. */
  let turn = 0

  function queuesInTurn(): readonly string[] {
    turn = (turn + 1) % queues.length
    return [...queues.slice(turn), ...queues.slice(0, turn)]
  }

  function lose(leaseToken: string): void {
    lost.set(leaseToken, { atMs: elapsedMs(), untilMs: elapsedMs() + MAY_COMMIT_MS })
  }

  async function giveBack(tokens: readonly string[]): Promise<boolean> {
    if (tokens.length === 0) return false
    const isReleased = await release(tokens)
    for (const token of tokens) {
      const { untilMs } = lost.get(token)!
      if (elapsedMs() >= untilMs) lost.delete(token)
      else lost.set(token, { atMs: elapsedMs() + GIVE_BACK_EVERY_MS, untilMs })
    }
    return isReleased
  }

  async function release(tokens: readonly string[]): Promise<boolean> {
    const isReleased = await releaseClaims(store, tokens)
    if (isReleased) await notify(store, store.channel, 'runs')
    return isReleased
  }

  const dueToGiveBack = () => [...lost].flatMap(([token, { atMs }]) => (atMs <= elapsedMs() ? token : []))

  return {
    lose,
    async release(tokens) {
      await release(tokens).catch((error) => {
        tokens.forEach(lose)
        throw error
      })
    },
    msUntilGiveBack: () => Math.min(...[...lost.values()].map(({ atMs }) => atMs)) - elapsedMs(),
    giveBack: () => giveBack([...lost.keys()]),
    async take(limit, { isWhole = false } = {}) {
      await giveBack(dueToGiveBack())
      const from = isWhole ? null : await lines.begin()
      const leaseToken = randomUuid(chance)
      const claim = { workerId, leaseToken, queues: queuesInTurn(), jobs: jobs.all(), limit, lots, counted }
      const startedMs = monotonicMs()
      const rows = await claimRuns(store, { ...claim, from }).catch((error) => {
        const wasTooLong = hasTakenTooLong(error)
        // Nothing is claimed there, and nothing can be given back; nor where the server has undone it.
        if (!isMoved(error) && !(wasTooLong && !isPastDeadline(error))) lose(leaseToken)
        if (wasTooLong) lines.cutOff(from, monotonicMs() - startedMs)
        throw error
      })
      lines.claimed(from, monotonicMs() - startedMs, rows)
      return { rows, leaseToken }
    },
    stand: lines.stand,
    expectLots() {
      lots.areWaiting = true
    },
    async msUntilMore() {
      const from = await lines.begin()
      const next = await msUntilNext(store, { queues, jobs: jobs.all().map(({ name }) => name), from })
      const isPaused = next === 'paused'
      const ms = isPaused ? null : next
      if (from === null) return { ms, isPaused }
      // By then it is seen who came to stand further in front.
      return { ms: Math.min(ms ?? Number.POSITIVE_INFINITY, Math.max(1, lines.msUntilLook())), isPaused }
    },
  }
}
