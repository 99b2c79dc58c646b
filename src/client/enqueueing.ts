import { hostNow, monotonicMs } from '../clock.js'
import { EscapementError, mistakesError } from '../errors.js'
import type { WorkerCalls } from '../events/worker-calls.js'
import { createGatherer } from '../gather.js'
import { type DirectBatch, identify, LARGEST_BATCH, toBatches } from '../runs/direct-batches.js'
import {
  type DirectRun,
  type DirectRunOptions,
  type EnqueueItem,
  readDirectRuns,
} from '../runs/direct-run.js'
import type { AnyJob, Job } from '../runs/job.js'
import { checkTransaction, overTransaction, type TransactionLike } from '../store/caller-transaction.js'
import { type EnqueueTerms, insertDirectRuns } from '../store/queries/enqueueing.js'
import type { PublishedJob } from '../store/queries/workers.js'
import { isDeadlock, isRefusal } from '../store/refusal.js'
import type { Session } from '../store/store.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { tracedAsking } from './asking-span.js'
import { checkInputOf, codeOf, hasSchema, requireJobs } from './known-jobs.js'
import type { VerbParts } from './verb.js'

/** What `runs.enqueueMany` takes beside its items. */
export interface EnqueueManyOptions {
  /** The caller's own transaction: the runs exist if that commits. */
  tx?: TransactionLike
}

/** What `runs.enqueue` takes. */
export interface EnqueueOptions extends DirectRunOptions, EnqueueManyOptions {}

export interface Enqueued {
  id: string
  /** False where the key had its run already. */
  created: boolean
}

export interface Enqueueing {
  /** Asks for one run of a job, to be claimed by a worker as soon as it may. Resolves once that is durable. */
  enqueue<Input>(job: Job<Input> | string, input: NoInfer<Input>, options?: EnqueueOptions): Promise<Enqueued>
  /** Asks for any number of runs of one job: all of them, or none. Answers in the order of the items. */
  enqueueMany<Input>(
    job: Job<Input> | string,
    items: readonly EnqueueItem<NoInfer<Input>>[],
    options?: EnqueueManyOptions,
  ): Promise<Enqueued[]>
}

/**
 * Callers that wait together share a statement. Those with a key may have to wait for a transaction that is just using
 * the same one, and so they have batches of their own: those without never wait for anybody. A batch is not patient
 * either: whoever's key is in use is found out by halving it, and asks again now and then, alone. So a key that a
 * transaction holds costs nobody else more than a moment.
 */
export function createEnqueueing({ store, jobs, bus, chance }: VerbParts, calls: WorkerCalls): Enqueueing {
  const published = new Map<string, { job: PublishedJob | undefined; untilMs: number }>()
  const keyless = createGatherer({
    writeBatch: insertAlone,
    isDivisible: isRefusal,
    largestBatch: LARGEST_BATCH.runs,
  })
  const keyed = createGatherer({
    writeBatch: insertKeyed,
    isDivisible: (error) => isRefusal(error) || isContention(error),
    largestBatch: LARGEST_BATCH.runs,
  })
  /** Those whose keys are in use, one after the other: however many they are, they take one connection. */
  const again = createGatherer({ writeBatch: insertKeyed, isDivisible: () => false, largestBatch: 1 })

  function planned(runs: readonly DirectRun[]): Planned {
    const ids = identify(runs, store.now()?.getTime() ?? hostNow(), chance)
    return { ids, batches: toBatches({ ids, runs }) }
  }

  /** In a transaction where one statement is not enough, or has to give up waiting for a key. */
  function insertAlone(runs: readonly DirectRun[]): Promise<Enqueued[]> {
    const plan = planned(runs)
    const isPlain = plan.batches.length === 1 && runs.every(({ key }) => key === null)
    return calls.around(
      (channel) =>
        isPlain
          ? insert(store, plan, { channel, mayBegin: true })
          : store.transaction((session) => insert(session, plan, { channel })),
      hasNew,
    )
  }

  function insertKeyed(runs: readonly DirectRun[]): Promise<Enqueued[]> {
    const plan = planned(runs)
    return calls.around(
      (channel) =>
        plan.batches.length === 1
          ? insert(store, plan, { channel, patienceMs: PATIENCE_MS })
          : store.transaction((session) => insert(session, plan, { channel, patienceMs: PATIENCE_MS })),
      hasNew,
    )
  }

  async function enqueueOne(run: DirectRun): Promise<Enqueued> {
    if (run.key === null) return keyless.write(run)
    let attempt = keyed.write(run)
    for (const pauseMs of PAUSES_MS) {
      try {
        return await attempt
      } catch (error) {
        if (!isContention(error)) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      attempt = again.write(run)
    }
    return attempt
  }

  async function insert(
    session: Session,
    { ids, batches }: Planned,
    terms: EnqueueTerms,
  ): Promise<Enqueued[]> {
    const created = new Set<string>()
    for (const batch of batches) {
      const inserted = await insertDirectRuns(session, terms, batch)
      if (inserted === batch.ids && inserted.length === ids.length) {
        return ids.map((id) => ({ id, created: true }))
      }
      for (const id of inserted) created.add(id)
    }
    // Of those that share a key the first one made the run.
    return ids.map((id) => ({ id, created: created.delete(id) }))
  }

  /** Checks what is asked for, and says where to write it. */
  async function check(
    job: AnyJob | string,
    items: readonly EnqueueItem[],
    { tx, pathOf }: { tx: TransactionLike | undefined; pathOf: (index: number) => string },
  ): Promise<{ runs: DirectRun[]; session: Session }> {
    const alsoCheck = (report: Report) => {
      if (tx !== undefined) checkTransaction(tx, 'tx', report)
    }
    const runs = readDirectRuns({ job, items, pathOf, alsoCheck })
    if (tx === undefined) store.database.refuseInsideTransaction?.()
    const session = tx === undefined ? store : store.over(overTransaction(tx))
    const code = codeOf(jobs, job)
    const checked = code ?? (await findPublished(session, job))
    if (hasSchema(checked)) {
      for (const [index, { input }] of items.entries()) {
        await checkInputOf(checked, input, `${pathOf(index)}input`)
      }
    }
    return { runs, session }
  }

  /** Remembered for a moment: it changes with a deploy, and callers come by the thousand. */
  async function findPublished(session: Session, job: AnyJob | string): Promise<PublishedJob | undefined> {
    const name = typeof job === 'string' ? job : job.name
    const known = published.get(name)
    if (known && monotonicMs() < known.untilMs) return known.job
    const found = (await requireJobs(session, jobs, [job])).find((one) => one.name === name)
    published.set(name, { job: found, untilMs: monotonicMs() + PUBLISHED_FOR_MS })
    return found
  }

  /** Writes runs of one job down in a span that their attempts will be linked to. */
  function traced(runs: readonly DirectRun[], write: () => Promise<Enqueued[]>): Promise<Enqueued[]> {
    const { job, queue } = runs[0]!
    const isOfOneQueue = runs.every((run) => run.queue === queue)
    return tracedAsking('enqueue', { job, queue: isOfOneQueue ? queue : undefined }, async (span) => {
      if (span.traceContext !== null) for (const run of runs) run.traceContext = span.traceContext
      const enqueued = await write()
      span.asked(enqueued)
      return enqueued
    })
  }

  function emit(job: string, enqueued: readonly Enqueued[]): void {
    const none = {
      scheduleId: null,
      schedule: null,
      scope: null,
      planTime: null,
      durationMs: null,
      error: null,
    }
    for (const { id, created } of enqueued) {
      if (created && bus.has('run.created')) bus.emit('run.created', { runId: id, job, attempt: 0, ...none })
    }
  }

  return {
    async enqueue(job, input, options = {}) {
      checkIsObject(options)
      const { tx, ...terms } = options
      const { runs, session } = await check(job, [{ ...terms, input }], { tx, pathOf: () => '' })
      return (
        await traced(runs, async () => {
          if (tx !== undefined) return insert(session, planned(runs), { channel: store.channel })
          const run = runs[0]!
          const enqueued = await enqueueOne(run).catch((error) => {
            throw explain(error, `the key ${quote(run.key)}`)
          })
          emit(run.job, [enqueued])
          return [enqueued]
        })
      )[0]!
    },

    async enqueueMany(job, items, options = {}) {
      checkManyOptions(items, options)
      const { tx } = options
      const { runs, session } = await check(job, items, { tx, pathOf: (index) => `items[${index}].` })
      if (runs.length === 0) return []
      return traced(runs, async () => {
        if (tx !== undefined) return insert(session, planned(runs), { channel: store.channel })
        const enqueued = await insertAlone(runs).catch((error) => {
          throw explain(error, 'one of these keys')
        })
        emit(runs[0]!.job, enqueued)
        return enqueued
      })
    },
  }
}

const hasNew = (enqueued: readonly Enqueued[]) => enqueued.some(({ created }) => created)

/** The ids in the order of what was asked for, and what to write. */
interface Planned {
  ids: readonly string[]
  batches: readonly DirectBatch[]
}

function checkIsObject(options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return
  throw mistakesError('option_invalid', [
    { field: 'options', message: `${quote(options)} – must be an object with at, queue, priority, key, tx` },
  ])
}

function checkManyOptions(items: unknown, options: object): void {
  checkIsObject(options)
  readOrThrow('option_invalid', (report) => {
    for (const field of Object.keys(options)) {
      if (field !== 'tx') report(field, 'unknown field; what is to be said of one run goes into its item')
    }
    if (!Array.isArray(items)) return report('items', `${quote(items)} – must be a list`)
    const index = items.findIndex((item) => typeof item !== 'object' || item === null)
    return index === -1 || report(`items[${index}]`, `${quote(items[index])} – must be { input, … }`)
  })
}

const PUBLISHED_FOR_MS = 10_000

/** How long a statement waits for a key that another transaction is just using. */
const PATIENCE_MS = 100
/** Between asking again for such a key: ten seconds in all, as long as our transactions wait for a lock. */
const PAUSES_MS = [50, 100, 200, 400, 800, ...Array<number>(8).fill(1_000)]

const LOCK_TIMEOUT = '55P03'

/** Whether another transaction was in the way of one of a batch. */
function isContention(error: unknown): boolean {
  return isDeadlock(error) || (error as { code?: unknown } | null)?.code === LOCK_TIMEOUT
}

function explain(error: unknown, key: string): unknown {
  if (!isContention(error)) return error
  return new EscapementError('database_busy', {
    message: `Another transaction that has not ended uses ${key}, so that it is open whether there will be a run. Ask again later, or give that transaction as tx.`,
    cause: error,
  })
}
