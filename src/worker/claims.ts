import type { Chance } from '../chance.js'
import { monotonicMs } from '../clock.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { randomUuid } from '../runs/uuid.js'
import { litterIn } from '../store/front.js'
import { isMoved } from '../store/moved.js'
import {
  type ClaimedRow,
  claimRuns,
  isLimited,
  msUntilNext,
  releaseClaims,
} from '../store/queries/claiming.js'
import { before, type Fronts, findFronts } from '../store/queries/fronts.js'
import { notify } from '../store/queries/notifying.js'
import { readNow } from '../store/queries/schedules.js'
import { hasTakenTooLong, isPastDeadline } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'

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
  /** The next claim looks at lots at once, instead of finding out first that some wait. */
  expectLots(): void
  /** When the next run may be claimed, 0 if one may be now; null where none is known of. While claiming is paused nothing can be told of the line. */
  msUntilMore(): Promise<{ ms: number | null; isPaused: boolean }>
}

/** How long somebody stands unseen who was committed late, or whom a transaction that was undone gave back. */
const FIND_FRONTS_EVERY_MS = 1_000
/** So much later than it may begin, a run may come to stand in its line: what a scheduler that is behind plans, or is committed late. */
const LATE_MS = 10_000
/** What is late by no more than that is seen by the next claim. */
const SHORT_OVERLAP_MS = 100
/** Looked at whether anything of it waits or not, and the others for as long after one was taken. */
const USUAL_PRIORITY = 0
const REMEMBER_PRIORITY_MS = 600_000
const MOST_PRIORITIES = 100
/** A transaction whose answer was lost may be at work for longer than we wait for it: until the server ends it, and its commit reaches the disk. */
const MAY_COMMIT_MS = 30_000
const GIVE_BACK_EVERY_MS = 1_000
/** One look may have taken too long by chance. */
const LOOKS_TOO_LONG = 2

export function createClaims(
  store: Store,
  jobs: JobRegistry,
  { workerId, queues, chance }: { workerId: string; queues: readonly string[]; chance: Chance },
): Claims {
  /** Tokens of claims whose answer was lost: when to give each back, and until when it may still come to hold something. */
  const lost = new Map<string, { atMs: number; untilMs: number }>()
  const { elapsedMs } = store.clock
  const lots = { areWaiting: false }
  const litter = litterIn(store.database)
  /** Where lines began when that was last found, while there is litter; null where there is none. */
  let fronts: Fronts | null = null
  /** Where claims look: they leave behind what they have taken, or walk over all of it again until the next look for fronts. */
  let advanced: Fronts | null = null
  let frontsFoundMs = Number.NEGATIVE_INFINITY
  /** For how many jobs they were found. */
  let jobsThen = 0
  /** Looks for fronts that took too long, one after another. */
  let tooLong = 0
  /** When a run of each was last taken. */
  const priorities = new Map<number, number>()
  /** Whose turn it is: where places come free one by one, a flood in the first queue would have them all. */
  let turn = 0

  function queuesInTurn(): readonly string[] {
    turn = (turn + 1) % queues.length
    return [...queues.slice(turn), ...queues.slice(0, turn)]
  }

  /** While there is litter, the looks at whole lines are those that only find where they begin. */
  async function whereToLook(): Promise<Fronts | null> {
    const all = jobs.all()
    if (litter.isWholeDue() && fronts === null) return null
    // What waits of a new job may stand before all of the others.
    const isWhole = litter.isWholeDue() || all.length !== jobsThen
    if (!isWhole && fronts !== null && msUntilFound() > 0) return advanced
    const from = isWhole || fronts === null ? null : before(fronts, LATE_MS)
    const named = (wanted: boolean) => all.filter((job) => isLimited(job) === wanted).map(({ name }) => name)
    const startedMs = monotonicMs()
    try {
      const found = await findFronts(store, {
        queues,
        jobs: { free: named(false), limited: named(true) },
        priorities: prioritiesNow(),
        from,
      })
      tooLong = 0
      litter.looked({ isWhole: from === null, ms: monotonicMs() - startedMs, count: 0 })
      // A look at all of it that was quick says that there is no litter any more.
      fronts = from === null && litter.isWholeDue() ? null : found
    } catch (error) {
      if (!hasTakenTooLong(error)) throw error
      // Too much litter for one look: asked again at once, it would not be answered either. What is known is still right.
      litter.looked({ isWhole: from === null, ms: monotonicMs() - startedMs, count: 0 })
      if (from === null && fronts !== null) {
        jobsThen = all.length
        return advanced
      }
      tooLong += 1
      if (tooLong < LOOKS_TOO_LONG) throw error
      fronts = await frontsFromNow(fronts?.leasesSince ?? null)
    }
    jobsThen = all.length
    frontsFoundMs = monotonicMs()
    advanced = fronts && before(fronts, SHORT_OVERLAP_MS)
    return advanced
  }

  const msUntilFound = () => frontsFoundMs + FIND_FRONTS_EVERY_MS - monotonicMs()

  /** The one that was taken last is the last. */
  function remember(rows: readonly ClaimedRow[], takenMs: number): void {
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

  /** Where nothing can be found out, what comes from now on is seen at least. */
  async function frontsFromNow(leasesSince: Instant | null): Promise<Fronts> {
    const now = (await readNow(store)) - LATE_MS
    const lines = queues.flatMap((queue) =>
      prioritiesNow().map((priority) => ({ queue, priority, freeSince: now, limitedSince: now })),
    )
    return { lines: lines.sort((a, b) => b.priority - a.priority), leasesSince }
  }

  /**
   * Each line was taken from its beginning: of jobs without limits nobody stands before the last that was taken. Of the others those do whose
   * limit was reached, or whose key was busy.
   */
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
    advanced = { ...advanced, lines }
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
      const from = isWhole ? null : await whereToLook()
      const leaseToken = randomUuid(chance)
      const claim = { workerId, leaseToken, queues: queuesInTurn(), jobs: jobs.all(), limit, lots }
      const startedMs = monotonicMs()
      const rows = await claimRuns(store, { ...claim, from }).catch((error) => {
        const wasTooLong = hasTakenTooLong(error)
        // Nothing is claimed there, and nothing can be given back; nor where the server has undone it.
        if (!isMoved(error) && !(wasTooLong && !isPastDeadline(error))) lose(leaseToken)
        if (wasTooLong && from === null)
          litter.looked({ isWhole: true, ms: monotonicMs() - startedMs, count: 0 })
        throw error
      })
      const answeredMs = monotonicMs()
      litter.looked({ isWhole: from === null, ms: answeredMs - startedMs, count: rows.length })
      remember(rows, answeredMs)
      advance(rows)
      return { rows, leaseToken }
    },
    expectLots() {
      lots.areWaiting = true
    },
    async msUntilMore() {
      const from = await whereToLook()
      const next = await msUntilNext(store, { queues, jobs: jobs.all().map(({ name }) => name), from })
      const isPaused = next === 'paused'
      const ms = isPaused ? null : next
      if (from === null) return { ms, isPaused }
      // By then it is seen who came to stand further in front.
      return { ms: Math.min(ms ?? Number.POSITIVE_INFINITY, Math.max(1, msUntilFound())), isPaused }
    },
  }
}

const lineOf = ({ queue, priority }: { queue: string; priority: number }) => `${priority} ${queue}`
