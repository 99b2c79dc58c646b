/**
 * Pages of schedules. The index of words knows no order, and the indexes that give the order of names know no words: so a
 * look takes in a bounded part of the names, and only what is not found in that is looked for by its words.
 */
import type { ScheduleState } from '../../schedules/schedule.js'
import { SCHEDULE_COLUMNS, type ScheduleRow } from '../rows.js'
import type { Session } from '../store.js'

export interface SearchFilter {
  state?: ScheduleState | undefined
  group?: string | undefined
  job?: string | undefined
  source?: string | undefined
  /** Beginnings of words, all of which must be there. */
  words: readonly string[]
}

/** Names from `from` on, up to `until`, which is not among them; null for the last. */
export interface NameRange {
  from: string
  until: string | null
}

/** What separates words: all of ASCII that is neither letter nor digit. */
const BETWEEN_WORDS = '[\\t-\\r -/:-@[-`{-~]+'
/** What the words are of, as `words_of` in the schema has it. */
const TEXT = `lower((s.name || ' ' || left(s.job, 200) || ' ' || coalesce(s."group", '') || ' ' ||
  coalesce(left(s.description, 500), '')) collate "default") collate "C"`

/** One for each index that gives a filter in the order of names. */
const PATHS = {
  name: 'true',
  state: 's.state = $4',
  group: 's."group" = $5',
  groupAndState: 's."group" = $5 and s.state = $4',
  job: 's.job = $6',
  jobAndState: 's.job = $6 and s.state = $4',
  source: 's.source = $7',
}

function pathOf({ state, group, job, source }: SearchFilter): keyof typeof PATHS {
  if (group !== undefined) return state === undefined ? 'group' : 'groupAndState'
  if (job !== undefined) return state === undefined ? 'job' : 'jobAndState'
  if (source !== undefined) return 'source'
  return state === undefined ? 'name' : 'state'
}

/** Whether one index holds exactly what the filter asks for, but for the words. */
export function isIndexed({ state, group, job, source }: SearchFilter): boolean {
  const labels = [group, job, source].filter((label) => label !== undefined).length
  return labels <= 1 && (source === undefined || state === undefined)
}

const IS_WANTED = `($4::text is null or w.state = $4) and ($5::text is null or w."group" = $5)
  and ($6::text is null or w.job = $6) and ($7::text is null or w.source = $7)`

/** In small letters as the database makes them, which may know fewer than we do. */
const PATTERNS = `(select array_agg(lower(pattern collate "default")) from unnest($8::text[]) as pattern)::text[]`

/** One by one: however the planner takes it, no page reads all schedules. */
const ALL_OF_IT = `(
  select ${SCHEDULE_COLUMNS} from {schema}.schedules as s left join {schema}.cursors as c on c.schedule_id = s.id
  where s.id = found.id limit 1
) as s`

/** With the name that was looked at last, where there may be more. */
const FOUND_IN_FULL = `
  select s.*, looked.through
  from (select case when count(*) = $2 then max(name) end as through from w) as looked
  left join found on true
  left join lateral ${ALL_OF_IT} on true
  order by found.name`

const LOOKS = Object.fromEntries(
  Object.entries(PATHS).map(([path, condition]) => [
    path,
    `with w as materialized (
       select s.id, s.name, s.state, s."group", s.job, s.source, case when cardinality($8::text[]) > 0 then ${TEXT} end as text
       from {schema}.schedules as s
       where ${condition} and s.name >= $1 and s.name < coalesce($9, '~') order by s.name limit $2
     ),
     found as materialized (
       select w.id, w.name from w where ${IS_WANTED} and (cardinality($8) = 0 or w.text ~ all (${PATTERNS}))
       order by w.name limit $3
     )
     ${FOUND_IN_FULL}`,
  ]),
) as Record<keyof typeof PATHS, string>

export interface SchedulesFound {
  rows: ScheduleRow[]
  /** The last name that was looked at; null where there were no more in the range. */
  through: string | null
}

/**
 * Looks at the first `size` schedules in a range of names, of those that an index gives in that order, and gives the first
 * `limit` of them that the filter asks for.
 */
export async function lookForSchedules(
  session: Session,
  filter: SearchFilter,
  { from, until, size, limit }: NameRange & { size: number; limit: number },
): Promise<SchedulesFound> {
  const rows = await session.query<ScheduleRow & { through: string | null }>(LOOKS[pathOf(filter)], [
    from,
    size,
    limit,
    ...labelsOf(filter),
    filter.words.map((word) => `(^|${BETWEEN_WORDS})${word}`),
    until,
  ])
  return { rows: rows.filter(isThere), through: rows[0]!.through }
}

/** How many schedules have the words, as the server expects: to count them would take as long as to find them. */
export async function expectByWords(session: Session, words: readonly string[]): Promise<number> {
  const [row] = await session.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(EXPECT_BY_WORDS, [
    queryOf(words),
  ])
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}

const EXPECT_BY_WORDS = `explain (format json)
  select from {schema}.schedule_words as w where w.words @@ lower($1 collate "default")::tsquery`

/**
 * The first `limit` schedules that the filter asks for, from the name `from` on and not in the range `except`, of those that have
 * its words: all of those are read. Of a state it looks at the first `size` of them.
 */
export async function findByWords(
  session: Session,
  filter: SearchFilter,
  { from, except, limit, size }: { from: string; except: NameRange | null; limit: number; size: number },
): Promise<SchedulesFound> {
  const rows = await session.query<ScheduleRow & { through: string | null }>(FIND_BY_WORDS, [
    from,
    filter.state === undefined ? limit : size,
    limit,
    ...labelsOf(filter),
    queryOf(filter.words),
    except?.from ?? null,
    except?.until ?? null,
  ])
  return { rows: rows.filter(isThere), through: rows[0]!.through }
}

// Where the bitmap of what was found does not fit into memory, it holds pages instead of rows, and the words of every row of
// those are looked through. The memory is set before it is needed, by the query that the index is asked.
const hasWords = (param: string) => `w.words @@ (
  select case when set_config('work_mem', '64MB', true) <> '' then lower(${param} collate "default")::tsquery end
)`

const FIND_BY_WORDS = `
  with w as materialized (
    select w.schedule_id as id, w.name
    from {schema}.schedule_words as w
    where ${hasWords('$8')} and ($5::text is null or w."group" = $5) and ($6::text is null or w.job = $6)
      and ($7::text is null or w.source = $7) and w.name >= $1 and ($9::text is null or w.name < $9 or w.name >= $10)
    order by w.name limit $2
  ),
  found as materialized (
    select w.id, w.name
    from w left join lateral (select s.state from {schema}.schedules as s where s.id = w.id limit 1) as s on $4::text is not null
    where $4 is null or s.state = $4
    order by w.name limit $3
  )
  ${FOUND_IN_FULL}`

/** All that the filter finds in one of the states, however many. */
export async function countSchedules(
  session: Session,
  { words, group, job, source, states }: Omit<SearchFilter, 'state'> & { states: readonly ScheduleState[] },
): Promise<number> {
  const labels = [group ?? null, job ?? null, source ?? null]
  if (words.length === 0) {
    const [row] = await session.query<{ count: number }>(`${COUNT_IN.schedules} and w.state = any ($4)`, [
      ...labels,
      states,
    ])
    return row!.count
  }
  // Most schedules are active: the others are fewer names to compare with.
  const isOf = !states.includes('active')
  const [row] = await session.query<{ count: number }>(
    `${COUNT_IN.schedule_words} and ${hasWords('$5')}
       and ${isOf ? '' : 'not '}exists (select from {schema}.schedules as s where s.name = w.name and s.state = any ($4))`,
    [...labels, isOf ? states : STATES.filter((state) => !states.includes(state)), queryOf(words)],
  )
  return row!.count
}

const STATES: readonly ScheduleState[] = ['active', 'paused', 'broken', 'finished']

const countIn = (table: string) => `
  select count(*)::int as count from {schema}.${table} as w
  where ($1::text is null or w."group" = $1) and ($2::text is null or w.job = $2) and ($3::text is null or w.source = $3)`

const COUNT_IN = { schedules: countIn('schedules'), schedule_words: countIn('schedule_words') }

/** Beginnings of all of these. */
function queryOf(words: readonly string[]): string {
  return words.map((word) => `'${word}':*`).join(' & ')
}

function labelsOf({ state, group, job, source }: SearchFilter) {
  return [state ?? null, group ?? null, job ?? null, source ?? null]
}

/** Not the row that stands for none, and not a schedule whose cursor is lost: that is damage, and reconciling mends it. */
function isThere(row: ScheduleRow): boolean {
  return row.id !== null && row.cursor_version !== null
}
