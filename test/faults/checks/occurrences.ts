/** Compares what became of each plan time with what the oracle says: set against set, schedule by schedule. */
import { isAfter, roleNameOf } from '../cast.js'
import type { Expectation, Expected } from '../oracle.js'
import type { Outage } from './breakers.js'
import { at, type Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow, SkipRow } from './ledger.js'
import { type Circumstances, isOut, whyIllegal } from './skips.js'
import type { Storms } from './storms.js'

export interface OccurrenceCounts {
  expected: number
  runs: number
  skipped: number
  /** How many of those that ran were to be planned in peace. */
  inPeace: number
  /** Of those in peace, and of all. */
  longestInPeaceMs: number
  longestLateMs: number
}

export interface OccurrenceSettings {
  storms: Storms
  /** By role. */
  outages: ReadonlyMap<string, readonly Outage[]>
  /** Up to when plan times are judged. */
  horizon: number
}

export function checkOccurrences(
  all: readonly Expected[],
  ledger: Ledger,
  { storms, outages, horizon }: OccurrenceSettings,
  report: Report,
): OccurrenceCounts {
  const counts = { expected: 0, runs: 0, skipped: 0, inPeace: 0, longestInPeaceMs: 0, longestLateMs: 0 }
  const runsOf = byName(ledger, ledger.runs)
  const skipsOf = byName(ledger, ledger.skips)
  const standings = groupBy(ledger.schedules, ({ name }) => roleNameOf(name))

  for (const expected of all) {
    const { role, occurrences } = expected
    const everyRun = runsOf.get(role.name) ?? []
    const runs = everyRun.filter(
      ({ planTime, trigger }) => planTime !== null && planTime <= horizon && trigger !== 'manual',
    )
    const lanes = groupBy(everyRun, ({ scheduleId, scope }) => `${scheduleId} ${scope}`)
    const skipsCovering = coveredBy(skipsOf.get(role.name) ?? [])
    const around = {
      outages: outages.get(role.name) ?? [],
      storms,
      lanes,
      standing: standings.get(role.name)?.[0],
    }
    counts.runs += runs.length
    const answered = groupBy(runs, ({ planTime }) => planTime!)
    for (const [planTime, found] of answered) checkDoubles(role.name, planTime, found, report)
    for (const run of runs) {
      if (run.trigger === 'backfill' && !isBackfilled(expected, run.planTime!))
        report('unexpected', run.id, `a backfill of ${role.name} ${at(run.planTime!)} that nobody asked for`)
      if (!isPossible(expected, run.planTime!))
        report(
          'unexpected',
          run.id,
          `${role.name} ran ${at(run.planTime!)}, which was no plan time of it then`,
        )
    }
    for (const occurrence of occurrences.values()) {
      for (const scope of role.scopes) {
        const own = (answered.get(occurrence.planTime) ?? []).filter((run) => run.scope === scope)
        const covering = skipsCovering(scope, occurrence.planTime)
        judge(expected, occurrence, { scope, runs: own, skips: covering, around }, report)
        const isToRun =
          occurrence.isCertain && !occurrence.epochs[0]!.isPaused && occurrence.isWished === false
        if (isToRun) counts.expected += 1
        if (own.length === 0 && covering.length > 0) counts.skipped += 1
        const [run] = own
        if (!isToRun || run?.trigger !== 'scheduled') continue
        // What was made as due, or overdue, is late from the answer on.
        const since = Math.max(occurrence.planTime, occurrence.epochs[0]!.from.t1)
        const late = run.createdAt - since
        counts.longestLateMs = Math.max(counts.longestLateMs, late)
        if (storms.isPeaceful(since)) {
          counts.inPeace += 1
          counts.longestInPeaceMs = Math.max(counts.longestInPeaceMs, late)
        }
        if (run.createdAt > storms.dueBy(since))
          report('late', run.id, `${role.name} ${at(occurrence.planTime)} was planned ${late} ms late`)
      }
    }
  }
  if (counts.inPeace === 0)
    report('late', 'all schedules', 'no plan time was in peace: nobody can say whether they are met in time')
  return counts
}

function byName<Row extends { scheduleId: string | null }>(
  { names }: Ledger,
  rows: readonly Row[],
): Map<string, Row[]> {
  return groupBy(rows, ({ scheduleId }) => names.get(scheduleId ?? '') ?? '')
}

/** Ranges are as long as a schedule was paused or behind: each is put down under all minutes that it touches. */
function coveredBy(skips: readonly SkipRow[]): (scope: string, planTime: number) => SkipRow[] {
  const minutes = new Map<string, SkipRow[]>()
  for (const skip of skips) {
    for (let minute = minuteOf(skip.first); minute <= minuteOf(skip.last); minute++) {
      const place = `${skip.scope} ${minute}`
      const own = minutes.get(place)
      if (own) own.push(skip)
      else minutes.set(place, [skip])
    }
  }
  return (scope, planTime) =>
    (minutes.get(`${scope} ${minuteOf(planTime)}`) ?? []).filter(
      ({ first, last }) => first <= planTime && planTime <= last,
    )
}

const minuteOf = (at: number) => Math.floor(at / 60_000)

/** Of `after` there is no grid, but there are times at which it was not there, or paused. */
function isPossible({ role, epochs, occurrences }: Expected, planTime: number): boolean {
  if (!isAfter(role)) return occurrences.has(planTime)
  return epochs.some(
    ({ isPaused, from, to }) => !isPaused && from.t0 <= planTime && (to === null || planTime <= to.t1),
  )
}

function isBackfilled({ backfills }: Expected, planTime: number): boolean {
  return backfills.some(({ from, to }) => from <= planTime && planTime < to)
}

/** Also where a schedule was deleted and made again: what was decided of the old one is not the new one's. */
function checkDoubles(name: string, planTime: number, runs: readonly RunRow[], report: Report): void {
  for (const [scope, own] of groupBy(runs, (run) => run.scope)) {
    if (own.length > 1)
      report(
        'doubled',
        own.map(({ id }) => id).join(' '),
        `${own.length} runs of ${name} ${scope} ${at(planTime)}`,
      )
  }
}

interface Around extends Omit<Circumstances, 'runs'> {
  /** The runs of each schedule and scope. */
  lanes: ReadonlyMap<string, readonly RunRow[]>
  standing: Ledger['schedules'][number] | undefined
}

function judge(
  expected: Expected,
  occurrence: Expectation,
  { scope, runs, skips, around }: { scope: string; runs: RunRow[]; skips: SkipRow[]; around: Around },
  report: Report,
): void {
  const { role } = expected
  const { planTime, epochs, isCertain, isDue, isWished } = occurrence
  const about = `${role.name} ${scope} ${at(planTime)}`
  const scheduled = runs.filter(({ trigger }) => trigger === 'scheduled')
  for (const skip of skips) {
    const own = around.lanes.get(`${skip.scheduleId} ${scope}`) ?? []
    const illegal = whyIllegal(expected, occurrence, skip, { ...around, runs: own })
    if (illegal) report('unexpected', about, `skipped as ${skip.reason}, ${illegal}`)
    if (scheduled.some(({ scheduleId }) => scheduleId === skip.scheduleId))
      report('doubled', about, `ran as ${scheduled[0]!.id} and was skipped as ${skip.reason}`)
  }
  if (isCertain && scheduled.length > 0) {
    if (epochs[0]!.isPaused) report('unexpected', about, `ran as ${scheduled[0]!.id} while it was paused`)
    else if (isWished === true)
      report('unexpected', about, `ran as ${scheduled[0]!.id}, although an operator had it skipped`)
  }
  if (!isDue || runs.length + skips.length > 0) return
  // What a pause or a breaker leaves is written down when it ends.
  const { standing, outages, storms } = around
  const isWaiting = standing !== undefined && standing.decidedThrough < planTime
  if (isWaiting && standing.state === 'paused' && epochs.some(({ isPaused }) => isPaused)) return
  if (isWaiting && standing.state === 'broken' && isOut(outages, planTime, storms)) return
  report('lost', about, 'has neither a run nor a skip')
}
