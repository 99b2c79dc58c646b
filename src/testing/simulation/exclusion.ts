/**
 * Who works on what at once. An execution counts for as long as it surely had its run: from where its handler was called to where it
 * ended, was told to stop, or the record has another end of it, whichever came first. What a worker does that has lost its lease and
 * does not know it yet is its own affair.
 */
import type { AnyJob } from '../../runs/job.js'
import type { Run } from '../../runs/run.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { attemptKey, type Recorded } from './record.js'
import type { Execution, Witness } from './witness.js'

interface Held {
  run: Run
  from: Instant
  to: Instant
}

/** More runs at work at once than lanes, or the limits of their jobs, allow. */
export function overlappingRuns(recorded: Recorded, { executions, jobs }: Witness): string[] {
  const held = heldOf(executions, recorded)
  const perLane = groupedBy(held, ({ run }) => laneOf(run, recorded))
  const perJob = groupedBy(held, ({ run }) =>
    (jobs.get(run.job)?.concurrency ?? null) === null ? null : run.job,
  )
  const perKey = groupedBy(held, ({ run }) => keyOf(run, jobs.get(run.job)))
  const beyond = (groups: Map<string, Held[]>, what: string, limitOf: (name: string) => number) =>
    [...groups].flatMap(([name, group]) => {
      const at = firstBeyond(group, limitOf(name))
      return at === null
        ? []
        : [`beyond: more than ${limitOf(name)} at once of ${what} ${name} at ${formatInstant(at)}`]
    })
  return [
    ...beyond(perLane, 'the lane', () => 1),
    ...beyond(perJob, 'the job', (name) => jobs.get(name)!.concurrency!),
    ...beyond(perKey, 'the key', () => 1),
  ]
}

function heldOf(executions: readonly Execution[], { runs, attempts }: Recorded): Held[] {
  const next = new Map<string, Instant>()
  const held: Held[] = []
  for (const execution of executions.toReversed()) {
    const { runId, attempt, startedAt, endedAt, abortedAt, stoppedAt } = execution
    const run = runs.get(runId)
    if (run) {
      const failedAt = attempts.get(attemptKey(runId, attempt))?.finished_at.getTime()
      const finishedAt = run.attempt === attempt ? run.finishedAt?.getTime() : undefined
      const ends = [endedAt, abortedAt, stoppedAt, failedAt, finishedAt, next.get(runId)]
      held.push({ run, from: startedAt, to: Math.min(...ends.map((at) => at ?? Number.POSITIVE_INFINITY)) })
    }
    next.set(runId, startedAt)
  }
  return held
}

/** Null for runs that may overlap, now or ever before. */
function laneOf({ scheduleId, scope }: Run, { versions }: Recorded): string | null {
  const own = scheduleId === null ? undefined : versions.get(scheduleId)
  if (!own?.every(({ timing, overlap }) => timing.kind === 'after' || overlap !== 'allow')) return null
  return `${scheduleId} ${scope}`
}

function keyOf({ job, input }: Run, defined: AnyJob | undefined): string | null {
  if (!defined?.concurrencyKey) return null
  let value = input
  for (const name of defined.concurrencyKey) value = (value as Record<string, unknown> | null)?.[name]
  return value === undefined || value === null ? null : `${job} ${JSON.stringify(value)}`
}

function groupedBy(held: readonly Held[], nameOf: (one: Held) => string | null): Map<string, Held[]> {
  const groups = new Map<string, Held[]>()
  for (const one of held) {
    const name = nameOf(one)
    if (name === null || one.to <= one.from) continue
    const group = groups.get(name)
    if (group) group.push(one)
    else groups.set(name, [one])
  }
  return groups
}

/** When there were first more than so many; null where there never were. */
function firstBeyond(group: readonly Held[], limit: number): Instant | null {
  const steps = group.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ])
  // Whoever ends at an instant has made place for whoever begins at it.
  steps.sort((a, b) => a.at - b.at || a.by - b.by)
  let count = 0
  for (const { at, by } of steps) {
    count += by
    if (count > limit) return at
  }
  return null
}
