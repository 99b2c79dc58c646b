import { createBreather } from '../breather.js'
import { beforeFirst } from '../schedules/bounds.js'
import { readSkipRequests } from '../store/queries/skip-requests.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import {
  type Preview,
  type PreviewedOccurrence,
  type PreviewOptions,
  previewOccurrences,
} from '../time/preview.js'
import type { Timing } from '../time/timing.js'

export interface SchedulePreview {
  description: string
  /** The next plan times; `skipped` ones were wished away. */
  occurrences: (PreviewedOccurrence & { skipped: boolean })[]
}

/** Of an `after` timing there is the plan time that waits, if one does: the end of a run before it would give it. */
function waiting(
  { next_at }: ScheduleRow,
  interval: string,
  { after, count }: { after: Instant; count: number },
): { after: Instant; count: number } {
  if (next_at === null || next_at.getTime() <= after) return { after, count: 0 }
  return { after: next_at.getTime() - durationToMs(interval), count: Math.min(count, 1) }
}

/** One plan time after the other, and other work between them: that of a rule can take long to find. */
export async function previewInSteps(
  timing: Timing,
  { count, after, ...bounds }: PreviewOptions,
): Promise<Preview> {
  const breathe = createBreather()
  const preview = previewOccurrences(timing, { ...bounds, after, count: 0 })
  for (let since = after; preview.occurrences.length < count; ) {
    await breathe()
    const [next] = previewOccurrences(timing, { ...bounds, after: since, count: 1 }).occurrences
    if (!next) break
    preview.occurrences.push(next)
    if (timing.kind === 'after') break
    since = Date.parse(next.planTime)
  }
  return preview
}

/** The next plan times of a schedule as it is, whether it is active or not. */
export async function previewSchedule(
  session: Session,
  row: ScheduleRow,
  { after, count }: { after: Instant; count: number },
): Promise<SchedulePreview> {
  const requests = (await readSkipRequests(session, [row.id])).get(row.id)
  const { description, occurrences } = await previewInSteps(row.timing, {
    after: Math.max(after, beforeFirst(row.timing, row.start_at.getTime())),
    count,
    endAt: row.until_at?.getTime(),
    ...(row.timing.kind === 'after' && waiting(row, row.timing.interval, { after, count })),
  })
  return {
    description,
    occurrences: occurrences.map((occurrence) => ({
      ...occurrence,
      skipped: requests?.has(Date.parse(occurrence.planTime)) ?? false,
    })),
  }
}
