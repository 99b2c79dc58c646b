/** All checks that need nothing but what was written down: they can be asked again of a run that was kept. */
import type { Role } from './cast.js'
import { checkAskedRuns } from './checks/asked.js'
import { checkAttempts } from './checks/attempts.js'
import { checkBreakers, outagesOf } from './checks/breakers.js'
import { checkChains } from './checks/chains.js'
import { checkEnds } from './checks/ends.js'
import type { Report } from './checks/finding.js'
import { groupBy } from './checks/grouping.js'
import { checkLanes } from './checks/lanes.js'
import type { Ledger } from './checks/ledger.js'
import { checkLimits } from './checks/limits.js'
import { checkOccurrences, type OccurrenceCounts } from './checks/occurrences.js'
import { checkStarts, type StartCounts } from './checks/starts.js'
import { stormsOf } from './checks/storms.js'
import { checkStrangers } from './checks/strangers.js'
import { checkPooled, checkWitnesses, type WitnessCounts, type Witnesses } from './checks/witnesses.js'
import type { Entry, FaultEntry } from './history.js'
import { expectedOf } from './oracle.js'

/** How late a run may be made, and its handler begin, when nothing is broken: the longest sleep of a loop, and then some. */
const LATE_MS = 8_000
/** How long after a fault plan times may wait: processes start again, and loops end their backoff. */
const PLANNED_AGAIN_MS = 10_000
/** And handlers: leases have ended, and what had to wait is worked off. */
const BEGUN_AGAIN_MS = 15_000
/** How long they may wait in the worst of storms, in which schedulers live for seconds, and workers hardly finish anything. */
const MOST_PLANNED_MS = 30_000
const MOST_BEGUN_MS = 180_000

export interface Records {
  cast: readonly Role[]
  entries: readonly Entry[]
  ledger: Ledger
  witnesses: Witnesses
  seed: number
  /** Up to when plan times are judged. */
  horizon: number
  /** How late things may be, compared to a machine of its own. */
  patience: number
}

export interface RecordCounts {
  /** Processes behind PgBouncer that came to work, and what was begun by them. */
  pooled: { starts: number; executions: number }
  occurrences: OccurrenceCounts
  starts: StartCounts
  witnesses: WitnessCounts
  /** Handlers of schedules whose runs may not overlap. */
  laned: number
  /** Handlers of the job with a limit. */
  limited: number
  chained: number
  breaks: number
  failedAttempts: number
}

export function checkRecords(records: Records, report: Report): RecordCounts {
  const { cast, entries, ledger, witnesses, seed, horizon, patience } = records
  const faults = entries.filter((entry): entry is FaultEntry => entry.type === 'fault')
  const asked = groupBy(
    entries.filter((entry) => entry.type !== 'fault'),
    ({ name }) => name,
  )
  const expected = cast.map((role) => expectedOf(role, asked.get(role.name) ?? [], horizon))
  const lateMs = LATE_MS * patience
  const stormsFor = (recoveryMs: number, mostMs: number) =>
    stormsOf(faults, { lateMs, recoveryMs, mostMs: mostMs * patience })
  const storms = stormsFor(PLANNED_AGAIN_MS, MOST_PLANNED_MS)
  const outages = outagesOf(expected, entries, ledger)
  checkStrangers(cast, ledger, report)
  checkAskedRuns(expected, entries, ledger, report)
  checkEnds(cast, witnesses, ledger, { faults, horizon, seed }, report)
  return {
    pooled: checkPooled(witnesses, report),
    occurrences: checkOccurrences(expected, ledger, { storms, outages, horizon }, report),
    starts: checkStarts(
      cast,
      witnesses,
      ledger,
      { storms: stormsFor(BEGUN_AGAIN_MS, MOST_BEGUN_MS), horizon },
      report,
    ),
    witnesses: checkWitnesses(witnesses, ledger, report),
    laned: checkLanes(cast, witnesses, ledger, report),
    limited: checkLimits(witnesses, ledger, report),
    chained: checkChains(expected, ledger, { storms, horizon }, report),
    breaks: checkBreakers(expected, entries, ledger, faults, report),
    failedAttempts: checkAttempts(witnesses, ledger, { faults }, report),
  }
}
