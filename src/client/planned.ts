import { createBreather } from '../breather.js'
import { isStorable } from '../runs/storable.js'
import { isUuid } from '../runs/uuid.js'
import { FIRST_ID } from '../store/queries/ledger.js'
import { type CandidateRow, lookByWaking, lookInGroup } from '../store/queries/planned-search.js'
import { FIRST_INSTANT, type Instant, type InstantInput, LAST_INSTANT, readInstant } from '../time/instant.js'
import { quote, readOrThrow } from '../time/report.js'
import { compileTiming } from '../time/timing.js'
import { compiledHere } from './forecast-counting.js'
import { isElsewhere, listOf } from './own-group.js'
import {
  type Filter,
  fillPage,
  firstLook,
  type LookFrom,
  readToken,
  SECOND_LOOK,
  writeToken,
} from './paging.js'
import type { VerbParts } from './verb.js'

/** What `schedules.planned` takes. */
export interface PlannedOptions {
  /** Inclusive; what is past is left out. */
  from: InstantInput
  /** Exclusive; at most a day later. */
  to: InstantInput
  /** Only schedules whose runs go into this queue. */
  queue?: string
  /** Only schedules of this group. */
  group?: string
  /**
   * At most 500.
   * @default 100
   */
  limit?: number
  /** The `nextPageToken` of the page before, with the same filter. */
  pageToken?: string
}

/** A schedule that has plan times in a range. */
export interface PlannedSchedule {
  name: string
  job: string
  queue: string
  group: string | null
  firstPlanTime: Date
  /** How many it has there. Of one that begins after a completion only the next is known. */
  planTimes: number
  /** What they ask for: one for each scope. Scopes that a provider gives count as one. */
  runs: number
}

export interface PlannedPage {
  schedules: PlannedSchedule[]
  /** Gives the next page; null where there is none. A page may be short, or empty, and have one. */
  nextPageToken: string | null
}

export const PLANNED_DEFAULTS = { limit: 100 } satisfies Partial<PlannedOptions>

const LONGEST_MS = 86_400_000
/** In plan times, of one page: some hundredths of a second. */
const MOST_WORK = 500_000

interface PlannedFilter {
  from: Instant
  to: Instant
  queue: string | null
  group: string | undefined
}

/** Where the list goes on, as texts: behind a cursor `within` the range or `before` it, or behind a name (`named`) of a group. */
type Position = readonly string[]

interface Candidate {
  row: CandidateRow
  firstPlanTime: Instant
  position: Position
}

export async function plannedSchedules(parts: VerbParts, options: PlannedOptions): Promise<PlannedPage> {
  const { limit = PLANNED_DEFAULTS.limit, pageToken, ...given } = options
  const filter = readFilter(parts, given)
  const start = filter.group === undefined ? ['within', String(filter.from), FIRST_ID] : ['named', '']
  const list = { list: listOf(parts, 'planned'), filter: given as Filter }
  const from = readOrThrow('option_invalid', (report) =>
    pageToken === undefined
      ? start
      : readToken(pageToken, list, (texts) => (isPlace(texts, start) ? texts : undefined), report),
  )
  if (isElsewhere(parts, options)) return { schedules: [], nextPageToken: null }
  const looks = filter.group === undefined ? looksByCursor : looksByName
  const { rows, next } = await fillPage<Candidate, Position>({
    limit,
    from,
    looks: looks(parts, filter, limit),
    positionOf: ({ position }) => position,
  })
  const schedules: PlannedSchedule[] = []
  const breathe = createBreather()
  let work = 0
  for (const candidate of rows) {
    // The rest is the next page's: a page of schedules of every second would take seconds.
    if (work > MOST_WORK) {
      const { position } = rows[schedules.length - 1]!
      return { schedules, nextPageToken: writeToken(list, position) }
    }
    const planned = toPlanned(candidate, filter)
    schedules.push(planned)
    work += planned.planTimes
    await breathe()
  }
  return { schedules, nextPageToken: next === null ? null : writeToken(list, next) }
}

function readFilter(parts: VerbParts, given: Omit<PlannedOptions, 'limit' | 'pageToken'>): PlannedFilter {
  return readOrThrow('option_invalid', (report) => {
    const [from, to] = [readInstant(given.from, 'from', report), readInstant(given.to, 'to', report)]
    if (from === undefined || to === undefined) return undefined
    if (to <= from) report('to', `${quote(given.to)} – must be after "from"`)
    if (to - from > LONGEST_MS) report('to', `${quote(given.to)} – must be at most a day after "from"`)
    return { from, to, queue: given.queue ?? null, group: parts.group ?? given.group }
  })
}

function isPlace([part, ...rest]: readonly string[], [first]: Position): boolean {
  if (first === 'named') return part === 'named' && rest.length === 1 && isStorable(rest[0]!)
  const [at, id] = rest
  return (part === 'within' || part === 'before') && isInstantMs(at) && isUuid(id) && rest.length === 2
}

function isInstantMs(text: string | undefined): boolean {
  return text !== undefined && /^-?\d{1,15}$/.test(text) && Math.abs(Number(text)) <= LAST_INSTANT
}

type Looks = (parts: VerbParts, filter: PlannedFilter, limit: number) => LookFrom<Candidate, Position>[]

/** First those that certainly come in the range, then those that come before it and perhaps again. */
const looksByCursor: Looks = ({ store }, filter, limit) => {
  const look =
    (part: 'within' | 'before', size: number): LookFrom<Candidate, Position> =>
    async ([current, at, id]) => {
      if (current !== part) return null
      const range = {
        after: { at: Number(at), id: id! },
        until: part === 'within' ? filter.to : filter.from,
        size,
      }
      const { rows, through } = await lookByWaking(store, filter.queue, range)
      const next = part === 'within' ? ['before', String(FIRST_INSTANT), FIRST_ID] : null
      return {
        rows: await withPlanTimes(rows, filter, (row) => [part, String(row.wake_at.getTime()), row.id]),
        end: through === null ? next : [part, String(through.at), through.id],
      }
    }
  const sizes = [firstLook(limit), SECOND_LOOK]
  return [...sizes.map((size) => look('within', size)), ...sizes.map((size) => look('before', size))]
}

const looksByName: Looks = ({ store }, { group, ...filter }, limit) => {
  const look =
    (size: number): LookFrom<Candidate, Position> =>
    async ([, after]) => {
      const own = { group: group!, queue: filter.queue }
      const { rows, through } = await lookInGroup(store, own, { after: after!, size })
      return {
        rows: await withPlanTimes(rows, filter, ({ name }) => ['named', name]),
        end: through === null ? null : ['named', through],
      }
    }
  return [look(firstLook(limit)), look(SECOND_LOOK)]
}

interface Span {
  from: Instant
  to: Instant
}

async function withPlanTimes(
  rows: readonly CandidateRow[],
  range: Span,
  positionOf: (row: CandidateRow) => Position,
): Promise<Candidate[]> {
  const breathe = createBreather()
  const found: Candidate[] = []
  for (const row of rows) {
    const firstPlanTime = firstIn(row, spanOf(row, range))
    if (firstPlanTime !== null) found.push({ row, firstPlanTime, position: positionOf(row) })
    await breathe()
  }
  return found
}

function spanOf({ begins_at, until_at }: CandidateRow, { from, to }: Span): Span {
  return { from: Math.max(from, begins_at.getTime()), to: Math.min(to, until_at?.getTime() ?? to) }
}

function firstIn({ timing, next_at }: CandidateRow, { from, to }: Span): Instant | null {
  const waiting = next_at === null || next_at.getTime() < from ? null : next_at.getTime()
  const first = timing.kind === 'after' ? waiting : (compiledHere(timing)?.next(from - 1) ?? null)
  return first !== null && first < to ? first : null
}

function toPlanned({ row, firstPlanTime }: Candidate, range: Span): PlannedSchedule {
  const { name, job, queue, group, timing, scopes } = row
  const { to } = spanOf(row, range)
  const planTimes =
    timing.kind === 'after' ? 1 : compileTiming(timing).between(firstPlanTime, to, LONGEST_MS).length
  return {
    name,
    job,
    queue,
    group,
    firstPlanTime: new Date(firstPlanTime),
    planTimes,
    runs: planTimes * scopes,
  }
}
