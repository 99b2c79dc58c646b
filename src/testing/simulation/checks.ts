import type { Run } from '../../runs/run.js'
import type { ScheduleVersion } from '../../store/queries/witnessing.js'
import { durationToMs } from '../../time/duration.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { overlappingRuns } from './exclusion.js'
import type { Observer } from './observer.js'
import { wrongOutcomes } from './outcomes.js'
import { type Recorded, versionOf } from './record.js'
import { repeatedExecutions } from './repetition.js'
import type { Execution, Witness } from './witness.js'

/** Of each kind, in an error. */
const MOST_TOLD = 10

export interface Checked {
  schedules: number
  occurrences: number
  runs: number
  /** What must not be, in words. */
  problems: string[]
}

/** Compares what the database says with what the witness saw, once everything has come to rest. */
export async function checkAll(observer: Observer, witness: Witness, now: Instant): Promise<Checked> {
  const { escapement } = observer
  const { schedules, occurrences, missing, double, unexpected } = await escapement.audit()
  const findings = Object.entries({ missing, double, unexpected }).flatMap(([kind, found]) =>
    found.map((one) => `audit: ${kind}: ${one.schedule} ${one.scope} ${one.planTime}: ${one.detail}`),
  )
  const recorded = await observer.readRecorded()
  const { runs } = recorded
  const problems = [
    findings,
    stuckRuns(recorded, now),
    tooNear(recorded),
    wrongOutcomes(recorded, witness),
    earlyExecutions(witness.executions, runs),
    repeatedExecutions(recorded, witness),
    overlappingRuns(recorded, witness),
    // Last, as it mends what it finds.
    (await escapement.reconcile()).map((name) => `dead: the cursor of ${name} had to be set right`),
  ].flatMap(firstOf)
  return { schedules, occurrences, runs: runs.size, problems }
}

function firstOf(problems: readonly string[]): string[] {
  const more = problems.length - MOST_TOLD
  return more > 0 ? [...problems.slice(0, MOST_TOLD), `… and ${more} more like this`] : [...problems]
}

/** A run that may be claimed and is not, that is leased to nobody who lives, or that waits in its lane behind nobody. */
function stuckRuns({ runs, lanes }: Recorded, now: Instant): string[] {
  const laneOf = (run: Run) => `${run.scheduleId} ${run.scope}`
  const open = [...lanes].flatMap(([id, lane]) => {
    const run = runs.get(id)
    return run ? [{ run, lane: lane ?? 0 }] : []
  })
  const headed = new Set(open.flatMap(({ run, lane }) => (lane === 0 ? [laneOf(run)] : [])))
  return open
    .filter(({ run, lane }) => {
      if (run.state === 'running') return true
      return lane === 0 ? run.eligibleAt.getTime() <= now : !headed.has(laneOf(run))
    })
    .map(({ run: { id, job, state, eligibleAt }, lane }) => {
      return `stuck: run ${id} of ${job} is ${state} in lane ${lane}, eligible since ${eligibleAt.toISOString()}`
    })
}

/** An `after` timing keeps its distance from whatever run of its schedule has ended before. */
function tooNear({ runs, versions }: Recorded): string[] {
  const perSchedule = new Map<string, Run[]>()
  for (const run of runs.values()) {
    if (run.scheduleId === null || !versions.get(run.scheduleId)?.some(isAfter)) continue
    const own = perSchedule.get(run.scheduleId)
    if (own) own.push(run)
    else perSchedule.set(run.scheduleId, [run])
  }
  return [...perSchedule.values()].flatMap((own) => {
    const ends = own.flatMap(({ finishedAt }) => finishedAt?.getTime() ?? []).sort((a, b) => a - b)
    const planned = own.filter(({ trigger, planTime }) => trigger === 'scheduled' && planTime !== null)
    planned.sort((a, b) => a.planTime!.getTime() - b.planTime!.getTime())
    let passed = 0
    return planned.flatMap((run) => {
      const at = run.planTime!.getTime()
      while (passed < ends.length && ends[passed]! < at) passed += 1
      const before = ends[passed - 1]
      const timing = versionOf(run, versions)?.timing
      if (before === undefined || timing?.kind !== 'after') return []
      if (at >= before + durationToMs(timing.interval)) return []
      return [
        `near: run ${run.id} of ${run.job} is planned for ${formatInstant(at)}, less than ${timing.interval} after one that ended at ${formatInstant(before)}`,
      ]
    })
  })
}

function isAfter({ timing }: ScheduleVersion): boolean {
  return timing.kind === 'after'
}

function earlyExecutions(executions: readonly Execution[], runs: ReadonlyMap<string, Run>): string[] {
  return executions
    .filter(({ runId, planTime, startedAt }) => {
      const createdAt = runs.get(runId)?.createdAt.getTime() ?? Number.NEGATIVE_INFINITY
      return startedAt < (planTime ?? createdAt) || startedAt < createdAt
    })
    .map(({ runId, job, startedAt }) => `early: run ${runId} of ${job} began at ${formatInstant(startedAt)}`)
}
