/**
 * Which of the runs that are planned together share a lot, and which of these begin at once: where the worker of the same process is at rest and has places, they need
 * not wait in line to be claimed, and their lots are leased as they are made.
 */
import type { PlannedRun } from '../../schedules/plan.js'
import type { Instant } from '../../time/instant.js'
import { type ClaimableJob, type ClaimedRow, inOrder } from './claim-parts.js'
import { LARGEST_LOT } from './lots.js'
import type { DueSchedule } from './planning.js'
import type { PlannedSchedule } from './recording.js'

/** Places of a worker, kept free for what is just being planned. */
export interface PlacesOffered {
  workerId: string
  leaseToken: string
  /** How many may begin. */
  places: number
  /** They share them. */
  queues: readonly string[]
  /** Those that it has; none whose runs have to be counted. */
  job(name: string): ClaimableJob | undefined
}

/** Places for runs that are leased as they are planned. It ends with one of its two calls. */
export interface Offer extends PlacesOffered {
  /** Begins with those that are leased under it; one that is stopping gives them back. */
  begin(rows: readonly ClaimedRow[]): void
  /** Nothing was recorded, or it is not known whether anything was: that would be given back. */
  giveUp(options: { mayBeRecorded: boolean }): void
}

export interface PlannedLots {
  /** Of each run, in the order of the plans, from 1; null for one that waits alone. */
  lots: readonly (number | null)[]
  /** The jobs of the lots that are leased as they are made: those are the first. */
  leased: readonly ClaimableJob[]
}

/**
 * Those of a lot are neighbours in the order of their ids. Whoever looks for work takes a lot that waits for one that may be claimed now:
 * what is held back for a while has a row of its own. Places are given as a claim gives them: the highest priority first, then age.
 */
export function lotsOf(
  planned: readonly (PlannedSchedule & { schedule: { input?: unknown } })[],
  offered: PlacesOffered | null,
): PlannedLots {
  const runs = planned.flatMap(({ schedule, plan }) =>
    plan.runs.map((run) => ({
      run,
      schedule,
      isEligible: run.eligibleAt <= plan.decidedThrough,
      lot: null as number | null,
    })),
  )
  const lines = new Map<string, typeof runs>()
  for (const one of runs) {
    const { job, queue, priority, policies } = one.schedule
    if (policies.overlap !== 'allow' || !one.isEligible) continue
    const line = `${one.run.eligibleAt}\0${priority}\0${queue}\0${job}`
    const others = lines.get(line)
    if (others) others.push(one)
    else lines.set(line, [one])
  }
  for (const line of lines.values()) line.sort((a, b) => (a.run.id < b.run.id ? -1 : 1))
  const inOrder = [...lines.values()].sort(
    ([a], [b]) =>
      b!.schedule.priority - a!.schedule.priority ||
      a!.run.eligibleAt - b!.run.eligibleAt ||
      (a!.run.id < b!.run.id ? -1 : 1),
  )
  const take = placesOf(offered)
  const leased: ClaimableJob[] = []
  const waiting: (typeof runs)[] = []
  for (const line of inOrder) {
    const { job, queue, input } = line[0]!.schedule
    const known = typeof input === 'string' ? offered?.job(job) : undefined
    const taken = known === undefined ? 0 : take(queue, line.length)
    for (const lot of chunks(line.slice(0, taken))) {
      leased.push(known!)
      for (const one of lot) one.lot = leased.length
    }
    if (taken < line.length) waiting.push(line.slice(taken))
  }
  let last = leased.length
  for (const line of waiting) {
    if (line.length === 1) continue
    for (const lot of chunks(line)) {
      last += 1
      for (const one of lot) one.lot = last
    }
  }
  return { lots: runs.map(({ lot }) => lot), leased }
}

/** Gives places away: no queue has more than its share. */
function placesOf(offered: PlacesOffered | null): (queue: string, wanted: number) => number {
  let left = offered?.places ?? 0
  const share = offered === null ? 0 : Math.ceil(left / offered.queues.length)
  const leftOf = new Map(offered?.queues.map((queue) => [queue, share]))
  return (queue, wanted) => {
    const taken = Math.min(wanted, left, leftOf.get(queue) ?? 0)
    if (taken > 0) leftOf.set(queue, leftOf.get(queue)! - taken)
    left -= taken
    return taken
  }
}

/** The runs of each lot, of those that wait in one line. */
export function* chunks<T>(list: readonly T[]): Iterable<T[]> {
  for (let first = 0; first < list.length; first += LARGEST_LOT) yield list.slice(first, first + LARGEST_LOT)
}

/** Those of the new runs that were leased, as a claim would answer, and in that order. */
export function leasedRuns(
  planned: readonly { schedule: DueSchedule; run: PlannedRun; lot: number | null }[],
  { lots, isNew, at }: { lots: number; isNew(id: string): boolean; at: Instant },
): ClaimedRow[] {
  const leased = planned.filter(({ run, lot }) => lot !== null && lot <= lots && isNew(run.id))
  // A lot is known by the first of its runs.
  const ids = new Map<number, string>()
  for (const { run, lot } of leased) {
    const id = ids.get(lot!)
    if (id === undefined || run.id < id) ids.set(lot!, run.id)
  }
  const now = new Date(at)
  const rows = leased.map(
    ({ schedule, run, lot }): ClaimedRow => ({
      lot_id: ids.get(lot!)!,
      id: run.id,
      job: schedule.job,
      input: JSON.parse(schedule.input!),
      queue: schedule.queue,
      priority: schedule.priority,
      trigger: 'scheduled',
      schedule_id: schedule.id,
      schedule_version: schedule.version,
      scope: run.scope,
      plan_time: new Date(run.planTime),
      key: null,
      created_at: now,
      eligible_at: new Date(run.eligibleAt),
      attempt: 1,
      lane: null,
      started_at: now,
      error_code: null,
      error_message: null,
      trace_context: null,
      schedule_name: schedule.name,
      timing: schedule.timing,
      has_breaker: (schedule.policies.breaker ?? null) !== null,
    }),
  )
  return rows.sort(inOrder)
}
