import { hostNow } from '../clock.js'
import { EscapementError } from '../errors.js'
import { createGatherer } from '../gather.js'
import { type DirectBatch, identify, LARGEST_BATCH, toBatches } from '../runs/direct-batches.js'
import {
  type DirectRun,
  type DirectRunOptions,
  type EnqueueItem,
  readDirectRuns,
} from '../runs/direct-run.js'
import { type AnyJob, checkInput, type Job } from '../runs/job.js'
import { checkTransaction, overTransaction, type TransactionLike } from '../store/caller-transaction.js'
import { insertDirectRuns } from '../store/queries/enqueueing.js'
import { isRefusal } from '../store/refusal.js'
import type { Session } from '../store/store.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { codeOf, requireJobs } from './known-jobs.js'
import type { VerbParts } from './verb.js'

export interface EnqueueManyOptions {
  /** The caller's own transaction: the runs exist if that commits. */
  tx?: TransactionLike
}

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
 * the same one, and so they have batches of their own: those without never wait for anybody.
 */
export function createEnqueueing({ store, jobs, bus }: VerbParts): Enqueueing {
  const published = new Set<AnyJob | string>()
  const gatherer = (isDivisible: (error: unknown) => boolean) =>
    createGatherer({ writeBatch: insertAlone, isDivisible, largestBatch: LARGEST_BATCH.runs })
  const keyless = gatherer(isRefusal)
  const keyed = gatherer((error) => isRefusal(error) || isContention(error))

  function planned(runs: readonly DirectRun[]): Planned {
    const ids = identify(runs, store.now()?.getTime() ?? hostNow())
    return { ids, batches: toBatches({ ids, runs }) }
  }

  /** In a transaction where one statement is not enough, or has to give up waiting for a key. */
  function insertAlone(runs: readonly DirectRun[]): Promise<Enqueued[]> {
    const plan = planned(runs)
    const isPlain = plan.batches.length === 1 && runs.every(({ key }) => key === null)
    return isPlain ? insert(store, plan) : store.transaction((session) => insert(session, plan))
  }

  async function insert(session: Session, { ids, batches }: Planned): Promise<Enqueued[]> {
    const created = new Set<string>()
    for (const batch of batches) {
      for (const id of await insertDirectRuns(session, store.channel, batch)) created.add(id)
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
    if (code?.schema) {
      for (const [index, { input }] of items.entries()) {
        await checkInput(code, input, `${pathOf(index)}input`)
      }
    }
    // A job that was published once stays so.
    if (!code && !published.has(job)) {
      await requireJobs(session, jobs, [job])
      published.add(job)
    }
    return { runs, session }
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
      if (created) bus.emit('run.created', { runId: id, job, attempt: 0, ...none })
    }
  }

  return {
    async enqueue(job, input, { tx, ...options } = {}) {
      const { runs, session } = await check(job, [{ ...options, input }], { tx, pathOf: () => '' })
      if (tx !== undefined) return (await insert(session, planned(runs)))[0]!
      const run = runs[0]!
      const enqueued = await (run.key === null ? keyless : keyed).write(run).catch((error) => {
        throw explain(error, `the key ${quote(run.key)}`)
      })
      emit(run.job, [enqueued])
      return enqueued
    },

    async enqueueMany(job, items, options = {}) {
      checkManyOptions(items, options)
      const { tx } = options
      const { runs, session } = await check(job, items, { tx, pathOf: (index) => `items[${index}].` })
      if (tx !== undefined) return insert(session, planned(runs))
      if (runs.length === 0) return []
      const enqueued = await insertAlone(runs).catch((error) => {
        throw explain(error, 'one of these keys')
      })
      emit(runs[0]!.job, enqueued)
      return enqueued
    },
  }
}

/** The ids in the order of what was asked for, and what to write. */
interface Planned {
  ids: readonly string[]
  batches: readonly DirectBatch[]
}

function checkManyOptions(items: unknown, options: object): void {
  readOrThrow('option_invalid', (report) => {
    for (const field of Object.keys(options)) {
      if (field !== 'tx') report(field, 'unknown field; what is to be said of one run goes into its item')
    }
    if (!Array.isArray(items)) return report('items', `${quote(items)} – must be a list`)
    const index = items.findIndex((item) => typeof item !== 'object' || item === null)
    return index === -1 || report(`items[${index}]`, `${quote(items[index])} – must be { input, … }`)
  })
}

const LOCK_TIMEOUT = '55P03'
const DEADLOCK = '40P01'

/** Whether another transaction was in the way of one of a batch. */
function isContention(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === LOCK_TIMEOUT || code === DEADLOCK
}

function explain(error: unknown, key: string): unknown {
  if (!isContention(error)) return error
  return new EscapementError('database_busy', {
    message: `Another transaction that has not ended uses ${key}, so that it is open whether there will be a run. Ask again later, or give that transaction as tx.`,
    cause: error,
  })
}
