/**
 * Where a scheduler looks for what is due.
 *
 * Looks begin with the cursor that wakes first, until that end of their order turns out to be littered (src/store/front.ts). From then on they begin behind: the
 * look for the next schedule where it last found the first that wakes, whoever holds it, for nothing stood before it; ticks there too, or at what has been taken
 * since. Whoever has just begun makes one look at all of it. The others are made beside the ticks, which go on with what is known.
 *
 * - A *whole* look finds whatever came to stand further in front. The next tick then looks at all of it.
 * - A *deep* one begins some seconds before: there stands what was committed late, what another scheduler had and died with, and what was passed over while
 *   somebody was asked for its scopes.
 */
import { monotonicMs } from '../clock.js'
import type { Logger } from '../logger.js'
import { litterIn } from '../store/front.js'
import { type DueLimits, readNextWake } from '../store/queries/planning.js'
import { readNow } from '../store/queries/schedules.js'
import { hasTakenTooLong } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'

export interface DueFront {
  /** Where a look for what is due begins; null for the beginning. */
  since(): Instant | null
  /** What one that began there has come to. */
  looked(look: Look): void
  /** One that began there was cut off: it may have been by all that cannot be swept away. The next begins with what comes due from now on. */
  cutOff(look: Pick<Look, 'since' | 'ms'>): Promise<void>
  /** Up to where something else has taken; null for nothing. */
  reached(newest: Instant | null): void
  /** Something may have been passed over that can be taken now: the next look is a deep one. */
  lookDeep(): void
  /** Milliseconds until it has to be looked again; infinite while no schedule waits. */
  msUntilWake(what: Takeable): Promise<number>
  /** Waits for the look that is under way. */
  settled(): Promise<void>
}

interface Look {
  since: Instant | null
  ms: number
  count: number
  /** Up to where it has taken; null for nothing. */
  newest: Instant | null
  /** Whether it has taken all that was due. */
  isAll: boolean
}

type Takeable = Pick<DueLimits, 'kinds' | 'providers'>

/** What is committed late stands before what was found already: by so much for most looks, and by so much, longer than anybody is asked for scopes, for deep ones. */
const OVERLAP_MS = 1_000
const LATE_MS = 10_000
const DEEP_LOOK_EVERY_MS = 1_000
/** So many times as long as a deep look took, there is none; but no longer than half a minute, were it held up by a dead connection. */
const DEEP_LOOK_REST = 49
const MOST_DEEP_LOOK_REST_MS = 30_000
/** After a look at all of it that failed there is none for so long. */
const AFTER_FAILURE_MS = 5_000

/** `onFurther` is told when something turns out to stand before where looks have begun. */
export function createDueFront(store: Store, logger: Logger, { onFurther }: { onFurther(): void }): DueFront {
  const litter = litterIn(store.database)
  /** Nothing wakes before it; null while that is not known, or looks begin at the beginning. */
  let known: Instant | null = null
  /** Since when that has been the same, by a clock that nobody sets. */
  let knownSinceMs = Number.NEGATIVE_INFINITY
  /** Up to where ticks have taken. */
  let taken: Instant | null = null
  /** When the last look was made: nothing is due up to then, once a tick has taken all. */
  let lookedAt: Instant | null = null
  /** Whether something stands before that, which the next tick is to take. */
  let isFurther = false
  let looking: Promise<void> | undefined
  let deepAtMs = Number.NEGATIVE_INFINITY
  let wholeAgainAtMs = Number.NEGATIVE_INFINITY

  const base = () => (known === null || taken === null ? (known ?? taken) : Math.max(known, taken))

  function reached(newest: Instant | null): void {
    if (newest !== null) taken = Math.max(taken ?? newest, newest)
  }

  function know(at: Instant): void {
    if (at !== known) knownSinceMs = monotonicMs()
    known = at
  }

  function forget(): void {
    known = taken = lookedAt = null
  }

  /** What was found and not taken is looked at again for as long: its holder may give it back. From then on it is left to whole looks. */
  function deepSince(): Instant {
    const late = base()! - LATE_MS
    return monotonicMs() - knownSinceMs < LATE_MS ? Math.min(late, behind(known)!) : late
  }

  /** From there on, or at all of it: what wakes first, or the present where nothing does before. */
  async function look(since: Instant | null, what: Takeable) {
    const startedMs = monotonicMs()
    try {
      const { wakeAt, now } = await readNextWake(store, { ...what, since })
      const ms = monotonicMs() - startedMs
      const next = wakeAt ?? Number.POSITIVE_INFINITY
      const isDue = next <= now
      litter.looked({ isWhole: since === null, ms, count: 0, isCutShort: isDue })
      // What was committed since it began it has not seen.
      return { first: Math.min(next, now - ms), wakeMs: Math.max(0, next - now), isDue, at: now - ms }
    } catch (error) {
      if (hasTakenTooLong(error))
        litter.looked({ isWhole: since === null, ms: monotonicMs() - startedMs, count: 0 })
      throw error
    }
  }

  /** Whatever came to stand in front is found, or that there is no litter any more. */
  async function lookAtAll(what: Takeable): Promise<void> {
    // What has come due meanwhile is found by the others.
    const from = behind(base())
    const { first, isDue } = await look(null, what)
    if (isDue) isFurther = from !== null && first < from
    else if (litter.isWholeDue()) forget()
    if (isFurther) onFurther()
  }

  function lookBeside(what: Takeable): void {
    if (known === null || !litter.isWholeDue() || monotonicMs() < wholeAgainAtMs) return
    looking ??= lookAtAll(what)
      .catch((error) => {
        wholeAgainAtMs = monotonicMs() + AFTER_FAILURE_MS
        logger.warn({ err: error }, 'a look at all schedules failed; what is known of them still serves')
      })
      .finally(() => {
        looking = undefined
      })
  }

  /** The look that is waited for: it begins with what is known. */
  async function lookOn(what: Takeable): Promise<number> {
    const from = known
    const isDeep = from !== null && monotonicMs() >= deepAtMs
    const startedMs = monotonicMs()
    const passedMs = () => monotonicMs() - startedMs
    // While it is under way another may be wished for.
    if (isDeep) deepAtMs = Number.POSITIVE_INFINITY
    try {
      const { first, wakeMs, at } = await look(isDeep ? deepSince() : behind(from), what)
      const isClean = from === null && litter.isWholeDue()
      if (from !== known) return wakeMs
      lookedAt = at
      if (!isClean) know(first)
      if (isDeep) taken = null
      return wakeMs
    } catch (error) {
      const ms = passedMs()
      if (hasTakenTooLong(error)) know((await readNow(store)) - ms)
      throw error
    } finally {
      if (deepAtMs === Number.POSITIVE_INFINITY) deepAtMs = monotonicMs() + deepRestMs(passedMs())
    }
  }

  return {
    since() {
      if (isFurther || (known === null && litter.isWholeDue())) return null
      return behind(base())
    },
    looked({ since, ms, count, newest, isAll }) {
      reached(newest)
      if (isAll) reached(lookedAt)
      litter.looked({ isWhole: since === null, ms, count, isCutShort: !isAll })
      if (since !== null) return
      if (isAll && litter.isWholeDue()) forget()
      else if (isFurther && !isAll && newest !== null) {
        // There are more of them.
        know(newest)
        taken = lookedAt = null
      }
      isFurther = false
    },
    async cutOff({ since, ms }) {
      litter.looked({ isWhole: since === null, ms, count: 0 })
      isFurther = false
      const now = await readNow(store)
      taken = Math.max(taken ?? Number.NEGATIVE_INFINITY, now - ms)
    },
    reached,
    lookDeep() {
      deepAtMs = Number.NEGATIVE_INFINITY
    },
    async msUntilWake(what) {
      if (isFurther) return 0
      lookBeside(what)
      const wakeMs = await lookOn(what)
      if (isFurther) return 0
      const untilWholeMs = known === null || looking !== undefined ? 0 : litter.msUntilWhole()
      return untilWholeMs > 0 ? Math.min(wakeMs, untilWholeMs) : wakeMs
    },
    settled: async () => looking,
  }
}

const behind = (at: Instant | null) => (at === null ? null : at - OVERLAP_MS)

const deepRestMs = (ms: number) =>
  Math.max(DEEP_LOOK_EVERY_MS, Math.min(DEEP_LOOK_REST * ms, MOST_DEEP_LOOK_REST_MS))
