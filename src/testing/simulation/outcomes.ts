import type { AnyJob } from '../../runs/job.js'
import type { Run } from '../../runs/run.js'
import type { FailedAttempt } from '../../store/queries/witnessing.js'
import { attemptKey, type Recorded } from './record.js'
import type { Execution, Witness } from './witness.js'

/** How runs, and attempts that failed, are recorded to have ended must be how they were seen to end, by then. */
export function wrongOutcomes(recorded: Recorded, witness: Witness): string[] {
  const { runs, attempts } = recorded
  const seen = executionsByAttempt(witness.executions)
  const seenOf = ({ id, attempt }: Run) => seen.get(attemptKey(id, attempt)) ?? []
  const watched = [...runs.values()].filter(({ job }) => witness.jobs.has(job))
  const wrongRuns = watched.flatMap((run) => {
    const what = wrongEnd(run, seenOf(run), recorded, witness)
    return what === null ? [] : [`${told(run)}, but ${what}`]
  })
  const wrongAttempts = [...attempts.values()].flatMap((attempt) => {
    const job = witness.jobs.get(runs.get(attempt.run_id)?.job ?? '')
    const what = job
      ? wrongFailure(attempt, seen.get(attemptKey(attempt.run_id, attempt.number)) ?? [], job)
      : null
    if (what === null) return []
    return [
      `unwitnessed: attempt ${attempt.number} of run ${attempt.run_id} of ${job!.name} failed with ${attempt.code} at ${attempt.finished_at.toISOString()}, but ${what}`,
    ]
  })
  return [...wrongRuns, ...wrongAttempts]
}

function told({ id, job, state, attempt, finishedAt }: Run): string {
  return `unwitnessed: run ${id} of ${job} ${state} in attempt ${attempt} at ${finishedAt?.toISOString()}`
}

/** An attempt that was given back may have several. */
function executionsByAttempt(executions: readonly Execution[]): Map<string, Execution[]> {
  const seen = new Map<string, Execution[]>()
  for (const execution of executions) {
    const key = attemptKey(execution.runId, execution.attempt)
    const own = seen.get(key)
    if (own) own.push(execution)
    else seen.set(key, [execution])
  }
  return seen
}

function wrongEnd(
  run: Run,
  seen: readonly Execution[],
  recorded: Recorded,
  { cancels }: Witness,
): string | null {
  const at = run.finishedAt?.getTime()
  if (at === undefined) return null
  switch (run.state) {
    case 'succeeded':
      return seen.some(({ hasReturned, endedAt }) => hasReturned && endedAt! <= at)
        ? null
        : 'that attempt had not ended well by then'
    case 'failed':
      return recorded.attempts.get(attemptKey(run.id, run.attempt))?.code === run.error?.code
        ? null
        : `that attempt is not recorded to have failed with ${run.error?.code}`
    case 'skipped':
      // It may have been given back, and then have met a closed gate.
      return seen.every(({ stoppedAt }) => stoppedAt !== null && stoppedAt <= at)
        ? null
        : 'its handler was called'
    case 'cancelled':
      return (cancels.get(run.id) ?? Number.POSITIVE_INFINITY) <= at || isReplaced(run, recorded)
        ? null
        : 'nobody had asked for it, and no other came in its place'
    default:
      return null
  }
}

/** Two statements of one transaction: there may be a delay between them. */
const LONGEST_TRANSACTION_MS = 10 * 60_000

/** Another of its schedule and scope was made in the transaction that cancelled it. */
function isReplaced(run: Run, { runs, versions }: Recorded): boolean {
  const { scheduleId, scope, finishedAt } = run
  if (scheduleId === null) return false
  if (!versions.get(scheduleId)?.some(({ overlap }) => overlap === 'replace')) return false
  for (const other of runs.values()) {
    if (other.scheduleId !== scheduleId || other.scope !== scope || other.id === run.id) continue
    const ms = other.createdAt.getTime() - finishedAt!.getTime()
    if (ms >= 0 && ms <= LONGEST_TRANSACTION_MS) return true
  }
  return false
}

function wrongFailure(
  { code, started_at, finished_at }: FailedAttempt,
  seen: readonly Execution[],
  { onStale, leaseMs, transactional }: AnyJob,
): string | null {
  const at = finished_at.getTime()
  switch (code) {
    case 'handler_error':
      // A transaction may be refused at its commit, after its handler has returned.
      return seen.some(({ endedAt, hasReturned }) => {
        return endedAt !== null && endedAt <= at && (transactional || !hasReturned)
      })
        ? null
        : 'no handler had failed by then'
    case 'timed_out':
      return seen.some(({ abortedAt }) => abortedAt !== null && abortedAt <= at)
        ? null
        : 'no handler was told so by then'
    case 'lease_lost':
    case 'stale_lease': {
      if ((code === 'stale_lease') !== (onStale === 'fail')) return `its job has onStale ${onStale}`
      const isOver = started_at !== null && started_at.getTime() + leaseMs <= at
      const isGone = seen.every(({ goneAt }) => goneAt !== null && goneAt <= at)
      const isStopped =
        code === 'stale_lease' && seen.some(({ stoppedAt }) => stoppedAt !== null && stoppedAt <= at)
      return isOver || isGone || isStopped
        ? null
        : `its lease was younger than ${leaseMs / 1000} s, and its process was there`
    }
    default:
      return null
  }
}
