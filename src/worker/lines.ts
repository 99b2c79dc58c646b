/**
 * Where lines begin, for a worker's claims.
 *
 * Claims look at whole lines, until those turn out to be littered (src/store/front.ts). From then on it is looked for where lines begin, beside the claims,
 * which go on with what is known: no look, however much it walks over, keeps a run waiting. Where nothing is known, as at the start, they wait for it for a
 * moment, and then take what comes from now on; whatever waits is found by the look.
 *
 * - A look at *whole* lines finds whatever came to stand in front of all that is known. It is rare.
 * - A *deep* one begins some seconds before they began, by which somebody may come to stand there late.
 * - Between those, claims leave behind what they have taken of jobs without limits. What they have taken of the others says nothing of those before it, whose
 *   limit was reached or whose key was busy; so of those a *short* look finds the first that is left, before each claim walks over a second's litter.
 */
import { monotonicMs } from '../clock.js'
import { within } from '../deadline.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { litterIn, mayBeLittered } from '../store/front.js'
import { type ClaimedRow, isLimited } from '../store/queries/claiming.js'
import { before, type Fronts, findFronts, lineOf, withPlaces } from '../store/queries/fronts.js'
import { readNow } from '../store/queries/schedules.js'
import { hasTakenTooLong } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'

export interface Lines {
  /** Where the next claim looks; null for all of each line. */
  begin(): Promise<Fronts | null>
  /** How long a claim that looked from there took, and what it got. */
  claimed(from: Fronts | null, ms: number, rows: readonly ClaimedRow[]): void
  /** The server, or our deadline, has cut off a claim that looked from there. */
  cutOff(from: Fronts | null, ms: number): void
  /** They stand in line again, in the places that they had: perhaps before all that is left there. */
  stand(runs: readonly Place[]): void
  /** Until it is looked again where lines begin. */
  msUntilLook(): number
}

type Place = Pick<ClaimedRow, 'queue' | 'priority' | 'eligible_at'>

type Depth = 'whole' | 'deep' | 'short'

/** How long somebody stands unseen who was committed late, or whom a transaction that was undone gave back. */
const DEEP_LOOK_EVERY_MS = 1_000
/** So many times as long as one took, there is none; but no longer than half a minute, were it held up by a dead connection. */
const DEEP_LOOK_REST = 19
const MOST_DEEP_LOOK_REST_MS = 30_000
const SHORT_LOOK_EVERY_MS = 200
/** So much later than it may begin, a run may come to stand in its line: what a scheduler that is behind plans, or is committed late. */
const LATE_MS = 10_000
/** What is late by no more than that is seen by the next claim. */
const SHORT_OVERLAP_MS = 100
/** Where there is no litter, a look takes a few milliseconds. */
const PATIENCE_MS = 100
/** Looked at whether anything of it waits or not, and the others for as long after one was taken. */
const USUAL_PRIORITY = 0
const REMEMBER_PRIORITY_MS = 600_000
const MOST_PRIORITIES = 100
/** One look, or one claim, may have taken too long by chance. */
const TOO_LONG = 2
/** After one that failed there is none for so long. */
const AFTER_FAILURE_MS = 1_000

export function createLines(
  store: Store,
  jobs: JobRegistry,
  /** `onFurther` is told when somebody turns out to stand before where claims have looked. */
  { queues, onFurther }: { queues: readonly string[]; onFurther(): void },
): Lines {
  const litter = litterIn(store.database)
  /** Where lines began when that was last looked for; null while they are not littered, undefined where that is not known. */
  let fronts: Fronts | null | undefined = mayBeLittered(store.database) ? undefined : null
  /** Whether that is a guess, until it is known. */
  let isGuessed = false
  /** Where claims look: they leave behind what they have taken. */
  let advanced: Fronts | null = null
  /** For how many jobs they were found. */
  let jobsThen = 0
  let looking: Promise<void> | undefined
  /** Why the last look failed, where nobody has been told yet. */
  let failure: { error: unknown } | undefined
  /** Those of whom a look that is under way may know nothing. */
  let standing: Place[] = []
  let deepAtMs = Number.NEGATIVE_INFINITY
  let shortAtMs = Number.NEGATIVE_INFINITY
  let wholeAgainAtMs = Number.NEGATIVE_INFINITY
  /** Looks that took too long, one after another, and claims that did although they began behind. */
  let tooLong = 0
  let claimsTooLong = 0
  /** When a run of each was last taken. */
  const priorities = new Map<number, number>()

  // What waits of a new job may stand before all of the others.
  const areKnown = () => fronts != null && !isGuessed && jobs.all().length === jobsThen
  const areClean = () => fronts === null && litter.isWholeDue()

  async function begin(): Promise<Fronts | null> {
    if (areClean()) return null
    const depth = areKnown() ? dueDepth() : monotonicMs() >= wholeAgainAtMs ? 'whole' : null
    if (depth !== null && looking === undefined) {
      looking = look(depth)
        .catch((error) => {
          failure = { error }
        })
        .finally(() => {
          looking = undefined
        })
      if (!areKnown()) await within(store.clock, PATIENCE_MS, looking, () => {})
    }
    tellFailure()
    if (fronts == null && !areClean()) {
      const guess = await frontsFromNow()
      // A look may have been answered meanwhile.
      if (fronts == null && !areClean()) know(guess, { isGuess: true })
    }
    return advanced
  }

  /** A look that failed fails the claim that waited for it, or else the next one. */
  function tellFailure(): void {
    const failed = failure
    failure = undefined
    if (failed) throw failed.error
  }

  function dueDepth(): Depth | null {
    if (litter.isWholeDue()) return 'whole'
    const nowMs = monotonicMs()
    if (nowMs >= deepAtMs) return 'deep'
    return nowMs >= shortAtMs && jobs.all().some(isLimited) ? 'short' : null
  }

  async function look(depth: Depth): Promise<void> {
    const all = jobs.all()
    const named = (wanted: boolean) => all.filter((job) => isLimited(job) === wanted).map(({ name }) => name)
    const startedMs = monotonicMs()
    standing = []
    try {
      const answer = await findFronts(store, {
        queues,
        jobs: { free: named(false), limited: named(true) },
        priorities: prioritiesNow(),
        from: depth === 'whole' ? null : depth === 'deep' ? before(fronts!, LATE_MS) : advanced,
      })
      const found = withPlaces(answer, standing)
      tooLong = 0
      tell(depth, monotonicMs() - startedMs)
      shortAtMs = monotonicMs() + SHORT_LOOK_EVERY_MS
      if (depth === 'short') advanced = before(found, SHORT_OVERLAP_MS)
      else {
        const known = advanced
        // A look at all of it that was quick says that there is no litter any more.
        know(depth === 'whole' && litter.isWholeDue() ? null : found, { jobsKnown: all.length })
        if (known !== null && (fronts === null || isFurther(found, known))) onFurther()
      }
    } catch (error) {
      deepAtMs = shortAtMs = monotonicMs() + AFTER_FAILURE_MS
      if (!hasTakenTooLong(error)) {
        wholeAgainAtMs = deepAtMs
        throw error
      }
      // Too much litter for one look: asked again at once, it would not be answered either. What is known is still right.
      tell(depth, monotonicMs() - startedMs)
      if (fronts != null && !isGuessed) {
        jobsThen = all.length
        return
      }
      tooLong += 1
      if (tooLong < TOO_LONG) return
      // What came since it was guessed is in order.
      if (isGuessed) know(fronts!, { jobsKnown: all.length })
      else know(await frontsFromNow())
    }
  }

  function tell(depth: Depth, ms: number): void {
    if (depth !== 'short') {
      const restMs = depth === 'deep' ? Math.min(DEEP_LOOK_REST * ms, MOST_DEEP_LOOK_REST_MS) : 0
      deepAtMs = monotonicMs() + Math.max(DEEP_LOOK_EVERY_MS, restMs)
    }
    litter.looked({ isWhole: depth === 'whole', ms, count: 0 })
  }

  function know(
    found: Fronts | null,
    { jobsKnown = jobs.all().length, isGuess = false }: { jobsKnown?: number; isGuess?: boolean } = {},
  ): void {
    fronts = found
    isGuessed = isGuess
    advanced = found && before(found, SHORT_OVERLAP_MS)
    jobsThen = jobsKnown
  }

  /** Where nothing can be found out, what comes from now on is seen at least. */
  async function frontsFromNow(): Promise<Fronts> {
    const now = (await readNow(store)) - LATE_MS
    const lines = queues.flatMap((queue) =>
      prioritiesNow().map((priority) => ({ queue, priority, freeSince: now, limitedSince: now })),
    )
    return { lines: lines.sort((a, b) => b.priority - a.priority) }
  }

  /** The one that was taken last is the last. */
  function remember(rows: readonly ClaimedRow[]): void {
    const takenMs = monotonicMs()
    for (const priority of new Set(rows.map((row) => row.priority))) {
      priorities.delete(priority)
      priorities.set(priority, takenMs)
    }
    for (const priority of priorities.keys()) {
      if (priorities.size <= MOST_PRIORITIES) return
      priorities.delete(priority)
    }
  }

  function prioritiesNow(): number[] {
    const oldestMs = monotonicMs() - REMEMBER_PRIORITY_MS
    for (const [priority, takenMs] of priorities) if (takenMs < oldestMs) priorities.delete(priority)
    return [...new Set([USUAL_PRIORITY, ...priorities.keys()])]
  }

  /** Each line was taken from its beginning: of jobs without limits nobody stands before the last that was taken. */
  function advance(rows: readonly ClaimedRow[]): void {
    if (advanced === null) return
    const newest = new Map<string, Instant>()
    for (const row of rows) {
      if (isLimited(jobs.get(row.job)!)) continue
      const line = lineOf(row)
      newest.set(line, Math.max(newest.get(line) ?? Number.NEGATIVE_INFINITY, row.eligible_at.getTime()))
    }
    const lines = advanced.lines.map((line) => {
      const taken = newest.get(lineOf(line)) ?? Number.NEGATIVE_INFINITY
      return { ...line, freeSince: Math.max(line.freeSince, taken - SHORT_OVERLAP_MS) }
    })
    advanced = { lines }
  }

  return {
    begin,
    claimed(from, ms, rows) {
      litter.looked({ isWhole: from === null, ms, count: rows.length })
      claimsTooLong = 0
      remember(rows)
      // Where it was found out meanwhile that somebody stands further in front, this claim has not seen them.
      if (from === advanced) advance(rows)
    },
    cutOff(from, ms) {
      if (from === null) litter.looked({ isWhole: true, ms, count: 0 })
      else claimsTooLong += 1
      if (claimsTooLong < TOO_LONG) return
      // They begin too far in front: like one who knows nothing, it begins anew with what comes from now on.
      claimsTooLong = 0
      fronts = undefined
    },
    stand(runs) {
      if (looking !== undefined) standing.push(...runs)
      fronts = fronts && withPlaces(fronts, runs)
      advanced = advanced && withPlaces(advanced, runs)
    },
    // A look that is under way says by itself when it has found somebody.
    msUntilLook: () => (looking === undefined ? deepAtMs - monotonicMs() : DEEP_LOOK_EVERY_MS),
  }
}

/** Whether a line begins before what is known of it, or is none that is known. */
function isFurther(found: Fronts, known: Fronts): boolean {
  const lines = new Map(known.lines.map((line) => [lineOf(line), line]))
  return found.lines.some((line) => {
    const { freeSince, limitedSince } = lines.get(lineOf(line)) ?? line
    return !lines.has(lineOf(line)) || line.freeSince < freeSince || line.limitedSince < limitedSince
  })
}
