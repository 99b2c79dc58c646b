import { isOlder } from '../client/zone-data.js'
import { runIdOf } from '../runs/run-id.js'
import { isHeldBack, planOccurrences } from '../schedules/plan.js'
import type { Herd, PlannedHerd } from '../store/queries/herds.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import type { CreatedRun } from './tick.js'

/**
 * What a tick at `now` makes of each schedule of a herd, if that is one run at its plan time, which may begin at once and beside others, and a plan time after it.
 * Null for whatever has more to it, or cannot be planned: those are planned one by one.
 */
export function planHerd(herd: Herd, now: Instant, zoneData: string): PlannedHerd | null {
  const { ids, scopes, policies, next_at } = herd
  try {
    if (!herd.is_plain || scopes?.length !== 1 || policies.overlap !== 'allow' || isHeldBack(policies))
      return null
    if (isOlder({ ...herd, state: 'active' }, zoneData)) return null
    const [scope, planTime] = [scopes[0]!, next_at.getTime()]
    const one = {
      id: ids[0]!,
      timing: compileTiming(herd.timing),
      policies,
      scopes,
      nextAt: planTime,
      until: null,
    }
    const { runs, skips, nextAt, decidedThrough } = planOccurrences(one, now)
    if (runs.length !== 1 || runs[0]!.planTime !== planTime || skips.length > 0) return null
    if (nextAt === null || nextAt <= now) return null
    const runIds = ids.map((id) => runIdOf(id, scope, planTime))
    return { herd, scope, planTime, nextAt, decidedThrough, runIds }
  } catch {
    return null
  }
}

/** Each run of it, with what is told of its schedule. */
export function createdInHerd({ herd, scope, planTime, runIds }: PlannedHerd): CreatedRun[] {
  const { ids, names, job } = herd
  return runIds.map((id, index) => ({
    run: { id, scope, planTime },
    schedule: { id: ids[index]!, name: names[index]!, job },
  }))
}
