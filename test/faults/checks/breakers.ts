/**
 * A breaker breaks when so many scheduled runs in a row have failed, and not before; from then on nothing is planned, until
 * somebody resumes or edits the schedule. What each run's end did to the count follows from the order of the ends.
 */
import { BREAKER_FAILURES } from '../cast.js'
import type { Entry, FaultEntry, VerbEntry, Window } from '../history.js'
import type { Expected } from '../oracle.js'
import { at, type Report, SLACK_MS } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'

/**
 * By how much the order in which ends were counted may differ from the order of their times: those of one batch are
 * counted by their plan times, and where a stranger's lock or a frozen process stands in the way a transaction takes long.
 */
const ORDER_MS = 500
const ORDER_IN_STORM_MS = 5_000

/** A stretch in which a schedule was out, as far as anybody can tell: from a break to the window of what ended it. */
export interface Outage {
  brokeAt: number
  /** Null for one that lasts. */
  ended: Window | null
}

const ENDING = new Set(['put', 'patch', 'resume'])
const COUNTING_ANEW = new Set([...ENDING, 'pause'])

type Verb = Window & Pick<VerbEntry, 'verb' | 'answer'>

/** The verbs of one schedule that may have changed it; one whose answer was lost is over when somebody has looked. */
function verbsOf(entries: readonly Entry[], name: string): Verb[] {
  const own = entries.filter((entry) => entry.type !== 'fault' && entry.name === name)
  return own.flatMap((entry, index) => {
    if (entry.type !== 'verb' || entry.answer === 'refused' || !COUNTING_ANEW.has(entry.verb)) return []
    const { verb, answer, t0 } = entry
    const seen = own[index + 1]
    const t1 = answer === 'unknown' && seen?.type === 'observed' ? seen.t1 : entry.t1
    return [{ verb, answer, t0, t1 }]
  })
}

/** By role. */
export function outagesOf(
  all: readonly Expected[],
  entries: readonly Entry[],
  { breaks, names }: Ledger,
): Map<string, Outage[]> {
  const found = new Map<string, Outage[]>()
  for (const { role } of all.filter(({ role }) => role.policies.breaker)) {
    const ending = verbsOf(entries, role.name).filter(
      ({ verb, answer }) => ENDING.has(verb) && answer === 'ok',
    )
    const own = breaks.filter(({ scheduleId }) => names.get(scheduleId) === role.name)
    found.set(
      role.name,
      own.map(({ changedAt }) => ({
        brokeAt: changedAt,
        ended: ending.find(({ t1 }) => t1 > changedAt) ?? null,
      })),
    )
  }
  return found
}

/** Returns how many breaks there were. */
export function checkBreakers(
  all: readonly Expected[],
  entries: readonly Entry[],
  ledger: Ledger,
  faults: readonly FaultEntry[],
  report: Report,
): number {
  const { runs, names, breaks } = ledger
  const orderMs = (instant: number) =>
    faults.some(({ t0, t1 }) => t0 - ORDER_IN_STORM_MS <= instant && instant <= t1 + ORDER_IN_STORM_MS)
      ? ORDER_IN_STORM_MS
      : ORDER_MS
  const scheduled = groupBy(
    runs.filter(({ trigger }) => trigger === 'scheduled'),
    ({ scheduleId }) => names.get(scheduleId ?? '') ?? '',
  )
  const outages = outagesOf(all, entries, ledger)
  for (const expected of all) {
    const { name } = expected.role
    const broken = outages.get(name)
    if (!broken) continue
    const verbs = verbsOf(entries, name)
    const own = scheduled.get(name) ?? []
    const ended = own
      .filter(({ finishedAt }) => finishedAt !== null)
      .sort((a, b) => a.finishedAt! - b.finishedAt! || a.planTime! - b.planTime!)
    for (const { brokeAt } of broken) {
      const failures = failuresBefore(brokeAt, { ended, verbs, broken, withinMs: orderMs(brokeAt) })
      if (failures < BREAKER_FAILURES)
        report('breaker', name, `broke at ${at(brokeAt)}, and ${failures} in a row had failed`)
    }
    for (const third of streaks(expected, { ended, verbs, broken, orderMs })) {
      if (!broken.some(({ brokeAt }) => Math.abs(brokeAt - third) <= orderMs(third)))
        report(
          'breaker',
          name,
          `did not break, although at ${at(third)} ${BREAKER_FAILURES} in a row had failed`,
        )
    }
    for (const { brokeAt } of broken) {
      const until = verbs.find(({ verb, t1 }) => ENDING.has(verb) && t1 > brokeAt)?.t0 ?? Infinity
      for (const { id, createdAt } of own) {
        if (createdAt > brokeAt + SLACK_MS && createdAt < until)
          report('breaker', id, `a run of ${name} was planned at ${at(createdAt)}, which had broken`)
      }
    }
  }
  for (const { scheduleId, changedAt } of breaks) {
    const name = names.get(scheduleId) ?? ''
    if (!outages.has(name)) report('breaker', scheduleId, `${name} broke at ${at(changedAt)}, and cannot`)
  }
  return breaks.length
}

interface Ends {
  ended: readonly RunRow[]
  verbs: readonly Verb[]
  broken: readonly Outage[]
}

/** How many failures there can have been in a row, at most, when it broke. */
function failuresBefore(
  brokeAt: number,
  { ended, verbs, broken, withinMs }: Ends & { withinMs: number },
): number {
  /** An edit and a pause count anew; so does a resume, of one that is out. */
  const countsAnew = (verb: Verb) =>
    verb.answer === 'ok' &&
    (verb.verb !== 'resume' ||
      broken.some((outage) => outage.brokeAt < verb.t0 && isFirstAfter(outage, verb)))
  const isFirstAfter = (outage: Outage, verb: Verb) => verbs.find(({ t1 }) => t1 > outage.brokeAt) === verb
  const anew = verbs.findLast((verb) => verb.t1 < brokeAt && countsAnew(verb))?.t0 ?? 0
  const before = ended.filter(({ finishedAt }) => finishedAt! >= anew && finishedAt! <= brokeAt + SLACK_MS)
  const success = before.findLast(
    ({ state, finishedAt }) => state === 'succeeded' && finishedAt! <= brokeAt - withinMs,
  )
  const from = success ? success.finishedAt! - withinMs : anew
  return before.filter(({ state, finishedAt }) => state === 'failed' && finishedAt! >= from).length
}

/** When the last failure ended of each streak that must have broken the schedule, in whatever order its ends were counted. */
function streaks(
  { epochs }: Expected,
  { ended, verbs, broken, orderMs }: Ends & { orderMs(instant: number): number },
): number[] {
  return ended.flatMap((run, index) => {
    const streak = ended.slice(index, index + BREAKER_FAILURES)
    const [first, last] = [run.finishedAt!, streak.at(-1)!.finishedAt!]
    const from = first - orderMs(first)
    const to = last + orderMs(last)
    const isWhole = streak.length === BREAKER_FAILURES && streak.every(({ state }) => state === 'failed')
    if (!isWhole) return []
    const isMixed = ended.some(
      ({ state, finishedAt }) => state === 'succeeded' && finishedAt! >= from && finishedAt! <= to,
    )
    const isChanged = verbs.some(({ t0, t1 }) => t0 <= to && t1 >= from)
    const isActive = epochs.some(
      (epoch) => !epoch.isPaused && epoch.from.t1 < from && (epoch.to === null || epoch.to.t0 > to),
    )
    const isOut = broken.some(
      ({ brokeAt, ended: end }) => brokeAt < last - orderMs(last) && (end === null || end.t1 > from),
    )
    return isMixed || isChanged || !isActive || isOut ? [] : [last]
  })
}
