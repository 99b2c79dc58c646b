import type { Logger } from '../logger.js'
import { planOccurrences } from '../schedules/plan.js'
import {
  type CreatedRun,
  type DueSchedule,
  lockDueSchedules,
  type PlannedSchedule,
  postponeSchedules,
  recordPlans,
} from '../store/queries/planning.js'
import { toPlannable } from '../store/rows.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'

export interface TickReport {
  /** How many schedules were due and ours; as many as the limit means that more may be waiting. */
  due: number
  created: (CreatedRun & { schedule: string })[]
  finished: DueSchedule[]
}

/**
 * One pass of the scheduler: takes due schedules in a batch, decides in memory what becomes of their plan times, and
 * writes all of it in one statement. Dying anywhere in here leaves nothing behind: the rows are only locked until
 * the transaction ends, and what it wrote becomes visible at once or not at all.
 */
export async function tick(store: Store, limit: number, logger: Logger): Promise<TickReport> {
  return store.transaction(async (session) => {
    const { due, now } = await lockDueSchedules(session, limit)
    if (now === null) return { due: 0, created: [], finished: [] }
    const { planned, unplannable } = planAll(due, now, logger)
    const created = planned.length > 0 ? await recordPlans(session, planned, store.channel) : []
    if (unplannable.length > 0) await postponeSchedules(session, unplannable, RETRY_PLANNING_MS)
    const names = new Map(due.map(({ id, name }) => [id, name]))
    return {
      due: due.length,
      created: created.map((run) => ({ ...run, schedule: names.get(run.schedule_id)! })),
      finished: planned.filter(({ plan }) => plan.nextAt === null).map(({ schedule }) => schedule),
    }
  })
}

/** A schedule that cannot be planned is looked at again after this long, so that it does not hold up the others. */
const RETRY_PLANNING_MS = 60_000

function planAll(due: readonly DueSchedule[], now: Instant, logger: Logger) {
  const planned: (PlannedSchedule & { schedule: DueSchedule })[] = []
  const unplannable: string[] = []
  for (const schedule of due) {
    try {
      planned.push({ schedule, plan: planOccurrences(toPlannable(schedule), now) })
    } catch (error) {
      logger.error({ schedule: schedule.name, err: error }, 'a schedule could not be planned')
      unplannable.push(schedule.id)
    }
  }
  return { planned, unplannable }
}
