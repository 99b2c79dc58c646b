import { monotonicMs } from '../clock.js'
import type { Instant } from '../time/instant.js'
import type { Database } from './database.js'

/**
 * Whether looks at a line may begin at its front.
 *
 * What is taken leaves there, and its entries stay in the index for as long as any transaction of the database is older, be it
 * a stranger's: a look at the whole line walks over all of them. While that takes long, looks begin further on, and only so many
 * look at all of it as take a small part of the time: they find whatever came to stand further in front.
 */
export interface Litter {
  /** Whether the next look may be one at the whole line. */
  isWholeDue(): boolean
  looked(look: Look): void
  /** How long until then: in that time a look that began further on may have missed something. */
  msUntilWhole(): number
}

interface Look {
  isWhole: boolean
  ms: number
  /** How much was taken. */
  count: number
  /** Whether it ended with the first that it found: there may be any amount of litter behind that. */
  isCutShort?: boolean
}

interface LitterOptions {
  /** How many times as long as a look at all of it took, none is. */
  rest?: number
  nowMs?: () => number
}

/** Longer than this, than what was taken explains, and than twice what a look takes that walks over nothing. */
const SLOW_MS = 10
const SLOW_MS_EACH = 0.02
/** One may have been slow by chance. */
const SLOW_LOOKS = 3
/** Whoever begins in the midst of much litter need not walk over all of it three times. The machine may have stood still, so that is soon looked at again. */
const VERY_SLOW_MS = 500
const SOON_MS = 5_000
/** So many times as long as a look at all of it took, none is. Every process looks, and each of its loops does. */
const REST = 49
/** But it is not rarer than that, were a look held up until its deadline. */
const MOST_REST_MS = 600_000

export function createLitter({ rest = REST, nowMs = monotonicMs }: LitterOptions = {}): Litter {
  let slowLooks = 0
  let wholeAtMs = Number.NEGATIVE_INFINITY
  /** Of looks that began further on: the way to the server and back, most of it. */
  let shortestMs = Number.POSITIVE_INFINITY

  return {
    isWholeDue: () => nowMs() >= wholeAtMs,
    looked({ isWhole, ms, count, isCutShort = false }) {
      if (!isWhole) {
        shortestMs = Math.min(shortestMs, ms)
        return
      }
      const usualMs = Number.isFinite(shortestMs) ? 2 * shortestMs : 0
      const excessMs = ms - SLOW_MS - SLOW_MS_EACH * count - usualMs
      if (isCutShort && excessMs <= 0) return
      const isFirst = slowLooks === 0
      slowLooks = excessMs > VERY_SLOW_MS ? SLOW_LOOKS : excessMs > 0 ? slowLooks + 1 : 0
      const restMs = Math.min(rest * ms, isFirst ? SOON_MS : MOST_REST_MS)
      wholeAtMs = slowLooks >= SLOW_LOOKS ? nowMs() + restMs : Number.NEGATIVE_INFINITY
    },
    msUntilWhole: () => Math.max(0, wholeAtMs - nowMs()),
  }
}

/** Inside the process there are no strangers, and what is measured would not replay. */
const NO_LITTER: Litter = { isWholeDue: () => true, looked: () => {}, msUntilWhole: () => 0 }

export function litterIn(database: Database, options?: LitterOptions): Litter {
  return mayBeLittered(database) ? createLitter(options) : NO_LITTER
}

export const mayBeLittered = ({ kind }: Database) => kind === 'postgres'

/** Where in a line from which the first is always taken a look begins: at what was taken last, while its front is littered. */
export interface Front {
  /** Where the next look begins; null for the beginning. */
  since(): Instant | null
  /** What a look that began at `since` has come to, and up to where it has taken; null for nothing. */
  looked(look: Pick<Look, 'ms' | 'count'> & { since: Instant | null; newest: Instant | null }): void
  msUntilWhole(): number
}

/** What is committed late stands before what was taken already. */
const OVERLAP_MS = 1_000

export function createFront(litter: Litter): Front {
  let newest: Instant | null = null
  return {
    since: () => (newest === null || litter.isWholeDue() ? null : newest - OVERLAP_MS),
    looked(look) {
      if (look.newest !== null) newest = Math.max(newest ?? look.newest, look.newest)
      litter.looked({ isWhole: look.since === null, ms: look.ms, count: look.count })
    },
    msUntilWhole: litter.msUntilWhole,
  }
}

/** The latest of many; null of none. */
export function newestOf(times: readonly Date[]): Instant | null {
  return times.length === 0
    ? null
    : times.reduce((newest, time) => Math.max(newest, time.getTime()), Number.NEGATIVE_INFINITY)
}

/** What a statement is given for where its look begins. */
export function sinceParam(since: Instant | null | undefined): Date | string {
  return since == null ? '-infinity' : new Date(since)
}
