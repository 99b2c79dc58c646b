/** The attempts that the tables call failed are those that were seen to fail: only the newest lease fails a run, or has it tried again. */
import type { FaultEntry } from '../history.js'
import { at, type Report, SLACK_MS } from './finding.js'
import { groupBy } from './grouping.js'
import type { AttemptRow, Ledger, RunRow } from './ledger.js'
import type { Witnessed, Witnesses } from './witnesses.js'

/** Returns how many there were. */
export function checkAttempts(
  { lines }: Witnesses,
  { attempts, runs }: Ledger,
  { faults }: { faults: readonly FaultEntry[] },
  report: Report,
): number {
  const rows = new Map(runs.map((run) => [run.id, run]))
  // Of a handler that writes in a transaction the end is a failure too, where the transaction did not commit.
  const mayFail = ({ what, job }: Witnessed) => what === 'failed' || (what === 'end' && job === 'count')
  const seen = groupBy(lines.filter(mayFail), ({ run, attempt }) => `${run} ${attempt}`)
  const recorded = new Set(attempts.map(({ run, number }) => `${run} ${number}`))
  for (const row of attempts) {
    const illegal = whyIllegal(row, rows.get(row.run), seen.get(`${row.run} ${row.number}`) ?? [], faults)
    if (illegal) report('stale', row.run, `attempt ${row.number} ${illegal}`)
  }
  for (const run of runs) {
    for (let number = 1; number < run.attempt; number++) {
      if (!recorded.has(`${run.id} ${number}`))
        report('stale', run.id, `attempt ${run.attempt} was made, and nothing is known of attempt ${number}`)
    }
  }
  return attempts.length
}

/** How long ago the fault may be that took a lease. */
const LEASE_SHADOW_MS = 60_000
/** By how much the clock of a process, which goes by itself once it has begun, may differ from the database's. */
const CLOCKS_MS = 100
/** The shortest life of a lease that nobody renews: that of a worker whose process is known to have died. */
const SHORTEST_LEASE_MS = 3_000

function whyIllegal(
  { number, worker, startedAt, finishedAt, code }: AttemptRow,
  run: RunRow | undefined,
  seen: readonly Witnessed[],
  faults: readonly FaultEntry[],
): string | null {
  if (!run) return 'is of no run'
  if (number > run.attempt) return `is newer than the run, which says ${run.attempt}`
  if (code === 'handler_error') {
    if (seen.length === 0) return `is recorded as failed at ${at(finishedAt)}, and nobody saw it fail`
    const own = seen.find((line) => line.worker === worker)
    if (!own) return `is recorded as failed by worker ${worker}, and was seen to fail at ${seen[0]!.worker}`
    return finishedAt < own.host - CLOCKS_MS
      ? `is recorded as failed at ${at(finishedAt)}, before it had, at ${at(own.host)}`
      : null
  }
  if (code !== 'lease_lost' && code !== 'stale_lease') return `failed with ${code}`
  if (code === 'lease_lost' && finishedAt - startedAt < SHORTEST_LEASE_MS - SLACK_MS)
    return `is recorded as having lost its lease ${finishedAt - startedAt} ms after it got it`
  const isBroken = faults.some(({ t0, t1 }) => t0 <= finishedAt && t1 + LEASE_SHADOW_MS >= finishedAt)
  return isBroken ? null : `lost its lease at ${at(finishedAt)}, and nothing was broken`
}
