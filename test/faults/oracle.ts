/**
 * What must, may and must not have become of each plan time, from what the users asked for and were told, and from nothing else. Shares
 * no code with `src`: where this and the scheduler agree, two independent computations do.
 *
 * A verb took effect at one instant of its window, between the call and the answer; where the answer was lost, between the call and the
 * look that told what had become of it. Plan times up to that instant belong to what was before it, those after it to what it made. So
 * plan times inside of a window may have gone either way, and all others could not.
 */
import type { Content, Role } from './cast.js'
import { planTimesOf } from './grids.js'
import type { ObservedEntry, VerbEntry, Window } from './history.js'

/** A stretch in which a schedule was one thing, from a verb's window to the next one's. */
export interface Epoch {
  content: Content
  isPaused: boolean
  from: Window
  /** Null for one that lasts. */
  to: Window | null
  /** Whether its beginning made the schedule, as opposed to changing it. */
  isCreation: boolean
}

export interface Expectation {
  planTime: number
  /** Those of which it is a plan time; where it is `certain`, there is one. */
  epochs: Epoch[]
  isCertain: boolean
  /** Whether it must have an answer: also where it is not certain, if it is a plan time of whatever was before and after. */
  isDue: boolean
  /** Whether somebody asked to skip it; `maybe` where nobody knows. */
  isWished: boolean | 'maybe'
}

export interface Expected {
  role: Role
  epochs: Epoch[]
  /** By plan time. None for `after`, which has no grid. */
  occurrences: Map<number, Expectation>
  /** Ranges that somebody asked to backfill, heard or not. */
  backfills: { from: number; to: number }[]
  /** Manual runs: those that were promised, and whether there may be others. */
  promised: Set<string>
  isTriggerOpen: boolean
}

/** Instants are in whole milliseconds on both sides: what was rounded must not count. */
const SLACK_MS = 2

export function expectedOf(
  role: Role,
  own: readonly (VerbEntry | ObservedEntry)[],
  horizon: number,
): Expected {
  const epochs = epochsOf(own, horizon)
  return {
    role,
    epochs,
    occurrences: occurrencesOf(epochs, wishesOf(own), horizon),
    backfills: own.flatMap((entry) =>
      entry.type === 'verb' && entry.verb === 'backfill' && entry.answer !== 'refused'
        ? [{ from: entry.from!, to: entry.to! }]
        : [],
    ),
    promised: new Set(
      own.flatMap((entry) =>
        entry.type === 'verb' && entry.verb === 'trigger' && entry.answer === 'ok' ? [entry.id!] : [],
      ),
    ),
    isTriggerOpen: own.some(
      (entry) => entry.type === 'verb' && entry.verb === 'trigger' && entry.answer === 'unknown',
    ),
  }
}

interface Standing {
  content: Content
  isPaused: boolean
  /** When its pause ends by itself; null for one that does not. */
  until: number | null
}

function epochsOf(entries: readonly (VerbEntry | ObservedEntry)[], horizon: number): Epoch[] {
  const epochs: Epoch[] = []
  let standing: Standing | null = null
  let turned: Window = { t0: 0, t1: 0 }
  const contents = new Map<number, Content>()
  const turn = (next: Standing | null, window: Window) => {
    const current = standing === null ? undefined : epochs.at(-1)
    if (current) current.to = window
    if (next) {
      const { content, isPaused } = next
      epochs.push({ content, isPaused, from: window, to: null, isCreation: standing === null })
    }
    standing = next
    turned = window
  }
  /** Ends a pause at its time, however late somebody came to it; not before the verb was done that it may have met. */
  const endPause = (by: number) => {
    const until = standing?.until ?? null
    if (standing === null || until === null || until > by) return
    turn({ ...standing, isPaused: false, until: null }, { t0: until, t1: Math.max(until, turned.t1) })
  }
  entries.forEach((entry, index) => {
    if (entry.type === 'observed') return
    endPause(entry.t0)
    if (entry.content) contents.set(entry.content.mark, entry.content)
    if (entry.answer === 'refused' || !CHANGING.has(entry.verb)) return
    if (entry.answer === 'ok') {
      const next = after(entry, standing)
      if (next !== 'same') turn(next, entry)
      return
    }
    // The user looked before asking for anything else.
    const seen = entries[index + 1]
    if (seen?.type !== 'observed') throw new Error(`Nobody looked what became of ${JSON.stringify(entry)}`)
    const window = { t0: entry.t0, t1: seen.t1 }
    const now = seen.exists ? seenAs(seen, contents.get(seen.mark!)!) : null
    // It may have been paused, and be so no more.
    if (entry.until !== undefined && standing && !now?.isPaused) turn({ ...standing, isPaused: true }, window)
    if (!isSame(now, standing)) turn(now, window)
  })
  endPause(horizon)
  return epochs
}

/** One whose pause has ended is shown as paused until a scheduler comes to it. */
function seenAs({ isPaused = false, until = null, t0 }: ObservedEntry, content: Content): Standing {
  return isPaused && (until === null || until > t0)
    ? { content, isPaused, until }
    : { content, isPaused: false, until: null }
}

const CHANGING = new Set(['put', 'patch', 'pause', 'resume', 'pause group', 'resume group', 'delete'])

function after(entry: VerbEntry, standing: Standing | null): Standing | null | 'same' {
  switch (entry.verb) {
    case 'put':
    case 'patch':
      return { isPaused: false, until: null, ...standing, content: entry.content! }
    case 'pause': {
      const next = { ...standing!, isPaused: true, until: entry.until ?? null }
      return isSame(next, standing) ? 'same' : next
    }
    case 'pause group':
      return standing === null || standing.isPaused ? 'same' : { ...standing, isPaused: true, until: null }
    case 'resume':
    case 'resume group':
      return standing?.isPaused ? { ...standing, isPaused: false, until: null } : 'same'
    default:
      return null
  }
}

function isSame(a: Standing | null, b: Standing | null): boolean {
  return a?.content.mark === b?.content.mark && a?.isPaused === b?.isPaused && a?.until === b?.until
}

/** Wishes last until they are taken back or their schedule is deleted. */
function wishesOf(entries: readonly (VerbEntry | ObservedEntry)[]): Map<number, boolean | 'maybe'> {
  const wishes = new Map<number, boolean | 'maybe'>()
  for (const entry of entries) {
    if (entry.type !== 'verb' || entry.answer === 'refused') continue
    const isKnown = entry.answer === 'ok'
    if (entry.verb === 'skip') wishes.set(entry.planTime!, isKnown ? true : 'maybe')
    if (entry.verb === 'unskip' && wishes.has(entry.planTime!)) {
      wishes.set(entry.planTime!, isKnown ? false : 'maybe')
    }
    if (entry.verb !== 'delete') continue
    for (const planTime of wishes.keys()) {
      if (planTime > entry.t0) wishes.set(planTime, isKnown && planTime > entry.t1 ? false : 'maybe')
    }
  }
  return wishes
}

function occurrencesOf(
  epochs: readonly Epoch[],
  wishes: ReadonlyMap<number, boolean | 'maybe'>,
  horizon: number,
): Map<number, Expectation> {
  const found = new Map<number, Expectation>()
  for (const epoch of epochs) {
    const { from, to, content, isCreation } = epoch
    const last = Math.min(horizon, to === null ? Number.POSITIVE_INFINITY : to.t1 + SLACK_MS)
    // One whose time has passed when it is made is meant to happen; one that is moved into the past may.
    const isOnce = content.grid.kind === 'once'
    const isDueAtOnce = isCreation && isOnce
    const first = isOnce ? Number.NEGATIVE_INFINITY : from.t0 - SLACK_MS
    for (const planTime of planTimesOf(content, first, last)) {
      const isCertain =
        (isDueAtOnce || planTime > from.t1 + SLACK_MS) && (to === null || isBefore(planTime, epoch, to))
      const known = found.get(planTime)
      found.set(planTime, {
        planTime,
        epochs: [...(known?.epochs ?? []), epoch],
        isCertain: isCertain && !known,
        isDue: isCertain && !known,
        isWished: wishes.get(planTime) ?? false,
      })
    }
  }
  for (const occurrence of found.values()) occurrence.isDue ||= isOwned(occurrence, epochs)
  return found
}

/** Whether it belongs to one epoch or another, whichever way the verbs between them went: there was no time without it. */
function isOwned({ planTime, epochs: own }: Expectation, all: readonly Epoch[]): boolean {
  const [first, last] = [own[0]!, own.at(-1)!]
  const place = all.indexOf(first)
  return (
    own.length > 1 &&
    own.every((epoch, index) => epoch === all[place + index] && epoch.content.grid.kind !== 'once') &&
    own.slice(1).every(({ isCreation }) => !isCreation) &&
    planTime > first.from.t1 + SLACK_MS &&
    (last.to === null || isBefore(planTime, last, last.to))
  )
}

/** Whether it was over when the next verb came. One that is due at once is, from the answer that made it on. */
function isBefore(planTime: number, { from }: Epoch, to: Window): boolean {
  return Math.max(planTime, from.t1) <= to.t0 - SLACK_MS
}
