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
  const { row, telling, workerId, interrupt } = execution
  return {
    job: row.job,
    input,
    schedule: row.schedule_name,
    attempt: row.attempt,
    planTime: row.plan_time,
    scope: row.scope,
    workerId,
    tx: tx as never,
    progress: telling.progress,
    totals: telling.totals,
    heartbeat: telling.heartbeat,
    get run() {
      return runOf(row, workerId)
    },
    get signal() {
      return interrupt.signal
    },
    get log() {
      return withFacts(logger, runFacts(row))
    },
    get previousPlanTime() {
      return previousPlanTime(row)
    },
  }
}

function runOf(row: ClaimedRow, workerId: string): Run {
  return toRun({
    ...row,
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
