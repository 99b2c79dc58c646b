import { boundsOf } from '../schedules/bounds.js'
import type { Grid } from '../schedules/catch-up.js'
import { gridOf } from '../schedules/plan.js'
import type { ScheduleContent } from '../schedules/schedule.js'
import { listContents } from '../store/queries/changes.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { type CompiledTiming, compileTiming } from '../time/timing.js'

/** The timing of a version, and the part of its plan times that the schedule takes. */
interface Version {
  timing: CompiledTiming
  grid: Grid
}

export type Versions = Map<number, Version>

/** Adds those that are missing; one that the change log does not tell of has today's timing. */
export async function addVersions(
  session: Session,
  row: ScheduleRow,
  wanted: ReadonlySet<number>,
  versions: Versions,
): Promise<void> {
  const unknown = [...wanted].filter((version) => !versions.has(version))
  if (unknown.length === 0) return
  const plannable = toPlannable(row)
  const today = { timing: plannable.timing, grid: gridOf(plannable) }
  for (const version of unknown) versions.set(version, today)
  const former = unknown.filter((version) => version !== row.version)
  if (former.length === 0) return
  for (const { version, content } of await listContents(session, row.id, former)) {
    versions.set(version, versionOf(content, row.created_at.getTime()))
  }
}

function versionOf(content: ScheduleContent, createdAt: Instant): Version {
  const { untilAt } = boundsOf(content, createdAt)
  const timing = compileTiming(content.timing)
  return { timing, grid: gridOf({ timing, until: untilAt }) }
}
