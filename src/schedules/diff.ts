import { formatInstant, type Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { beforeFirst, boundsOf } from './bounds.js'
import { gridOf } from './plan.js'
import type { ScheduleContent } from './schedule.js'

/** What an edit does to the next plan times, as far as both the old and the new ones were looked at. */
export interface ScheduleDiff {
  /** Plan times that the edit takes away. */
  removed: string[]
  /**
   * Plan times that it shifts. Between two that are kept, those that go and those that come are paired in order, as
   * many as there are of both, so that they move by the least in all; at equal distance a plan time is taken to move to
   * a later one. One end of the last pairs may lie behind all else that is listed.
   */
  moved: { from: string; to: string }[]
  /** Plan times that it adds. */
  added: string[]
  kept: string[]
  /** Fields whose content differs. */
  fields: string[]
}

/** What an edit would do to the next `count` plan times, before it is made. */
export async function diffContents(
  before: ScheduleContent,
  after: ScheduleContent,
  { now, count, createdAt }: { now: Instant; count: number; createdAt: Instant },
  /** Called often: plan times of a rule can take long to find. */
  rest: () => Promise<void> = async () => {},
): Promise<ScheduleDiff> {
  // More than is shown: what the last ones moved to may lie behind them.
  const range = { now, count: 2 * count + 10, createdAt }
  const [old, next] = [await nextTimes(before, range, rest), await nextTimes(after, range, rest)]
  const { removed, moved, added, kept } = diffPlanTimes(old, next, { shown: count, asked: range.count })
  return {
    removed: removed.map(formatInstant),
    moved: moved.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to) })),
    added: added.map(formatInstant),
    kept: kept.map(formatInstant),
    fields: changedFields(before, after),
  }
}

/** The names of what differs. */
export function changedFields<Fields extends object>(before: Fields, after: Fields): string[] {
  const names = Object.keys(after) as (keyof Fields & string)[]
  return names.filter((name) => canonical(before[name]) !== canonical(after[name]))
}

interface Shift {
  from: Instant
  to: Instant
}

interface PlanTimesDiff {
  removed: Instant[]
  moved: Shift[]
  added: Instant[]
  kept: Instant[]
}

/** Compares two ascending lists of up to `asked` plan times, and tells of the first `shown`. */
export function diffPlanTimes(
  before: readonly Instant[],
  after: readonly Instant[],
  { shown, asked }: { shown: number; asked: number },
): PlanTimesDiff {
  // Only as far as both lists reach: beyond that, one of them has merely not been asked.
  const horizonOf = (count: number) => Math.min(reach(before, count), reach(after, count))
  const horizon = horizonOf(shown)
  const isShown = (time: Instant) => time <= horizon
  const [old, next] = [before, after].map((times) => known(times, horizonOf(asked))) as [Instant[], Instant[]]
  const [oldTimes, nextTimes] = [new Set(old), new Set(next)]
  const gone = old.filter((time) => !nextTimes.has(time))
  const come = next.filter((time) => !oldTimes.has(time))
  const stays = old.filter((time) => nextTimes.has(time))
  const moved = shifts(gone, come, stays).filter(({ from, to }) => isShown(from) || isShown(to))
  const [from, to] = [new Set(moved.map((shift) => shift.from)), new Set(moved.map((shift) => shift.to))]
  return {
    removed: gone.filter((time) => isShown(time) && !from.has(time)),
    moved,
    added: come.filter((time) => isShown(time) && !to.has(time)),
    kept: stays.filter(isShown),
  }
}

/** The pairs of each stretch between two that stay. */
function shifts(gone: readonly Instant[], come: readonly Instant[], stays: readonly Instant[]): Shift[] {
  const ends = [...stays, Number.POSITIVE_INFINITY]
  return ends.flatMap((end, index) => {
    const isWithin = (time: Instant) => time > (stays[index - 1] ?? Number.NEGATIVE_INFINITY) && time < end
    return pairInOrder(gone.filter(isWithin), come.filter(isWithin))
  })
}

/** Pairs all of the shorter list, in order, so that the distances add up to the least. */
function pairInOrder(gone: readonly Instant[], come: readonly Instant[]): Shift[] {
  const [few, many] = gone.length <= come.length ? [gone, come] : [come, gone]
  // least[i][j]: the sum for the first i of the few among the first j of the many.
  const least = [Array.from({ length: many.length + 1 }, () => 0)]
  for (const [i, one] of few.entries()) {
    const row = [Number.POSITIVE_INFINITY]
    for (const [j, other] of many.entries()) {
      row.push(Math.min(row[j]!, least[i]![j]! + Math.abs(one - other)))
    }
    least.push(row)
  }
  const pairs: Shift[] = []
  let j = many.length
  for (let i = few.length; i > 0; i--) {
    const paired = () => least[i - 1]![j - 1]! + Math.abs(few[i - 1]! - many[j - 1]!)
    // At equal sums the later of those that come, or the earlier of those that go.
    while (few === gone ? least[i]![j - 1]! < paired() : least[i]![j - 1]! <= paired()) j -= 1
    j -= 1
    const [one, other] = [few[i - 1]!, many[j]!]
    pairs.unshift(few === gone ? { from: one, to: other } : { from: other, to: one })
  }
  return pairs
}

/** Those up to the horizon, and the first behind it: the last ones can have moved there or have come from there. */
function known(times: readonly Instant[], horizon: Instant): readonly Instant[] {
  const behind = times.findIndex((time) => time > horizon)
  return behind === -1 ? times : times.slice(0, behind + 1)
}

function reach(times: readonly Instant[], count: number): Instant {
  return times.length < count ? Number.POSITIVE_INFINITY : times[count - 1]!
}

async function nextTimes(
  content: ScheduleContent,
  { now, count, createdAt }: { now: Instant; count: number; createdAt: Instant },
  rest: () => Promise<void>,
): Promise<Instant[]> {
  const { startAt, untilAt } = boundsOf(content, createdAt)
  const grid = gridOf({ timing: compileTiming(content.timing), until: untilAt })
  const times: Instant[] = []
  let at = grid.next(Math.max(now, beforeFirst(content.timing, startAt)))
  while (at !== null && times.length < count) {
    times.push(at)
    await rest()
    at = grid.next(at)
  }
  return times
}

/** Keys in one order: what comes from jsonb has them in another. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
