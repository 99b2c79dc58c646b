import type { Chance } from '../chance.js'
import type { Clock } from '../clock.js'
import { monotonicMs } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { EventBus } from '../events/bus.js'
import type { ClaimedRun } from '../events/local-events.js'
import { runEnded, runEventOf } from '../events/run-events.js'
import type { Logger } from '../logger.js'
import { createPulse, type PulseState } from '../pulse.js'
import type { AnyJob } from '../runs/job.js'
import type { JobRegistry } from '../runs/job-registry.js'
import type { NoticeRule } from '../runs/notification.js'
import { randomUuid } from '../runs/uuid.js'
import { type ClaimedRow, isLimited } from '../store/queries/claiming.js'
import type { Followed } from '../store/queries/ends.js'
import type { RecoveredRun } from '../store/queries/leases.js'
import type { Outcome } from '../store/queries/outcomes.js'
import type { Offer } from '../store/queries/planned-lots.js'
import type { Store } from '../store/store.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import { createWait, longestSleepMs } from '../wait.js'
import { startAttemptSpan } from './attempt-span.js'
import { createClaims } from './claims.js'
import type { Execution } from './execute.js'
import { giveBack } from './giving-back.js'
import { createHanded } from './handed.js'
import { Interrupt } from './interrupt.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { createOutcomeRecorder } from './outcomes.js'
import { createPerformer } from './perform.js'
import { createRegistration, lockOf } from './registration.js'
import { runFacts } from './run-facts.js'
import { createProgressWriter, Telling } from './telling.js'
import { createWatch } from './watch.js'

/** How the worker of this process works. */
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
  /**
   * How long `stop` waits for handlers before it gives their runs back. Less than whoever stops the process waits before
   * it kills it, by the seconds that giving back may take: Kubernetes waits 30 seconds.
   * @default '25s'
   */
  drain?: DurationInput
}

export const WORKER_DEFAULTS = { concurrency: 10, queues: ['default'], drain: '25s' } satisfies WorkerOptions

/** Eligible and yet not claimed: another worker is just taking it, or a limit holds it back. */
const FIRST_HELD_BACK_MS = 5
const MAX_HELD_BACK_MS = 1_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
/** Where there is one session, such as in the embedded database, a transactional handler holds up everything else. */
const SOLE_TRANSACTION_MS = 30_000

export interface Worker {
  readonly id: string
  start(): Promise<void>
  /** Claims nothing more, waits for handlers, and gives back what does not finish in time. */
  stop(): Promise<void>
  wake(): void
  /** The jobs of whose runs it may begin some as they are planned. */
  beginning(): readonly string[]
  /** Whether it would make an offer just now. */
  isAtRest(): boolean
  /** Keeps places free for at most so many runs that this process is planning; null where it has none, or others stand in line. */
  offer(wanted: number): Offer | null
  /** This process has just planned some that may be claimed together. */
  expectLots(): void
  /** Looks at once whether its runs are still its own: one of them may have been cancelled. */
  check(): void
  /** Works until nothing is left that may be claimed now. */
  drain(): Promise<void>
  /** How its loop turns; null where it was not started. */
  pulse(): PulseState | null
  /** How many runs it has in hand. */
  running(): number
}

export function createWorker(parts: {
  store: Store
  /** Over connections that handlers may hold for as long as they take. */
  transactions: Store
  clock: Clock
  chance: Chance
  bus: EventBus
  logger: Logger
  jobs: JobRegistry
  concurrency: number
  queues: readonly string[]
  drain: DurationInput
  version: string
  /** Who is told of what fails. */
  rules: readonly NoticeRule[]
  onFollowed(followed: Followed): void
}): Worker {
  const { store, clock, chance, bus, logger, jobs, concurrency, queues, rules, onFollowed } = parts
  const { elapsedMs } = clock
  const id = randomUuid(chance)
  const wait = createWait(clock)
  const pulse = createPulse()
  const maxSleepMs = longestSleepMs(store.database)
  // Where a session of its own listens, runs can be handed to it.
  const restLock =
    store.database.kind === 'postgres' && store.database.canListen ? lockOf('resting worker', id) : null
  const registration = createRegistration(store, jobs, {
    id,
    version: parts.version,
    queues,
    concurrency,
    begins: mayBeHandedOver,
    restLock,
  })
  const claims = createClaims(store, jobs, { workerId: id, queues, chance, onFurther: wake })
  const leases = createLeaseKeeper(store, clock, logger, (runId) => bus.emit('worker.leaseLost', { runId }))
  const outcomes = createOutcomeRecorder(store, rules, { onFollowed, onLanesFilled: wake })
  const progress = createProgressWriter(store, clock, bus, logger)
  const watch = createWatch({
    store,
    clock,
    workerId: id,
    registration,
    leases,
    bus,
    logger,
    rules,
    onRecovered,
    onUnheard: async (before) => await handed?.giveBackUnheard(before, heldIds()),
    onFollowed,
  })
  const performer = createPerformer({
    outcomes,
    transactions: parts.transactions,
    clock,
    logger,
    rules,
    onHandled,
    onFollowed,
  })
  /** What is claimed and whose outcome is not written down yet. */
  const inHand = new Set<Execution>()
  /** Those who wait until that is nothing. */
  let emptied: (() => void)[] = []
  /** Handlers that are at work. */
  let busy = 0
  /** Places that are kept for runs which are just being planned. */
  let offered = 0
  const offers = new Set<Promise<void>>()
  /** Places that a claim which is under way may fill. */
  let claiming = 0
  /** Whether nothing waited in line when it was last looked, and nobody has told of anything since. */
  let isAtRest = false
  let wakes = 0
  let stopping = false
  let loop: Promise<void> | undefined

  /** Outcomes may lag behind their handlers by as many again, so that claiming and recording go on side by side. */
  const room = () => Math.min(concurrency - busy, 2 * concurrency - inHand.size) - offered

  const handed =
    restLock === null
      ? null
      : createHanded({
          store,
          logger,
          workerId: id,
          restLock,
          databaseNow: watch.databaseNow,
          isFree: () => loop !== undefined && !stopping && isAtRest && room() - claiming > 0,
          room,
          begin: beginHanded,
          release: claims.release,
          wake: wait.wake,
        })

  function wake(): void {
    isAtRest = false
    wakes += 1
    wait.wake()
  }

  /** Takes at most `limit` runs and begins with them. Returns how many it got. */
  async function claim(limit: number, options?: { isWhole: boolean }): Promise<number> {
    if (limit <= 0 || jobs.all().length === 0) return 0
    const startedMs = monotonicMs()
    claiming += limit
    const { rows, leaseToken } = await claims.take(limit, options).finally(() => {
      claiming -= limit
    })
    tellClaimed(rows, monotonicMs() - startedMs)
    if (loop && stopping) {
      // It was under way when we were told to stop: others need not wait for us to work it off.
      claims.lose(leaseToken)
      return 0
    }
    beginAll(rows, leaseToken)
    return rows.length
  }

  function beginAll(rows: readonly ClaimedRow[], leaseToken: string): void {
    for (const row of rows) begin(row, jobs.get(row.job)!, leaseToken)
  }

  /** What it may offer; none while somebody may stand in line. */
  const freePlaces = () => (loop && !stopping && isAtRest ? Math.max(0, room() - claiming) : 0)

  /**
   * Only to somebody who need not stand in line, as there is none: what waits, and what another process asks for, comes before what is planned here. So a worker that was
   * full, or was told of anything, looks at the line first. What a claim may bring just now has its places too.
   */
  function offer(wanted: number): Offer | null {
    const places = Math.min(wanted, freePlaces())
    if (places <= 0) return null
    // The others will stand in line.
    if (places < wanted) isAtRest = false
    const leaseToken = randomUuid(chance)
    const startedMs = monotonicMs()
    const ending = deferred()
    offers.add(ending.promise)
    offered += places
    const end = () => {
      // Somebody may have come meanwhile who found no place.
      if (room() <= 0) wait.wake()
      offered -= places
      offers.delete(ending.promise)
      ending.resolve()
    }
    const lose = () => {
      claims.lose(leaseToken)
      wake()
    }
    return {
      workerId: id,
      leaseToken,
      places,
      queues,
      job: freeJob,
      begin(rows) {
        const isHere = loop !== undefined && !stopping
        if (rows.length > 0 && !isHere) lose()
        end()
        if (rows.length === 0 || !isHere) return
        tellClaimed(rows, monotonicMs() - startedMs)
        beginAll(rows, leaseToken)
      },
      giveUp({ mayBeRecorded }) {
        if (mayBeRecorded) lose()
        end()
      },
    }
  }

  /** Returns whether its job still is one that is begun like this. */
  function beginHanded(row: ClaimedRow): boolean {
    const job = freeJob(row.job)
    if (!job) return false
    tellClaimed([row], null)
    begin(row, job, row.id)
    return true
  }

  /** Others may hand runs to it, as long as it has nothing to do. */
  function restIfIdle(): void {
    if (isAtRest && inHand.size === 0 && !stopping) handed?.enter()
  }

  function freeJob(name: string): AnyJob | undefined {
    const job = jobs.get(name)
    return job === undefined || isLimited(job) ? undefined : job
  }

  function tellClaimed(rows: readonly ClaimedRow[], durationMs: number | null): void {
    if (bus.has('worker.claimed')) bus.emit('worker.claimed', { durationMs, runs: rows.map(claimedRun) })
  }

  function begin(row: ClaimedRow, job: AnyJob, leaseToken: string): void {
    // Before the handler: it may keep the process busy.
    handed?.leave()
    const lease = { runId: row.id, lotId: row.lot_id, leaseToken, leaseMs: job.leaseMs }
    const interrupt = new Interrupt()
    const telling = new Telling(lease, row.schedule_id, progress, leases.renewOne)
    const span = startAttemptSpan(row, id)
    const jitter = chance.fraction()
    const execution = {
      row,
      job: limitedHere(job),
      leaseToken,
      workerId: id,
      lease,
      interrupt,
      telling,
      span,
      jitter,
      isBusy: true,
    }
    leases.hold(lease, interrupt)
    busy += 1
    inHand.add(execution)
    void carryThrough(execution)
  }

  function whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      if (inHand.size === 0) resolve()
      else emptied.push(resolve)
    })
  }

  /** Its handler has ended: another run may begin. */
  function onHandled(execution: Execution): void {
    if (!execution.isBusy) return
    // Before the place is free: with some left, nobody waits for it.
    if (room() <= 0) wake()
    execution.isBusy = false
    busy -= 1
  }

  function putDown(execution: Execution, outcome: Outcome | null): void {
    onHandled(execution)
    leases.letGo(execution.lease)
    if (room() <= 0 || mayMakeWork(execution, outcome)) wake()
    inHand.delete(execution)
    if (inHand.size > 0) return
    restIfIdle()
    for (const resolve of emptied) resolve()
    emptied = []
  }

  function limitedHere(job: AnyJob): AnyJob {
    const hasOneSession = store.database.refuseInsideTransaction !== undefined
    return job.transactional && hasOneSession && !job.hasOwnTimeout
      ? { ...job, timeoutMs: SOLE_TRANSACTION_MS }
      : job
  }

  async function carryThrough(execution: Execution): Promise<void> {
    const { row, span } = execution
    const startedMs = monotonicMs()
    let outcome: Outcome | null = null
    try {
      if (bus.has('run.started')) bus.emit('run.started', runEventOf(row))
      outcome = await performer.perform(execution)
      span.end(outcome)
      if (outcome === null) {
        logger.warn(runFacts(row), 'an outcome was refused: the run is no longer this attempt’s')
      } else tellEnded(row, outcome, monotonicMs() - startedMs)
    } catch (error) {
      span.fail(error)
      logger.error({ ...runFacts(row), err: error }, 'a run could not be carried through')
    } finally {
      putDown(execution, outcome)
    }
  }

  function tellEnded(row: ClaimedRow, outcome: Outcome, durationMs: number): void {
    const { state } = outcome
    if (bus.has(`run.${state}`)) bus.emit(`run.${state}`, runEnded(row, outcome, durationMs))
    if (bus.has('run.ended')) bus.emit('run.ended', { job: row.job, state, durationMs })
  }

  function onRecovered(runs: readonly RecoveredRun[]): void {
    // They may be claimed now, and nobody else may be there to be told.
    claims.stand(runs.filter(({ state }) => state === 'retrying'))
    if (runs.length > 0) wake()
    for (const run of runs) {
      logger.warn({ ...runFacts(run), state: run.state }, 'a run was taken from a lost worker')
      const error = { code: run.error_code, message: run.error_message }
      bus.emit(`run.${run.state}`, { ...runEventOf(run), error })
      if (bus.has('run.ended')) bus.emit('run.ended', { job: run.job, state: run.state, durationMs: null })
    }
  }

  const heldIds = () => leases.held().map(({ runId }) => runId)

  async function run(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS
    let lookAtMs = Number.NEGATIVE_INFINITY
    let claimAtMs = Number.NEGATIVE_INFINITY
    let mayHaveMore = true
    let heldBackMs = FIRST_HELD_BACK_MS
    pulse.begin()
    while (!stopping) {
      pulse.beat()
      try {
        if (elapsedMs() >= lookAtMs) {
          await registration.publish()
          // After an outage our own leases may have expired: what is still ours must not look lost.
          if (lookAtMs === Number.NEGATIVE_INFINITY) await leases.renew()
          lookAtMs = elapsedMs() + (await watch.look(busy, heldIds(), handed?.mayMiss() ?? false))
          pulse.beat()
        }
        if (claims.msUntilGiveBack() <= 0 && (await claims.giveBack())) wake()
        // A full worker is woken by the next handler that ends; one with free slots, when there may be more to claim.
        if (!stopping && room() > 0 && elapsedMs() >= claimAtMs) {
          const wakesBefore = wakes
          const next = mayHaveMore ? { ms: 0, isPaused: false } : await claims.msUntilMore()
          const ms: number = next.ms ?? maxSleepMs
          isAtRest = ms > 0 && !next.isPaused && wakes === wakesBefore
          const limit = room()
          const got = ms === 0 ? await claim(limit) : 0
          mayHaveMore = got > 0 && got === limit
          heldBackMs = got > 0 || ms > 0 ? FIRST_HELD_BACK_MS : Math.min(heldBackMs * 2, MAX_HELD_BACK_MS)
          claimAtMs = elapsedMs() + (got > 0 ? 0 : Math.min(ms || heldBackMs, maxSleepMs))
          restIfIdle()
        }
        await handed?.settle(!mayHaveMore && !stopping)
        backoffMs = FIRST_BACKOFF_MS
        const claimOrLookMs =
          Math.min(room() > 0 ? claimAtMs : Number.POSITIVE_INFINITY, lookAtMs) - elapsedMs()
        const sleepMs = Math.min(claimOrLookMs, claims.msUntilGiveBack())
        pulse.passed(Math.max(0, sleepMs))
        if (sleepMs > 0 && (await wait.sleep(sleepMs))) {
          mayHaveMore = true
          claimAtMs = Number.NEGATIVE_INFINITY
        }
        // What ends at once ends together: one claim for all of the slots that it frees.
        await new Promise((resolve) => setImmediate(resolve))
      } catch (error) {
        if (backoffMs === FIRST_BACKOFF_MS) logger.error({ err: error }, 'the worker waits for the database')
        isAtRest = false
        handed?.leave()
        lookAtMs = Number.NEGATIVE_INFINITY
        pulse.waitsOut(backoffMs)
        await wait.sleep(backoffMs)
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      }
    }
  }

  async function finishRunning(): Promise<void> {
    const deadline = new AbortController()
    const timeout = clock.sleep(durationToMs(parts.drain, 'worker.drain'), deadline.signal)
    await Promise.race([whenEmpty(), timeout])
    deadline.abort()
    try {
      onFollowed(await giveBack(store, leases, [...inHand], rules))
    } finally {
      leases.abandon(stopped())
    }
  }

  return {
    id,
    wake,
    isAtRest: () => freePlaces() > 0,
    offer,
    beginning: () => (loop && !stopping ? jobs.all().flatMap(({ name }) => freeJob(name)?.name ?? []) : []),
    expectLots: claims.expectLots,
    pulse: pulse.state,
    running: () => inHand.size,
    check: () => void leases.renew(),
    async start() {
      if (loop) return
      stopping = false
      isAtRest = false
      await handed?.listen()
      await registration.holdLock(() => void leases.renew())
      await registration.publish()
      loop = run()
    },
    async stop() {
      if (!loop) return
      stopping = true
      pulse.end()
      wait.wake()
      handed?.refuse()
      await loop
      loop = undefined
      // A tick that is under way may yet hand over what begins nowhere now.
      await Promise.all(offers)
      try {
        await claims.giveBack()
        await handed?.settle(false)
        await finishRunning()
        await registration.signOff()
        await handed?.end()
      } catch (error) {
        // Without the database nothing can be given back: the leases run out instead.
        logger.warn({ err: error }, 'the worker could not sign off')
      }
      leases.stop()
      progress.stop()
    },
    async drain() {
      await registration.publish()
      await watch.recover(heldIds())
      while ((await claim(room(), { isWhole: true })) > 0) await whenEmpty()
      leases.stop()
    },
  }
}

/** Whether what was recorded lets another run begin, or the same one again: nobody else tells this worker. */
function mayMakeWork({ row, job }: Execution, outcome: Outcome | null): boolean {
  return outcome?.state !== 'succeeded' || row.lane !== null || job.transactional || isLimited(job)
}

/** Not what has to be counted, nor what must not be tried again: its lease could end although nobody has begun it. */
function mayBeHandedOver(job: AnyJob): boolean {
  return !isLimited(job) && job.onStale === 'retry' && job.retry.attempts > 1
}

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve!: () => void
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function stopped(): EscapementError {
  return new EscapementError('closed', { message: 'The worker is shutting down; the run is given back.' })
}

function claimedRun({ job, queue, attempt, started_at, eligible_at }: ClaimedRow): ClaimedRun {
  return { job, queue, attempt, latenessMs: started_at!.getTime() - eligible_at.getTime() }
}
