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
  /** Its process was told to stop, or its run was taken from it: it may be given back, and tried under the same number. */
  wasInterrupted: boolean
}

/** One run of a process. */
type Watched = Pick<Life, 'name'> & { readonly isStopping: boolean }

/** Sees all handlers of all processes start and end. */
export class Witness {
  readonly executions: Execution[] = []
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
    const job = (nameOrJob: string | AnyJob, definition?: JobDefinition): AnyJob =>
      typeof nameOrJob === 'string'
        ? escapement.job(nameOrJob, {
            ...definition!,
            handler: watched(definition!.handler as never),
          } as never)
        : escapement.job({ ...nameOrJob, handler: watched(nameOrJob.handler) } as never)
    return { ...escapement, job: job as Escapement['job'] }
  }

  /** A process was told to stop: what it works on may be given back from here on, whether it lives to hear of that or not. */
  interrupt(process: Watched): void {
    for (const execution of this.#of.get(process) ?? [])
      if (execution.endedAt === null) execution.wasInterrupted = true
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
      wasInterrupted: process.isStopping,
    }
    this.executions.push(execution)
    const own = this.#of.get(process) ?? []
    own.push(execution)
    this.#of.set(process, own)
    const about = `${job} ${run.id} attempt ${attempt}`
    this.#chronicle.tell(process.name, `begins ${about}`)
    signal.addEventListener('abort', () => {
      execution.wasInterrupted = true
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
