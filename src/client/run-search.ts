import type { Run, RunState, RunTrigger } from '../runs/run.js'
import { isUuid } from '../runs/uuid.js'
import { FIRST_ID } from '../store/queries/ledger.js'
import {
  findInStates,
  listGroupIds,
  lookByEnd,
  lookByTime,
  lookInSchedules,
  type PlacedRun,
  type RunFilter,
  type RunPosition,
} from '../store/queries/run-search.js'
import { toRun } from '../store/rows.js'
import type { Store } from '../store/store.js'
import { FIRST_INSTANT, type InstantInput, LAST_INSTANT, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { listOf } from './own-group.js'
import {
  type Filter,
  fillPage,
  firstLook,
  LAST_LOOK,
  LAST_SCATTERED_LOOK,
  type LookFrom,
  readToken,
  SECOND_LOOK,
  writeToken,
} from './paging.js'
import type { VerbParts } from './verb.js'

/** What `runs.search` takes. */
export interface RunSearchOptions {
  /** One state, or any of several. */
  state?: RunState | readonly RunState[]
  /** Those of this job. */
  job?: string
  /** Those of this queue. */
  queue?: string
  /** The name of a schedule. */
  schedule?: string
  /** The id of a schedule: its runs are there when it is deleted, and its name is not. */
  scheduleId?: string
  /** Those that this asked for. */
  trigger?: RunTrigger
  /** Only those whose time is this or later. */
  from?: InstantInput
  /** Only those whose time is before this. */
  to?: InstantInput
  /**
   * At most 1,000.
   * @default 100
   */
  limit?: number
  /** The `nextPageToken` of the page before, with the same filter. */
  pageToken?: string
}

export interface RunPage {
  runs: Run[]
  /** Gives the next page; null where there is none. */
  nextPageToken: string | null
}

export const RUN_SEARCH_DEFAULTS = { limit: 100 } satisfies RunSearchOptions

/** `scheduleId` is that of the schedule that is named, where one is. */
export async function searchRuns(
  parts: VerbParts,
  options: RunSearchOptions,
  scheduleId: string | undefined,
): Promise<RunPage> {
  const { limit = RUN_SEARCH_DEFAULTS.limit, pageToken, state, from, to, ...given } = options
  const states = state === undefined ? undefined : [...new Set([state].flat())].sort()
  const { store, group } = parts
  const { filter, before, list } = readOrThrow('option_invalid', (report) => {
    const since = from === undefined ? undefined : readInstant(from, 'from', report)
    const until = to === undefined ? undefined : readInstant(to, 'to', report)
    const list = { list: listOf(parts, 'runs'), filter: { ...given, states, since, until } as Filter }
    const filter: RunFilter = { ...given, states, group, from: since }
    const begin = until === undefined ? null : { at: until, id: FIRST_ID }
    const before = pageToken === undefined ? begin : readToken(pageToken, list, toPosition, report)
    return before === undefined ? undefined : { filter, before, list }
  })
  const { rows, next } = await fillPage<PlacedRun, RunPosition | null>({
    limit,
    from: before,
    looks: await looksAt(store, { filter, scheduleId, limit }),
    positionOf: ({ at, id }) => ({ at: at.getTime(), id }),
  })
  return {
    runs: rows.map((row) => toRun(row, row)),
    nextPageToken: next === null ? null : writeToken(list, [String(next.at), next.id]),
  }
}

function toPosition([at, id, ...more]: readonly string[]): RunPosition | undefined {
  const position = { at: Number(at), id: id ?? '' }
  const isPlace = position.at >= FIRST_INSTANT && position.at <= LAST_INSTANT && isUuid(id)
  return isPlace && Number.isInteger(position.at) && more.length === 0 ? position : undefined
}

type RunLookFrom = LookFrom<PlacedRun, RunPosition | null>

/** Schedules of a group whose runs are read from the history of each: of a larger one, all runs are looked through. */
const MOST_MEMBERS = 2_000
/** Of each of them, at least so many. */
const LEAST_OF_EACH = 5
/** As many in the states that are asked for as are found and sorted in a moment. */
const FEW_IN_STATES = 10_000

async function looksAt(
  store: Store,
  { filter, scheduleId, limit }: { filter: RunFilter; scheduleId: string | undefined; limit: number },
): Promise<RunLookFrom[]> {
  const { group, states } = filter
  const members = scheduleId !== undefined ? [scheduleId] : await membersOf(store, group)
  const isByEnd = scheduleId === undefined && group === undefined && states?.every(isEnd)
  const sized = (size: number): RunLookFrom => {
    if (isByEnd) return (before, most) => lookByEnd(store, filter, { before, size, limit: most })
    if (members === null) return (before, most) => lookByTime(store, filter, { before, size, limit: most })
    const ofEach = Math.max(Math.ceil(size / Math.max(members.length, 1)), LEAST_OF_EACH)
    return (before, most) => lookInSchedules(store, members, filter, { before, size: ofEach, limit: most })
  }
  if (isIndexed(filter, isByEnd === true)) return [sized(limit + 1)]
  // Runs lie in the order in which they were asked for; those of a schedule, or of a state, lie among all others.
  const isTogether = members === null && !isByEnd
  const nearby = sized(firstLook(limit))
  const further = [sized(SECOND_LOOK), sized(isTogether ? LAST_LOOK : LAST_SCATTERED_LOOK)]
  if (isByEnd || states === undefined) return [nearby, ...further]
  // What is in a state that few are in may have waited for long.
  const inStates: RunLookFrom = async (before, most) => {
    const rows = await findInStates(store, scheduleId, filter, { before, size: FEW_IN_STATES, limit: most })
    return rows && { rows, end: null }
  }
  return [nearby, inStates, ...further]
}

async function membersOf(store: Store, group: string | undefined): Promise<string[] | null> {
  if (group === undefined) return null
  const ids = await listGroupIds(store, group, MOST_MEMBERS + 1)
  return ids.length > MOST_MEMBERS ? null : ids
}

function isEnd(state: RunState): boolean {
  return state !== 'pending' && state !== 'running' && state !== 'retrying'
}

/** Whether the index that is looked at holds nothing else. */
function isIndexed({ states, job, queue, trigger, group }: RunFilter, isByEnd: boolean): boolean {
  const others = [job, queue, trigger, group, isByEnd ? undefined : states]
  return others.every((value) => value === undefined)
}
