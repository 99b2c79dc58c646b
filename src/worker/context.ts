import { type Logger, withFacts } from '../logger.js'
import type { HandlerContext, HandlerTransaction } from '../runs/job.js'
import type { Run } from '../runs/run.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import { toRun } from '../store/rows.js'
import { compileTiming, type Timing } from '../time/timing.js'
import type { Execution } from './execute.js'
import { runFacts } from './run-facts.js'

/**
 * What a handler is given. What few of them ask for is made when they do. All of it is the object's own, so that one who wraps
 * a handler can hand on `{ ...context }`.
 */
export function contextOf(
  execution: Execution,
  input: unknown,
  logger: Logger,
  tx: HandlerTransaction | undefined,
): HandlerContext {
  return new Context(execution, input, logger, tx) as unknown as HandlerContext
}

class Context {
  readonly #execution: Execution
  readonly #logger: Logger
  readonly job: string
  readonly input: unknown
  readonly schedule: string | null
  readonly attempt: number
  readonly planTime: Date | null
  readonly scope: string | null
  readonly workerId: string
  readonly tx: HandlerTransaction | undefined
  readonly progress: HandlerContext['progress']
  readonly totals: HandlerContext['totals']
  readonly heartbeat: HandlerContext['heartbeat']

  constructor(execution: Execution, input: unknown, logger: Logger, tx: HandlerTransaction | undefined) {
    const { row, telling, workerId } = execution
    this.#execution = execution
    this.#logger = logger
    this.job = row.job
    this.input = input
    this.schedule = row.schedule_name
    this.attempt = row.attempt
    this.planTime = row.plan_time
    this.scope = row.scope
    this.workerId = workerId
    this.tx = tx
    this.progress = telling.progress
    this.totals = telling.totals
    this.heartbeat = telling.heartbeat
    for (const [name, get] of Context.#made) Object.defineProperty(this, name, { get, enumerable: true })
  }

  /** The same functions for all: with new ones for each, every context would have a shape of its own. */
  static readonly #made = Object.entries({
    run(this: Context) {
      const { row, workerId } = this.#execution
      return runOf(row, workerId)
    },
    signal(this: Context) {
      return this.#execution.interrupt.signal
    },
    log(this: Context) {
      return withFacts(this.#logger, runFacts(this.#execution.row))
    },
    previousPlanTime(this: Context) {
      return previousPlanTime(this.#execution.row)
    },
  })
}

function runOf(row: ClaimedRow, workerId: string): Run {
  return toRun(row, {
    state: 'running',
    worker_id: workerId,
    result: null,
    progress: null,
    progress_note: null,
    totals: null,
    finished_at: null,
  })
}

function previousPlanTime({ plan_time, timing }: ClaimedRow): Date | null {
  if (plan_time === null || timing === null) return null
  const { kind } = timing as Timing
  if (kind === 'after' || kind === 'once') return null
  try {
    const previous = compileTiming(timing as Timing).previous(plan_time.getTime())
    return previous === null ? null : new Date(previous)
  } catch {
    // Of a newer program: its own workers know.
    return null
  }
}
