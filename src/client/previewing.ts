import { gridOf } from '../schedules/plan.js'
import type { ScheduleContent } from '../schedules/schedule.js'
import { readSkipRequests } from '../store/queries/planning.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { type PreviewedOccurrence, previewOccurrences } from '../time/preview.js'
import { compileTiming } from '../time/timing.js'
import { beforeFirst, boundsOf } from './change.js'

export interface SchedulePreview {
  description: string
  /** The next plan times; `skipped` ones were wished away. */
  occurrences: (PreviewedOccurrence & { skipped: boolean })[]
}

/** The next plan times of a schedule as it is, whether it is active or not. */
export async function previewSchedule(
  session: Session,
  row: ScheduleRow,
  { after, count }: { after: Instant; count: number },
): Promise<SchedulePreview> {
  const requests = (await readSkipRequests(session, [row.id])).get(row.id)
  const { description, occurrences } = previewOccurrences(row.timing, {
    after: Math.max(after, beforeFirst(row.timing, row.start_at.getTime())),
    count,
    endAt: row.until_at?.getTime(),
  })
  return {
    description,
    occurrences: occurrences.map((occurrence) => ({
      ...occurrence,
      skipped: requests?.has(Date.parse(occurrence.planTime)) ?? false,
    })),
  }
}

export interface ScheduleDiff {
  /** Plan times among the next ones that the edit takes away. */
  removed: string[]
  /** Plan times that it adds. */
  added: string[]
  kept: string[]
  /** Fields whose content differs. */
  fields: string[]
}

/** What an edit would do to the next `count` plan times, before it is made. */
export function diffContents(
  before: ScheduleContent,
  after: ScheduleContent,
  { now, count, createdAt }: { now: Instant; count: number; createdAt: Instant },
): ScheduleDiff {
  const old = nextTimes(before, { now, count, createdAt })
  const next = nextTimes(after, { now, count, createdAt })
  // Only as far as both lists reach: beyond that, one of them has merely not been asked.
  const horizon = Math.min(reach(old, count), reach(next, count))
  const within = (times: readonly Instant[]) => times.filter((time) => time <= horizon)
  const oldTimes = new Set(within(old))
  const newTimes = new Set(within(next))
  const only = (from: ReadonlySet<Instant>, other: ReadonlySet<Instant>, both: boolean) =>
    [...from].filter((time) => other.has(time) === both).map(formatInstant)
  const names = Object.keys(after) as (keyof ScheduleContent)[]
  return {
    removed: only(oldTimes, newTimes, false),
    added: only(newTimes, oldTimes, false),
    kept: only(oldTimes, newTimes, true),
    fields: names.filter((name) => canonical(before[name]) !== canonical(after[name])),
  }
}

function nextTimes(
  content: ScheduleContent,
  { now, count, createdAt }: { now: Instant; count: number; createdAt: Instant },
): Instant[] {
  const { startAt, untilAt } = boundsOf(content, createdAt)
  const grid = gridOf({ timing: compileTiming(content.timing), until: untilAt })
  const times: Instant[] = []
  let at = grid.next(Math.max(now, beforeFirst(content.timing, startAt)))
  while (at !== null && times.length < count) {
    times.push(at)
    at = grid.next(at)
  }
  return times
}

function reach(times: readonly Instant[], count: number): Instant {
  return times.length < count ? Number.POSITIVE_INFINITY : times.at(-1)!
}

/** Keys in one order: what comes from jsonb has them in another. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
