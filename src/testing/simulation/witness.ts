import type { Escapement } from '../../escapement.js'
import type { AnyJob, HandlerContext, JobDefinition } from '../../runs/job.js'
import type { Instant } from '../../time/instant.js'
import type { Life } from './calls.js'
import type { Chronicle } from './chronicle.js'

/** One call of a handler, seen from outside of the database. */
export interface Execution {
  runId: string
  job: string
  attempt: number
  planTime: Instant | null
  startedAt: Instant
  /** Null while it works, and for ever where its process died. */
  endedAt: Instant | null
  hasReturned: boolean
  /** When its signal was aborted: its run was taken from it, it took too long, or its process stopped. */
  abortedAt: Instant | null
  /** When its process was told to stop, where it has begun by then: it may be given back, and tried under the same number. */
  stoppedAt: Instant | null
  /** When its process died, or had stopped. */
  goneAt: Instant | null
}

/** One run of a process. */
type Watched = Pick<Life, 'name'> & { readonly isStopping: boolean }

/** A verb on runs: from when it was asked for until it was answered, if it was. */
interface Asked {
  from: Instant
  to: Instant
}

/** Sees all handlers of all processes start and end, and hears who asks for runs to be tried again or cancelled. */
export class Witness {
  readonly executions: Execution[] = []
  /** Those that were defined, whether any of their handlers was ever called or not. */
  readonly jobs = new Map<string, AnyJob>()
  readonly retries: Asked[] = []
  /** When it was first asked for, by the run's id. */
  readonly cancels = new Map<string, Instant>()
  readonly #of = new WeakMap<Watched, Execution[]>()
  readonly #now: () => Instant
  readonly #chronicle: Chronicle

  constructor(now: () => Instant, chronicle: Chronicle) {
    this.#now = now
    this.#chronicle = chronicle
  }

  /** The same Escapement, whose jobs are watched. */
  watching(escapement: Escapement, process: Watched): Escapement {
    const watched = (handler: AnyJob['handler']) => (context: HandlerContext) =>
      this.#watch(process, context, () => handler(context as never))
    const register = (nameOrJob: string | AnyJob, definition?: JobDefinition): AnyJob =>
      typeof nameOrJob === 'string'
        ? escapement.job(nameOrJob, {
            ...definition!,
            handler: watched(definition!.handler as never),
          } as never)
        : escapement.job({ ...nameOrJob, handler: watched(nameOrJob.handler) } as never)
    const job = (nameOrJob: string | AnyJob, definition?: JobDefinition): AnyJob => {
      const defined = register(nameOrJob, definition)
      this.jobs.set(defined.name, defined)
      return defined
    }
    return { ...this.hearing(escapement), job: job as Escapement['job'] }
  }

  /** The same Escapement, whose verbs on runs are heard. */
  hearing(escapement: Escapement): Escapement {
    return {
      ...escapement,
      runs: this.#hearingRuns(escapement.runs),
      inGroup: (group) => {
        const { schedules, runs } = escapement.inGroup(group)
        return { schedules, runs: this.#hearingRuns(runs) }
      },
    }
  }

  #hearingRuns(runs: Escapement['runs']): Escapement['runs'] {
    const retried = async <T>(ask: () => Promise<T>): Promise<T> => {
      const asked = { from: this.#now(), to: Number.POSITIVE_INFINITY }
      this.retries.push(asked)
      const answer = await ask()
      // Only then is it known that nothing of it is still to come.
      asked.to = this.#now()
      return answer
    }
    return {
      ...runs,
      retry: (id) => retried(() => runs.retry(id)),
      retryAll: (filter) => retried(() => runs.retryAll(filter)),
      cancel: (id, options) => {
        if (!this.cancels.has(id)) this.cancels.set(id, this.#now())
        return runs.cancel(id, options)
      },
    }
  }

  /** A process was told to stop: what it has in hand may be given back from here on, whether it lives to hear of that or not. */
  interrupt(process: Watched): void {
    for (const execution of this.#of.get(process) ?? []) execution.stoppedAt ??= this.#now()
  }

  /** Of a process nothing is left: whoever sees that takes its runs at once. */
  lose(process: Watched): void {
    for (const execution of this.#of.get(process) ?? []) execution.goneAt = this.#now()
  }

  async #watch(process: Watched, context: HandlerContext, work: () => unknown): Promise<unknown> {
    const { run, job, attempt, planTime, signal } = context
    const execution: Execution = {
      runId: run.id,
      job,
      attempt,
      planTime: planTime?.getTime() ?? null,
      startedAt: this.#now(),
      endedAt: null,
      hasReturned: false,
      abortedAt: null,
      stoppedAt: process.isStopping ? this.#now() : null,
      goneAt: null,
    }
    this.executions.push(execution)
    const own = this.#of.get(process) ?? []
    own.push(execution)
    this.#of.set(process, own)
    const about = `${job} ${run.id} attempt ${attempt}`
    this.#chronicle.tell(process.name, `begins ${about}`)
    signal.addEventListener('abort', () => {
      execution.abortedAt = this.#now()
    })
    try {
      const result = await work()
      execution.hasReturned = true
      return result
    } finally {
      execution.endedAt = this.#now()
      this.#chronicle.tell(process.name, `${execution.hasReturned ? 'ends' : 'fails'} ${about}`)
    }
  }
}
