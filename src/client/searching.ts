import type { Schedule, ScheduleState } from '../schedules/schedule.js'
import {
  findByWords,
  isIndexed,
  lookForSchedules,
  type SearchFilter,
} from '../store/queries/schedule-search.js'
import { type ScheduleRow, toSchedule } from '../store/rows.js'
import { readOrThrow } from '../time/report.js'
import {
  type Filter,
  fillPage,
  firstLook,
  LAST_LOOK,
  type LookFrom,
  readToken,
  SECOND_LOOK,
  writeToken,
} from './paging.js'
import type { VerbParts } from './verb.js'

export interface SearchOptions {
  state?: ScheduleState
  group?: string
  job?: string
  /** Of a sync of this source. */
  source?: string
  /**
   * Words, or beginnings of words, of the name, the job, the group and the first 500 characters of the description: all of
   * them, in any order, in capitals or not. What is neither letter nor digit separates words.
   */
  q?: string
  /**
   * At most 1,000.
   * @default 100
   */
  limit?: number
  /** The `nextPageToken` of the page before, with the same filter. */
  pageToken?: string
}

export interface SchedulePage {
  schedules: Schedule[]
  /** Gives the next page; null where there is none. */
  nextPageToken: string | null
}

export const SEARCH_DEFAULTS = { limit: 100 } satisfies SearchOptions

export async function searchSchedules(parts: VerbParts, options: SearchOptions): Promise<SchedulePage> {
  const { limit = SEARCH_DEFAULTS.limit, pageToken, ...given } = options
  const list = { list: listOf(parts, 'schedules'), filter: given as Filter }
  const [after] = readOrThrow('option_invalid', (report) =>
    pageToken === undefined ? [''] : readToken(pageToken, { ...list, report }),
  ) as [string]
  if (isElsewhere(parts, given)) return { schedules: [], nextPageToken: null }
  const filter = { ...given, group: parts.group ?? given.group, words: wordsOf(given.q ?? '') }
  const { rows, next } = await fillPage<ScheduleRow, string>({
    limit,
    from: after,
    looks: looksAt(parts, filter, limit),
    positionOf: ({ name }) => name,
  })
  return {
    schedules: rows.map(toSchedule),
    nextPageToken: next === null ? null : writeToken(list.list, list.filter, [next]),
  }
}

/** Tokens of one group's lists are none of another's. */
export function listOf({ group }: VerbParts, list: string): string {
  return group === undefined ? list : `${list} of ${group}`
}

/** Whether a filter asks for another group than the one that its caller is limited to. */
export function isElsewhere({ group: own }: VerbParts, { group }: { group?: string }): boolean {
  return own !== undefined && group !== undefined && group !== own
}

function looksAt({ store }: VerbParts, filter: SearchFilter, limit: number): LookFrom<ScheduleRow, string>[] {
  const byName =
    (size: number): LookFrom<ScheduleRow, string> =>
    async (after, most) => {
      const { rows, through } = await lookForSchedules(store, filter, { after, size, limit: most })
      return { rows, end: through }
    }
  if (isIndexed(filter)) return [byName(limit + 1)]
  const nearby = [byName(firstLook(limit)), byName(SECOND_LOOK)]
  if (filter.words.length === 0) return [...nearby, byName(LAST_LOOK)]
  // What many schedules have is found nearby; what few have, by the index of words.
  const byWords: LookFrom<ScheduleRow, string> = async (after, most) => {
    const rows = await findByWords(store, filter, { after, limit: most })
    return rows && { rows, end: null }
  }
  return [...nearby, byWords, byName(LAST_LOOK)]
}

/** As the store separates them. */
function wordsOf(q: string): string[] {
  return [...new Set(q.split(/[\t-\r -/:-@[-`{-~]+/).filter((word) => word !== ''))]
}
