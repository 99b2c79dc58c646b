import type { Escapement } from '../../escapement.js'
import type { Run } from '../../runs/run.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Execution } from './witness.js'

const PAGE = 1_000
/** Of each kind, in an error. */
const MOST_TOLD = 10

const OPEN: ReadonlySet<Run['state']> = new Set(['pending', 'running', 'retrying'])

export interface Checked {
  schedules: number
  occurrences: number
  runs: number
  /** What must not be, in words. */
  problems: string[]
}

/** Compares what the database says with what the witness saw, once everything has come to rest. */
export async function checkAll(
  escapement: Escapement,
  executions: readonly Execution[],
  now: Instant,
): Promise<Checked> {
  const { schedules, occurrences, missing, double, unexpected } = await escapement.audit()
  const findings = Object.entries({ missing, double, unexpected }).flatMap(([kind, found]) =>
    found.map((one) => `audit: ${kind}: ${one.schedule} ${one.scope} ${one.planTime}: ${one.detail}`),
  )
  const runs = await allRuns(escapement)
  return {
    schedules,
    occurrences,
    runs: runs.size,
    problems: [
      findings,
      stuckRuns([...runs.values()], now),
      successesWithoutWitness(runs, executions),
      earlyExecutions(executions, runs),
      repeatedAttempts(executions),
    ].flatMap(firstOf),
  }
}

function firstOf(problems: readonly string[]): string[] {
  const more = problems.length - MOST_TOLD
  return more > 0 ? [...problems.slice(0, MOST_TOLD), `… and ${more} more like this`] : [...problems]
}

async function allRuns({ runs }: Escapement): Promise<Map<string, Run>> {
  const found = new Map<string, Run>()
  let pageToken: string | null = null
  do {
    const page: Awaited<ReturnType<typeof runs.search>> = await runs.search({
      limit: PAGE,
      ...(pageToken !== null && { pageToken }),
    })
    for (const run of page.runs) found.set(run.id, run)
    pageToken = page.nextPageToken
  } while (pageToken !== null)
  return found
}

/** A run that may be claimed and is not, or that is leased to nobody who lives; one behind another waits for that. */
function stuckRuns(runs: readonly Run[], now: Instant): string[] {
  const open = runs.filter(({ state }) => OPEN.has(state))
  const laneOf = (run: Run) => `${run.scheduleId} ${run.scope}`
  const perLane = new Map<string, number>()
  for (const run of open) perLane.set(laneOf(run), (perLane.get(laneOf(run)) ?? 0) + 1)
  return open
    .filter((run) => {
      if (run.state === 'running') return true
      const isAlone = run.scheduleId === null || perLane.get(laneOf(run)) === 1
      return run.eligibleAt.getTime() <= now && isAlone
    })
    .map(({ id, job, state, eligibleAt }) => {
      return `stuck: run ${id} of ${job} is ${state}, eligible since ${eligibleAt.toISOString()}`
    })
}

/** Whose attempt is recorded as the successful one must have ended, and ended well, before that was recorded. */
function successesWithoutWitness(runs: ReadonlyMap<string, Run>, executions: readonly Execution[]): string[] {
  const watched = new Set(executions.map(({ job }) => job))
  const returned = new Map<string, Instant>()
  for (const { runId, attempt, hasReturned, endedAt } of executions) {
    if (hasReturned) returned.set(`${runId} ${attempt}`, endedAt!)
  }
  return [...runs.values()]
    .filter(({ state, job }) => state === 'succeeded' && watched.has(job))
    .filter(({ id, attempt, finishedAt }) => {
      const at = returned.get(`${id} ${attempt}`)
      return at === undefined || at > finishedAt!.getTime()
    })
    .map(({ id, job, attempt, finishedAt }) => {
      return `unwitnessed: run ${id} of ${job} succeeded in attempt ${attempt} at ${finishedAt!.toISOString()}, but that attempt had not ended well by then`
    })
}

function earlyExecutions(executions: readonly Execution[], runs: ReadonlyMap<string, Run>): string[] {
  return executions
    .filter(({ runId, planTime, startedAt }) => {
      const createdAt = runs.get(runId)?.createdAt.getTime() ?? Number.NEGATIVE_INFINITY
      return startedAt < (planTime ?? createdAt) || startedAt < createdAt
    })
    .map(({ runId, job, startedAt }) => `early: run ${runId} of ${job} began at ${formatInstant(startedAt)}`)
}

/** Each attempt has a number of its own, but for one that was given back. */
function repeatedAttempts(executions: readonly Execution[]): string[] {
  const seen = new Map<string, Execution>()
  const repeated: string[] = []
  for (const execution of executions) {
    const key = `${execution.runId} ${execution.attempt}`
    const before = seen.get(key)
    if (before && !before.wasInterrupted) {
      repeated.push(`repeated: attempt ${execution.attempt} of run ${execution.runId} began twice`)
    }
    seen.set(key, execution)
  }
  return repeated
}
