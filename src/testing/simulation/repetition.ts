import { formatInstant } from '../../time/instant.js'
import { attemptKey, type Recorded } from './record.js'
import type { Execution, Witness } from './witness.js'

/**
 * Each attempt has a number of its own, but for one that a process gave back as it stopped, before its outcome was recorded. And what
 * must not be tried twice is not, unless somebody asks for it.
 */
export function repeatedExecutions(recorded: Recorded, { executions, jobs, retries }: Witness): string[] {
  const last = new Map<string, Execution>()
  const lastOfAttempt = new Map<string, Execution>()
  const repeated: string[] = []
  for (const execution of executions) {
    const { runId, attempt, job, startedAt } = execution
    const key = attemptKey(runId, attempt)
    const same = lastOfAttempt.get(key)
    if (same && !mayBeGivenBack(same, execution, recorded)) {
      repeated.push(
        `repeated: attempt ${attempt} of run ${runId} began twice, the second time at ${formatInstant(startedAt)}`,
      )
    }
    const before = last.get(runId)
    if (before && jobs.get(job)?.onStale === 'fail') {
      const isAskedFor = retries.some(({ from, to }) => from <= startedAt && to >= before.startedAt)
      if (!isAskedFor) {
        repeated.push(
          `repeated: run ${runId} of ${job}, which is to be tried once, began again at ${formatInstant(startedAt)}`,
        )
      }
    }
    lastOfAttempt.set(key, execution)
    last.set(runId, execution)
  }
  return repeated
}

function mayBeGivenBack(before: Execution, next: Execution, { attempts, runs }: Recorded): boolean {
  if (before.stoppedAt === null || before.stoppedAt > next.startedAt) return false
  const failed = attempts.get(attemptKey(before.runId, before.attempt))
  const run = runs.get(before.runId)
  const ended = failed ?? (run?.attempt === before.attempt ? { finished_at: run.finishedAt } : undefined)
  // At that very instant it may be the end of the next one, which took no time.
  return !(ended?.finished_at && ended.finished_at.getTime() < next.startedAt)
}
