import { randomUUID } from 'node:crypto'
import os from 'node:os'
import type { Clock } from '../clock.js'
import { monotonicMs } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { EventBus, RunEvent } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { AnyJob } from '../runs/job.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { recoverExpiredLeases, releaseLeases } from '../store/queries/leases.js'
import {
  type ClaimedRow,
  claimRuns,
  msUntilEligible,
  type Outcome,
  releaseClaims,
} from '../store/queries/runs.js'
import { markWorkerSeen, publishJobs, registerWorker, removeWorker } from '../store/queries/workers.js'
import { isRefusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { createWait } from '../wait.js'
import { execute } from './execute.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { createOutcomeRecorder } from './outcomes.js'

export interface WorkerOptions {
  /**
   * How many handlers run at once in this process.
   * @default 10
   */
  concurrency?: number
  /**
   * The queues to take runs from.
   * @default ['default']
   */
  queues?: readonly string[]
}

export const WORKER_DEFAULTS = { concurrency: 10, queues: ['default'] } satisfies WorkerOptions

const MAX_SLEEP_MS = 5_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
const RECOVERY_BATCH = 100
/** How long `stop` waits for handlers before it gives their runs back. */
const DRAIN_MS = 30_000

export interface Worker {
  readonly id: string
  start(): Promise<void>
  /** Claims nothing more, waits for handlers, and gives back what does not finish in time. */
  stop(): Promise<void>
  wake(): void
  /** Works until nothing is left that may be claimed now. */
  drain(): Promise<void>
}

export function createWorker(parts: {
  store: Store
  clock: Clock
  bus: EventBus
  logger: Logger
  jobs: JobRegistry
  concurrency: number
  queues: readonly string[]
  version: string
}): Worker {
  const { store, bus, logger, jobs, concurrency, queues } = parts
  const id = randomUUID()
  const wait = createWait(parts.clock)
  const leases = createLeaseKeeper(store, logger)
  const outcomes = createOutcomeRecorder(store)
  const running = new Set<Promise<void>>()
  let stopping = false
  let loop: Promise<void> | undefined
  let published = -1
  /** Tokens of claims whose answer was lost: what they took is given back. */
  const unanswered = new Set<string>()

  /** Tells others of this worker and its jobs, again whenever jobs were added. */
  async function publish(): Promise<void> {
    const all = jobs.all()
    if (all.length === published) return
    const names = all.map(({ name }) => name)
    await registerWorker(store, {
      id,
      host: os.hostname(),
      pid: process.pid,
      version: parts.version,
      queues,
      jobs: names,
      concurrency,
    })
    await publishJobs(
      store,
      all.map(({ name, retry, timeoutMs, leaseMs, scopes }) => ({
        name,
        policies: { retry, timeoutMs, leaseMs, provider: scopes !== undefined },
      })),
    )
    published = all.length
  }

  /** Fills the free slots. Returns how many runs it got. */
  async function claim(): Promise<number> {
    const free = concurrency - running.size
    const known = jobs.all()
    if (free === 0 || known.length === 0) return 0
    if (unanswered.size > 0) {
      await releaseClaims(store, [...unanswered])
      unanswered.clear()
    }
    const leaseToken = randomUUID()
    unanswered.add(leaseToken)
    const rows = await claimRuns(store, { workerId: id, leaseToken, queues, jobs: known, limit: free })
    unanswered.delete(leaseToken)
    for (const row of rows) {
      const work = perform(row, jobs.get(row.job)!, leaseToken).finally(() => {
        running.delete(work)
        wait.wake()
      })
      running.add(work)
    }
    return rows.length
  }

  async function perform(row: ClaimedRow, job: AnyJob, leaseToken: string): Promise<void> {
    const abort = new AbortController()
    const startedMs = monotonicMs()
    const lease = { runId: row.id, leaseToken, leaseMs: job.leaseMs }
    leases.hold(lease, abort)
    try {
      bus.emit('run.started', eventOf(row))
      const outcome = await execute({ row, job, leaseToken, workerId: id, abort }, logger)
      if (!(await recordUntilHeard(outcome))) {
        logger.warn(
          { runId: row.id, job: row.job, attempt: row.attempt },
          'an outcome was refused: lease lost',
        )
        return
      }
      bus.emit(`run.${outcome.state}`, {
        ...eventOf(row),
        durationMs: monotonicMs() - startedMs,
        error: outcome.state === 'succeeded' ? null : { code: outcome.code, message: outcome.message },
      })
    } catch (error) {
      logger.error({ runId: row.id, job: row.job, err: error }, 'a run could not be carried through')
    } finally {
      leases.letGo(lease)
    }
  }

  /**
   * The work is done; what is left is to say so. While the database is away the lease keeper goes on too, and if the
   * lease is lost in the end the fence refuses the outcome.
   */
  async function recordUntilHeard(outcome: Outcome): Promise<boolean> {
    let backoffMs = FIRST_BACKOFF_MS
    for (;;) {
      try {
        return await outcomes.record(outcome)
      } catch (error) {
        if (stopping) return false
        if (isRefusal(error) && outcome.state === 'succeeded') {
          // It cannot be stored as it is, now or later: what was done is kept without it.
          return recordUntilHeard({ ...outcome, result: JSON.stringify({ $unserializable: String(error) }) })
        }
        logger.warn({ err: error, runId: outcome.runId }, 'an outcome could not be recorded yet')
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  async function recover(): Promise<void> {
    const known = jobs.all().map(({ name, retry }) => ({ name, attempts: retry.attempts }))
    if (known.length === 0) return
    const held = leases.held().map(({ runId }) => runId)
    for (const run of await recoverExpiredLeases(store, known, { held, limit: RECOVERY_BATCH })) {
      logger.warn(
        { runId: run.id, attempt: run.attempt, state: run.state },
        'a run was taken from a lost worker',
      )
      const error = { code: run.error_code, message: run.error_message }
      bus.emit(`run.${run.state}`, { ...eventOf(run), error })
    }
  }

  async function run(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS
    let lookedAfterMs = Number.NEGATIVE_INFINITY
    while (!stopping) {
      try {
        if (monotonicMs() - lookedAfterMs >= MAX_SLEEP_MS) {
          await publish()
          await markWorkerSeen(store, id)
          // After an outage our own leases may have expired: what is still ours must not look lost.
          await leases.renew()
          await recover()
          lookedAfterMs = monotonicMs()
        }
        const claimed = await claim()
        backoffMs = FIRST_BACKOFF_MS
        // A full worker is woken by the next handler that ends; one with free slots, when there may be more to claim.
        if (running.size === concurrency) await wait.sleep(MAX_SLEEP_MS)
        else if (claimed === 0) await wait.sleep(Math.min(await idleMs(), MAX_SLEEP_MS))
      } catch (error) {
        if (backoffMs === FIRST_BACKOFF_MS) logger.error({ err: error }, 'the worker waits for the database')
        await wait.sleep(backoffMs)
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  async function idleMs(): Promise<number> {
    const names = jobs.all().map(({ name }) => name)
    const ms = (await msUntilEligible(store, { queues, jobs: names })) ?? MAX_SLEEP_MS
    // Eligible and yet not claimed: another worker is just taking it.
    return Math.max(ms, 10)
  }

  async function finishRunning(): Promise<void> {
    const deadline = new AbortController()
    const timeout = parts.clock.sleep(DRAIN_MS, deadline.signal)
    await Promise.race([Promise.allSettled(running), timeout])
    deadline.abort()
    const unfinished = leases.held()
    // Given back before their handlers hear of it: what they say then is refused, and spends no attempt.
    if (unfinished.length > 0) await releaseLeases(store, unfinished)
    leases.abandon(stopped())
  }

  return {
    id,
    wake: wait.wake,
    async start() {
      if (loop) return
      stopping = false
      await publish()
      loop = run()
    },
    async stop() {
      if (!loop) return
      stopping = true
      wait.wake()
      await loop
      loop = undefined
      try {
        await finishRunning()
        await removeWorker(store, id)
        published = -1
      } catch (error) {
        // Without the database nothing can be given back: the leases run out instead.
        logger.warn({ err: error }, 'the worker could not sign off')
      }
      leases.stop()
    },
    async drain() {
      await publish()
      await recover()
      while ((await claim()) > 0) await Promise.all(running)
      leases.stop()
    },
  }
}

function stopped(): EscapementError {
  return new EscapementError('closed', { message: 'The worker is shutting down; the run is given back.' })
}

function eventOf(
  row: Pick<ClaimedRow, 'id' | 'job' | 'schedule_id' | 'schedule_name' | 'scope' | 'plan_time' | 'attempt'>,
): RunEvent {
  return {
    runId: row.id,
    job: row.job,
    scheduleId: row.schedule_id,
    schedule: row.schedule_name,
    scope: row.scope,
    planTime: row.plan_time,
    attempt: row.attempt,
    durationMs: null,
    error: null,
  }
}
