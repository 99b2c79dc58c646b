import { type Logger, withFacts } from '../logger.js'
import type { HandlerContext, HandlerTransaction } from '../runs/job.js'
import type { Run } from '../runs/run.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import { toRun } from '../store/rows.js'
import { compileTiming, type Timing } from '../time/timing.js'
import type { Execution } from './execute.js'

/** What a handler is given. What few of them ask for is made when they do. */
export class Context implements HandlerContext {
  readonly job: string
  readonly input: unknown
  readonly attempt: number
  readonly planTime: Date | null
  readonly scope: string | null
  readonly workerId: string
  readonly tx: HandlerTransaction & undefined
  readonly progress: HandlerContext['progress']
  readonly totals: HandlerContext['totals']
  readonly heartbeat: HandlerContext['heartbeat']
  readonly #execution: Execution
  readonly #logger: Logger

  constructor(execution: Execution, input: unknown, logger: Logger, tx: HandlerTransaction | undefined) {
    const { row, telling } = execution
    this.job = row.job
    this.input = input
    this.attempt = row.attempt
    this.planTime = row.plan_time
    this.scope = row.scope
    this.workerId = execution.workerId
    this.tx = tx as never
    this.progress = telling.progress
    this.totals = telling.totals
    this.heartbeat = telling.heartbeat
    this.#execution = execution
    this.#logger = logger
  }

  get run(): Run {
    const { row, workerId } = this.#execution
    return toRun({
      ...row,
      state: 'running',
      worker_id: workerId,
      result: null,
      progress: null,
      progress_note: null,
      totals: null,
      key: null,
      error_code: null,
      error_message: null,
      finished_at: null,
    })
  }

  get signal(): AbortSignal {
    return this.#execution.interrupt.signal
  }

  get log(): Logger {
    const { id, job, attempt } = this.#execution.row
    return withFacts(this.#logger, { runId: id, job, attempt })
  }

  get previousPlanTime(): Date | null {
    return previousPlanTime(this.#execution.row)
  }
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
