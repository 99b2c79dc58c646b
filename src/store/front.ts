import { monotonicMs } from '../clock.js'
import type { Instant } from '../time/instant.js'
import type { Database } from './database.js'

/**
 * Where in a line a look begins.
 *
 * What is taken leaves at the front of the line, and its entries stay in the index for as long as any transaction of the
 * database is older, be it a stranger's: a look from the beginning walks over all of them. While that takes long, looks
 * begin at what was taken last, and only so many at the beginning as take a tenth of the time: they find whatever came to
 * stand further in front.
 */
export interface Front {
  /** Where the next look begins; null for the beginning. */
  since(): Instant | null
  /** What a look that began at `since` has come to. */
  looked(look: Look): void
  /** How long until a look may begin at the beginning again: in that time one that did not may have missed something. */
  msUntilWhole(): number
}

interface Look {
  since: Instant | null
  ms: number
  /** How much was taken, and up to where; null for nothing. */
  count: number
  newest: Instant | null
}

/** Longer than this, than what was taken explains, and than twice what a look takes that walks over nothing. */
const SLOW_MS = 20
const SLOW_MS_EACH = 0.05
/** One may have been slow by chance. */
const SLOW_LOOKS = 3
const REST = 9
/** What is committed late stands before what was taken already. */
const OVERLAP_MS = 1_000

export function createFront(nowMs: () => number = monotonicMs): Front {
  let newest: Instant | null = null
  let slowLooks = 0
  let wholeAtMs = Number.NEGATIVE_INFINITY
  /** Of looks that began behind what was taken: the way to the server and back, most of it. */
  let shortestMs = Number.POSITIVE_INFINITY

  return {
    since: () => (newest !== null && nowMs() < wholeAtMs ? newest - OVERLAP_MS : null),
    looked(look) {
      if (look.newest !== null) newest = Math.max(newest ?? look.newest, look.newest)
      if (look.since !== null) {
        shortestMs = Math.min(shortestMs, look.ms)
        return
      }
      const usualMs = Number.isFinite(shortestMs) ? 2 * shortestMs : 0
      slowLooks = look.ms > SLOW_MS + SLOW_MS_EACH * look.count + usualMs ? slowLooks + 1 : 0
      if (slowLooks >= SLOW_LOOKS) wholeAtMs = nowMs() + REST * look.ms
    },
    msUntilWhole: () => Math.max(0, wholeAtMs - nowMs()),
  }
}

/** Inside the process there are no strangers, and what is measured would not replay. */
const WHOLE: Front = { since: () => null, looked: () => {}, msUntilWhole: () => 0 }

export function frontOf({ kind }: Database): Front {
  return kind === 'postgres' ? createFront() : WHOLE
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
