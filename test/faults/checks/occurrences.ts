/** Compares what became of each plan time with what the oracle says: set against set, schedule by schedule. */
import { isAfter, roleNameOf, SHORT_GRACE_MS } from '../cast.js'
import type { FaultEntry } from '../history.js'
import type { Expectation, Expected } from '../oracle.js'
import { at, type Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow, SkipRow } from './ledger.js'

export interface OccurrenceCounts {
  expected: number
  runs: number
  skipped: number
  longestLateMs: number
}

/** How long after a fault things may still be late: two leases and the longest sleeps of all loops. */
const SHADOW_MS = 25_000

export function checkOccurrences(
  all: readonly Expected[],
  ledger: Ledger,
  { faults, horizon, lateMs }: { faults: readonly FaultEntry[]; horizon: number; lateMs: number },
  report: Report,
): OccurrenceCounts {
  const counts = { expected: 0, runs: 0, skipped: 0, longestLateMs: 0 }
  const runsOf = byName(ledger, ledger.runs)
  const skipsOf = byName(ledger, ledger.skips)
  const isQuiet = (from: number, to: number) => faults.every(({ t0, t1 }) => to < t0 || from > t1 + SHADOW_MS)

  for (const expected of all) {
    const { role, occurrences } = expected
    const runs = (runsOf.get(role.name) ?? []).filter(
      ({ planTime, trigger }) => planTime !== null && planTime <= horizon && trigger !== 'manual',
    )
    const skipsCovering = coveredBy(skipsOf.get(role.name) ?? [])
    counts.runs += runs.length
    const answered = groupBy(runs, ({ planTime }) => planTime!)
    for (const [planTime, found] of answered) checkDoubles(role.name, planTime, found, report)
    for (const run of runs) {
      if (run.createdAt < run.planTime!)
        report('early', run.id, `${role.name} ${at(run.planTime!)} was planned at ${at(run.createdAt)}`)
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
        judge(expected, occurrence, { scope, runs: own, skips: covering, ledger }, report)
        const isToRun =
          occurrence.isCertain && !occurrence.epochs[0]!.isPaused && occurrence.isWished === false
        if (isToRun) counts.expected += 1
        if (own.length === 0 && covering.length > 0) counts.skipped += 1
        const [run] = own
        if (!isToRun || run?.trigger !== 'scheduled') continue
        // What was made as due, or overdue, is late from the answer on.
        const late = run.createdAt - Math.max(occurrence.planTime, occurrence.epochs[0]!.from.t1)
        counts.longestLateMs = Math.max(counts.longestLateMs, late)
        if (late > lateMs && isQuiet(occurrence.planTime, run.createdAt))
          report(
            'late',
            run.id,
            `${role.name} ${at(occurrence.planTime)} was planned ${late} ms late in peace`,
          )
      }
    }
  }
  return counts
}

function byName<Row extends { scheduleId: string | null }>(
  { names }: Ledger,
  rows: readonly Row[],
): Map<string, Row[]> {
  return groupBy(
    rows.filter(({ scheduleId }) => scheduleId !== null),
    ({ scheduleId }) => names.get(scheduleId!) ?? `unknown schedule ${scheduleId}`,
  )
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

function judge(
  expected: Expected,
  occurrence: Expectation,
  { scope, runs, skips, ledger }: { scope: string; runs: RunRow[]; skips: SkipRow[]; ledger: Ledger },
  report: Report,
): void {
  const { role } = expected
  const { planTime, epochs, isCertain, isWished } = occurrence
  const about = `${role.name} ${scope} ${at(planTime)}`
  const scheduled = runs.filter(({ trigger }) => trigger === 'scheduled')
  for (const skip of skips) {
    const illegal = whyIllegal(expected, occurrence, skip)
    if (illegal) report('unexpected', about, `skipped as ${skip.reason}, ${illegal}`)
    if (scheduled.some(({ scheduleId }) => scheduleId === skip.scheduleId))
      report('doubled', about, `ran as ${scheduled[0]!.id} and was skipped as ${skip.reason}`)
  }
  if (!isCertain) return
  const { isPaused } = epochs[0]!
  if (isPaused && scheduled.length > 0)
    report('unexpected', about, `ran as ${scheduled[0]!.id} while it was paused`)
  else if (isWished === true && scheduled.length > 0)
    report('unexpected', about, `ran as ${scheduled[0]!.id}, although an operator had it skipped`)
  if (runs.length + skips.length > 0) return
  const standing = ledger.schedules.find(({ name }) => roleNameOf(name) === role.name)
  // What a pause or a breaker leaves is written down when it ends.
  const isOut =
    standing && ['paused', 'broken'].includes(standing.state) && standing.decidedThrough < planTime
  if (isOut && (isPaused || standing.state === 'broken')) return
  report('lost', about, 'has neither a run nor a skip')
}

/** Why a skip cannot be; null where it can. */
function whyIllegal({ role }: Expected, occurrence: Expectation, skip: SkipRow): string | null {
  const { policies } = role
  switch (skip.reason) {
    case 'paused':
      return occurrence.epochs.some(({ isPaused }) => isPaused) ? null : 'and was not paused'
    case 'operator':
      return occurrence.isWished === false ? 'which nobody asked for' : null
    case 'overlap':
      return (policies.overlap ?? 'allow') === 'allow' ? 'although runs of it may overlap' : null
    case 'broken':
      return policies.breaker ? null : 'although it has no breaker'
    case 'missed':
      if (policies.catchUp === 'all') return 'although all are caught up'
      return skip.decidedAt - occurrence.planTime < SHORT_GRACE_MS
        ? `${skip.decidedAt - occurrence.planTime} ms after its time, which is within the grace`
        : null
    default:
      return 'which cannot be here'
  }
}
