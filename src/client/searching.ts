import { isStorable } from '../runs/storable.js'
import type { Schedule, ScheduleState } from '../schedules/schedule.js'
import {
  expectByWords,
  findByWords,
  isIndexed,
  lookForSchedules,
  type NameRange,
  type SearchFilter,
} from '../store/queries/schedule-search.js'
import { type ScheduleRow, toSchedule } from '../store/rows.js'
import { readOrThrow } from '../time/report.js'
import { isElsewhere, listOf } from './own-group.js'
import {
  type Filter,
  fillPage,
  firstLook,
  LAST_SCATTERED_LOOK,
  type LookFrom,
  readToken,
  SECOND_LOOK,
  writeToken,
} from './paging.js'
import { type RecentOccurrence, readRecent } from './recent.js'
import type { VerbParts } from './verb.js'

/** What `schedules.search` takes. */
export interface SearchOptions {
  /** Those in this state. */
  state?: ScheduleState
  /** Those of this group. */
  group?: string
  /** Those of this job. */
  job?: string
  /** Of a sync of this source. */
  source?: string
  /**
   * Words, or beginnings of words, of the name, the job, the group and the first 500 characters of the description: all of
   * them, in any order, in capitals or not. What is neither letter nor digit separates words. Schedules whose names begin with
   * it come first.
   */
  q?: string
  /**
   * At most 1,000.
   * @default 100
   */
  limit?: number
  /** The `nextPageToken` of the page before, with the same filter. */
  pageToken?: string
  /** With what became of the last so many plan times of each, at most 100. */
  recent?: number
}

/** A schedule as a search gives it. */
export interface FoundSchedule extends Schedule {
  /** Oldest first, where they were asked for. Manual runs are not among them. */
  recent?: RecentOccurrence[]
}

export interface SchedulePage {
  schedules: FoundSchedule[]
  /** Gives the next page; null where there is none. */
  nextPageToken: string | null
}

export const SEARCH_DEFAULTS = { limit: 100 } satisfies SearchOptions

/** Where a list goes on: in the part of the names that has this number, from this name on. */
interface Position {
  part: number
  from: string
}

export async function searchSchedules(parts: VerbParts, options: SearchOptions): Promise<SchedulePage> {
  const { limit = SEARCH_DEFAULTS.limit, pageToken, recent: count, ...given } = options
  const list = { list: listOf(parts, 'schedules'), filter: given as Filter }
  const ranges = rangesOf(given.q ?? '')
  const from = readOrThrow('option_invalid', (report) =>
    pageToken === undefined
      ? { part: 0, from: ranges[0]!.from }
      : readToken(pageToken, list, (texts) => positionIn(ranges, texts), report),
  )
  if (isElsewhere(parts, given)) return { schedules: [], nextPageToken: null }
  const filter = { ...given, group: parts.group ?? given.group, words: wordsOf(given.q ?? '') }
  const { rows, next } = await fillPage<ScheduleRow, Position>({
    limit,
    from,
    looks: ranges.flatMap((_, part) => looksAt(parts, filter, { ranges, part, limit })),
    positionOf: ({ name }) => behind(ranges, name),
  })
  const recent = count === undefined ? undefined : await readRecent(parts, rows, count)
  return {
    schedules: rows.map((row) => ({ ...toSchedule(row), ...(recent && { recent: recent.get(row.id)! }) })),
    nextPageToken: next === null ? null : writeToken(list, [String(next.part), next.from]),
  }
}

function positionIn(ranges: readonly NameRange[], [part, from = '\0', ...more]: readonly string[]) {
  const isPlace = String(Number(part)) === part && ranges[Number(part)] !== undefined
  return isPlace && isStorable(from) && more.length === 0 ? { part: Number(part), from } : undefined
}

const LIKE_A_NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/

/** No name comes between one and the same with this behind it. */
const after = (name: string) => `${name}\u0001`

/** Names that begin with what was typed come first, and then those before and behind them. */
function rangesOf(q: string): NameRange[] {
  const beginning = q.trim()
  if (!LIKE_A_NAME.test(beginning)) return [{ from: '', until: null }]
  // Behind all that a name can go on with.
  const until = `${beginning}~`
  return [
    { from: beginning, until },
    { from: '', until: beginning },
    { from: until, until: null },
  ]
}

function behind(ranges: readonly NameRange[], name: string): Position {
  return { part: ranges.findIndex((range) => isIn(range, name)), from: after(name) }
}

function isIn({ from, until }: NameRange, name: string): boolean {
  return name >= from && (until === null || name < until)
}

/** So few are found by their words as quickly as a look at thousands of names takes. */
const FEW_BY_WORDS = 10_000
/** As many as are found by their words, and sorted, in a moment. */
const MOST_BY_WORDS = 250_000

function looksAt(
  { store }: VerbParts,
  filter: SearchFilter,
  { ranges, part, limit }: { ranges: readonly NameRange[]; part: number; limit: number },
): LookFrom<ScheduleRow, Position>[] {
  const { until } = ranges[part]!
  const next = part + 1 < ranges.length ? { part: part + 1, from: ranges[part + 1]!.from } : null
  // Whoever begins with what was typed has its words.
  const words = part === 0 && ranges.length > 1 ? [] : filter.words
  const byName =
    (size: number): LookFrom<ScheduleRow, Position> =>
    async (position, most) => {
      if (position.part !== part) return null
      const look = { from: position.from, until, size, limit: most }
      const { rows, through } = await lookForSchedules(store, { ...filter, words }, look)
      return { rows, end: through === null ? next : { part, from: after(through) } }
    }
  if (isIndexed(filter) && words.length === 0) return [byName(limit + 1)]
  const [first, second] = [byName(firstLook(limit)), byName(SECOND_LOOK)]
  if (words.length === 0) return [first, second, byName(LAST_SCATTERED_LOOK)]
  // What many schedules have is found nearby, unless not one was; what few have, by the index of words, in all parts that are left.
  let expected: Promise<number> | undefined
  const expect = () => (expected ??= expectByWords(store, words))
  const nearby: LookFrom<ScheduleRow, Position> = async (position, most) =>
    position.part !== part || most === limit || (await expect()) <= FEW_BY_WORDS
      ? null
      : second(position, most)
  const byWords: LookFrom<ScheduleRow, Position> = async (position, most) => {
    if (position.part !== part || (await expect()) > MOST_BY_WORDS) return null
    const except = ranges.length > 1 ? ranges[0]! : null
    const look = { from: position.from, except, limit: most, size: LAST_SCATTERED_LOOK }
    const { rows, through } = await findByWords(store, filter, look)
    return { rows, end: through === null ? null : behind(ranges, through) }
  }
  return [first, nearby, byWords, byName(LAST_SCATTERED_LOOK)]
}

/** As the store separates them. */
export function wordsOf(q: string): string[] {
  return [...new Set(q.split(/[\t-\r -/:-@[-`{-~]+/).filter((word) => word !== ''))]
}
