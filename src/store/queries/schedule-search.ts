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
/** Cut, since neither an index nor a word in it may be of any length. */
const TEXT = `lower((s.name || ' ' || left(s.job, 200) || ' ' || coalesce(s."group", '') || ' ' ||
  coalesce(left(s.description, 500), '')) collate "default") collate "C"`
/** As the index `schedules_by_words` has them. */
const WORDS = `array_to_tsvector(array_remove(regexp_split_to_array(${TEXT}, '${BETWEEN_WORDS}'), ''))`

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
     select s.*, looked.through
     from (select case when count(*) = $2 then max(name) end as through from w) as looked
     left join found on true
     left join lateral ${ALL_OF_IT} on true
     order by found.name`,
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
  select from {schema}.schedules as s where ${WORDS} @@ lower($1 collate "default")::tsquery`

/**
 * The first `limit` schedules that the filter asks for, from the name `from` on and not in the range `except`, of those that have
 * its words: all of those are read.
 */
export async function findByWords(
  session: Session,
  filter: SearchFilter,
  { from, except, limit }: { from: string; except: NameRange | null; limit: number },
): Promise<ScheduleRow[]> {
  const labels = LABELS.filter((label) => filter[label] !== undefined)
  const rows = await session.query<ScheduleRow>(findByWordsSql(labels), [
    from,
    limit,
    except?.from ?? null,
    except?.until ?? null,
    queryOf(filter.words),
    ...labels.map((label) => filter[label]!),
  ])
  return rows.filter(isThere)
}

const LABELS = ['state', 'group', 'job', 'source'] as const

// Where the bitmap of what was found does not fit into memory, it holds pages instead of rows, and each row of those is
// split into words again: seconds instead of a tenth of one. The memory is set before it is needed, by the query that
// the index is asked. `offset 0` keeps the order of names out of it: by their index every schedule would be split into words.
// Only what is asked for is taken out of the rows: to take out all labels of 100,000 takes a quarter of the time.
function findByWordsSql(labels: readonly (typeof LABELS)[number][]): string {
  return `
  with found as materialized (
    select w.id, w.name
    from (
      select s.id, s.name${labels.map((label) => `, s."${label}"`).join('')}
      from {schema}.schedules as s
      where ${WORDS} @@ (
        select case when set_config('work_mem', '64MB', true) <> '' then lower($5 collate "default")::tsquery end
      )
      offset 0
    ) as w
    where w.name >= $1 and ($3::text is null or w.name < $3 or w.name >= $4)
      ${labels.map((label, index) => `and w."${label}" = $${index + 6}`).join(' ')}
    order by w.name limit $2
  )
  select s.* from found cross join lateral ${ALL_OF_IT}
  order by found.name`
}

/** All that the filter finds in one of the states, however many. */
export async function countSchedules(
  session: Session,
  { words, group, job, source, states }: Omit<SearchFilter, 'state'> & { states: readonly string[] },
): Promise<number> {
  const labels = [states, group ?? null, job ?? null, source ?? null]
  const [row] =
    words.length === 0
      ? await session.query<{ count: number }>(COUNT, labels)
      : await session.query<{ count: number }>(`${COUNT} and ${HAS_WORDS}`, [...labels, queryOf(words)])
  return row!.count
}

const COUNT = `
  select count(*)::int as count from {schema}.schedules as s
  where s.state = any ($1) and ($2::text is null or s."group" = $2) and ($3::text is null or s.job = $3)
    and ($4::text is null or s.source = $4)`

const HAS_WORDS = `${WORDS} @@ (
  select case when set_config('work_mem', '64MB', true) <> '' then lower($5 collate "default")::tsquery end
)`

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
