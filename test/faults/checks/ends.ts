/** What became of each run: the ends that its job may come to, and nothing else. */
import type { Role } from '../cast.js'
import { isFated } from '../fates.js'
import type { FaultEntry } from '../history.js'
import type { Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'
import type { Witnesses } from './witnesses.js'

/** A lease is lost to a fault: one that was under way, or had ended so long ago at most. */
const LEASE_SHADOW_MS = 60_000

export function checkEnds(
  cast: readonly Role[],
  { lines }: Witnesses,
  { runs, names }: Ledger,
  { faults, horizon, seed }: { faults: readonly FaultEntry[]; horizon: number; seed: number },
  report: Report,
): void {
  const roles = new Map(cast.map((role) => [role.name, role]))
  const failed = new Set(lines.flatMap((line) => (line.what === 'failed' ? [attemptOf(line)] : [])))
  const siblings = groupBy(runs, ({ scheduleId, scope }) => `${scheduleId} ${scope}`)
  const hasFault = (from: number, to: number) =>
    faults.some(({ t0, t1 }) => t0 <= to && t1 + LEASE_SHADOW_MS >= from)

  function whyIllegal(run: RunRow): string | null {
    const { state, errorCode, finishedAt } = run
    if (finishedAt === null) return run.createdAt > horizon ? null : 'is open, although everything is at rest'
    if (state === 'succeeded') {
      if (errorCode !== null) return `succeeded with the code ${errorCode}`
      return run.job === 'doomed' && isFated(seed, run.id, 'doomed') ? 'succeeded, and was to fail' : null
    }
    if (state === 'cancelled') {
      const role = roles.get(names.get(run.scheduleId ?? '') ?? '')
      if (role?.policies.overlap !== 'replace') return 'was cancelled, and nobody could'
      const own = siblings.get(`${run.scheduleId} ${run.scope}`)!
      return own.some((other) => replaces(other, run)) ? null : 'was cancelled, and nothing took its place'
    }
    if (state !== 'failed') return `ended as ${state}`
    if (errorCode === 'handler_error') {
      if (run.job !== 'doomed') return 'failed, although it may be tried again'
      if (!isFated(seed, run.id, 'doomed')) return 'failed, and was to succeed'
      return failed.has(attemptOf({ run: run.id, attempt: run.attempt }))
        ? null
        : `failed at attempt ${run.attempt}, which nobody saw fail`
    }
    const lost = { doomed: 'lease_lost', 'at-most-once': 'stale_lease' }[run.job]
    if (errorCode !== lost) return `failed with ${errorCode}`
    return hasFault(run.createdAt, finishedAt) ? null : `failed with ${errorCode}, and nothing was broken`
  }

  for (const run of runs) {
    const illegal = whyIllegal(run)
    if (illegal === null) continue
    const kind = run.state === 'succeeded' ? 'outcome' : run.finishedAt === null ? 'stuck' : 'lost'
    report(kind, run.id, `a run of ${names.get(run.scheduleId ?? '') ?? run.job} ${illegal}`)
  }
}

const attemptOf = ({ run, attempt }: { run: string; attempt: number }) => `${run} ${attempt}`

/** The cancelling and the new run are of one transaction. */
const REPLACED_WITHIN_MS = 5_000

function replaces(other: RunRow, run: RunRow): boolean {
  return (
    other.id !== run.id &&
    other.createdAt >= run.finishedAt! &&
    other.createdAt <= run.finishedAt! + REPLACED_WITHIN_MS
  )
}
