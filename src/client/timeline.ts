/**
 * So many occurrences before an instant and so many from it on, whatever the distance between them: a second or a year. The
 * reach to each side is found first, from its sources one by one, of which each says where it alone would have enough; the
 * nearest of those is far enough for all. Then the ledger is read in between.
 */
import { beforeFirst } from '../schedules/bounds.js'
import { gridOf } from '../schedules/plan.js'
import {
  listRunTimesBefore,
  listRunTimesFrom,
  listSkipDispositions,
  listSkipsBefore,
} from '../store/queries/ledger.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { type Instant, type InstantInput, LAST_INSTANT } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { ledgerOf, type Occurrence } from './ledger.js'
import { addVersions, type Versions } from './timing-versions.js'

/** What `schedules.timeline` takes. */
export interface TimelineOptions {
  /** Wall time in the schedule's zone where it has no offset; now by default. */
  at?: InstantInput
  /**
   * How many occurrences before `at`. A plan time is there with all its scopes or not at all, and the nearest is there whatever
   * its scopes. At most 500.
   * @default 30
   */
  before?: number
  /**
   * How many from `at` on, likewise.
   * @default 30
   */
  after?: number
}

export const TIMELINE_DEFAULTS = { before: 30, after: 30 } satisfies TimelineOptions

/** The occurrences around an instant. */
export interface Timeline {
  /** By the clock of the database. */
  now: Date
  /** Oldest first. */
  occurrences: Occurrence[]
  hasEarlier: boolean
  hasLater: boolean
}

type Direction = 'previous' | 'next'

export async function timelineOf(
  session: Session,
  row: ScheduleRow,
  { at: asked, before = TIMELINE_DEFAULTS.before, after = TIMELINE_DEFAULTS.after }: TimelineOptions,
  now: Instant,
): Promise<Timeline> {
  const at = asked === undefined ? now : readAt(row, asked)
  const from = (await reach(session, row, 'previous', { at, count: before })) ?? at
  const last = await reach(session, row, 'next', { at, count: after })
  const to = last === undefined ? at : last + 1
  const ledger = from < to ? await ledgerOf(session, row, { from, to }, now) : []
  const middle = ledger.findIndex(({ planTime }) => planTime.getTime() >= at)
  const [past, coming] = middle < 0 ? [ledger, []] : [ledger.slice(0, middle), ledger.slice(middle)]
  const occurrences = [...nearest(past.reverse(), before).reverse(), ...nearest(coming, after)]
  const first = occurrences[0]?.planTime.getTime() ?? at
  const end = occurrences.at(-1)?.planTime.getTime()
  return {
    now: new Date(now),
    occurrences,
    hasEarlier: (await reach(session, row, 'previous', { at: Math.min(first, at), count: 1 })) !== undefined,
    hasLater:
      (await reach(session, row, 'next', {
        at: end === undefined ? at : Math.max(end + 1, at),
        count: 1,
      })) !== undefined,
  }
}

function readAt({ timing }: ScheduleRow, at: InstantInput): Instant {
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  return readOrThrow('option_invalid', (report) => readAnchor(at, zone, 'at', report))
}

/** Whole plan times from the beginning of a list, as long as they are no more than so many; but the first one. */
function nearest(occurrences: readonly Occurrence[], count: number): Occurrence[] {
  if (count === 0) return []
  const timeOf = (index: number) => occurrences[index]?.planTime.getTime()
  let end = 0
  for (let next = 1; next <= occurrences.length; next++) {
    if (timeOf(next) === timeOf(next - 1)) continue
    if (end > 0 && next > count) break
    end = next
  }
  return occurrences.slice(0, end)
}

interface Reach {
  at: Instant
  count: number
}

/**
 * The plan time up to which there are so many occurrences; of the last one where there are fewer, and undefined where there
 * is none.
 */
async function reach(
  session: Session,
  row: ScheduleRow,
  direction: Direction,
  { at, count }: Reach,
): Promise<Instant | undefined> {
  if (count === 0) return undefined
  const isDecidedThere = direction === 'previous' || at <= row.decided_through.getTime()
  const sources = [
    isDecidedThere ? await runTimes(session, row, direction, { at, count }) : [],
    isDecidedThere ? await skipTimes(session, row, direction, { at, count }) : [],
    undecidedTimes(row, direction, { at, count }),
  ]
  const nearer = byDistance(direction)
  const enough = sources.filter(({ length }) => length >= count).map((times) => times[count - 1]!)
  return enough.length > 0 ? enough.sort(nearer)[0] : sources.flat().sort(nearer).at(-1)
}

const byDistance = (direction: Direction) =>
  direction === 'next' ? (a: Instant, b: Instant) => a - b : (a: Instant, b: Instant) => b - a

async function runTimes(
  session: Session,
  { id }: ScheduleRow,
  direction: Direction,
  { at, count }: Reach,
): Promise<Instant[]> {
  const list = direction === 'next' ? listRunTimesFrom : listRunTimesBefore
  return (await list(session, id, { at, limit: count })).map(({ plan_time }) => plan_time.getTime())
}

/** Of skipped ranges, each expanded by the timing of its version and no further than counts. */
async function skipTimes(
  session: Session,
  row: ScheduleRow,
  direction: Direction,
  { at, count }: Reach,
): Promise<Instant[]> {
  const ranges =
    direction === 'next'
      ? await listSkipDispositions(session, row.id, {
          from: at,
          to: LAST_INSTANT,
          after: undefined,
          limit: count,
        })
      : await listSkipsBefore(session, row.id, { at, limit: count })
  const versions: Versions = new Map()
  await addVersions(session, row, new Set(ranges.map(({ schedule_version }) => schedule_version)), versions)
  const nearer = byDistance(direction)
  let times: Instant[] = []
  for (const { schedule_version, ...range } of ranges) {
    const { grid } = versions.get(schedule_version)!
    const [first, last] = [range.first_plan_time.getTime(), range.last_plan_time.getTime()]
    const furthest = times.length < count ? undefined : times[count - 1]!
    // Its ends are plan times whatever newer zone data say.
    let time: Instant | null =
      direction === 'next'
        ? first >= at
          ? first
          : (grid.next(at - 1) ?? last)
        : last < at
          ? last
          : (grid.previous(at) ?? first)
    for (let taken = 0; taken < count && time !== null && time >= first && time <= last; taken++) {
      if (furthest !== undefined && nearer(furthest, time) <= 0) break
      times.push(time)
      time = grid[direction](time)
    }
    times = times.sort(nearer).slice(0, count)
  }
  return times
}

/** What lies after `decided_through`, once for each scope. */
function undecidedTimes(row: ScheduleRow, direction: Direction, { at, count }: Reach): Instant[] {
  if (row.state === 'finished') return []
  const grid = gridOf(toPlannable(row))
  const beforeAll = Math.max(row.decided_through.getTime(), beforeFirst(row.timing, row.start_at.getTime()))
  const scopes = row.scopes?.length ?? 1
  const times: Instant[] = []
  let time = direction === 'next' ? grid.next(Math.max(at - 1, beforeAll)) : grid.previous(at)
  while (time !== null && time > beforeAll && times.length < count) {
    times.push(...Array<Instant>(scopes).fill(time))
    time = grid[direction](time)
  }
  return times
}
