import { beforeAll, describe, expect, it } from 'vitest'
import { wordsOf as readWords } from '../../src/client/searching.js'
import { every, type RunSearchOptions, type ScheduleState, type SearchOptions } from '../../src/index.js'
import type { Param } from '../../src/store/database.js'
import {
  findInStates,
  lookByEnd,
  lookByTime,
  lookInSchedules,
  type RunFilter,
} from '../../src/store/queries/run-search.js'
import {
  countSchedules,
  findByWords,
  lookForSchedules,
  type SearchFilter,
} from '../../src/store/queries/schedule-search.js'
import type { Session } from '../../src/store/store.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

const NOW = new Date('2026-03-01T12:00:30Z')
const COUNT = 6_000
const schema = freshSchemaName()
const query = async <Row>(text: string, params?: readonly Param[]) =>
  (await sharedDatabase()).query<Row>(text.replaceAll('{schema}', `"${schema}"`), params)
const session: Session = { now: () => NOW, query }
let h: Harness
let schedules: {
  id: string
  name: string
  job: string
  group: string | null
  state: string
  description: string
}[]
let runs: { id: string; at: Date; ended: Date | null; state: string; job: string; schedule: string | null }[]

/** Thousands of schedules, and a run of each: what is asked for is a few of them, or many that lie far behind. */
beforeAll(async () => {
  h = await createHarness({ database: await sharedDatabase(), schema, at: NOW })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('template', { job: 'noop', timing: every('1 hour') })
  await query(
    `insert into {schema}.schedules (id, name, version, job, input, queue, priority, "group", timing, policies, start_at,
       source, state, state_since, ledger_from, created_at, updated_at, description)
     select gen_random_uuid(), case when n > 5500 then 'late:' else 'early:' end || lpad(n::text, 5, '0'), 1,
       case when n % 2 = 0 then 'even' else 'odd' end, 'null', 'default', 0,
       case when n % 2000 = 0 then 'Small Group' when n % 2 = 0 then 'large' end, timing, policies, start_at,
       case when n % 1000 = 0 then 'code' end,
       case when n % 1000 = 1 then 'broken' when n % 2 = 0 then 'paused' else 'active' end, state_since,
       ledger_from, created_at, updated_at,
       'Number ' || n || case when n = 5999 then ' of Türkiye and 東京' when n % 3000 = 0 then ', (weekly)' when n > 5800 then ' of the late ones' else '' end
     from {schema}.schedules, generate_series(1, $1::int) as n`,
    [COUNT],
  )
  await query(
    `insert into {schema}.cursors (schedule_id, version, kind, next_at, decided_through)
     select id, 1, 'every', '2030-01-01', '2026-01-01' from {schema}.schedules where name <> 'template'`,
  )
  await query(
    `insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
       priority, created_at)
     select gen_random_uuid(), case when n % 10 > 0 then s.id end, case when n % 10 > 0 then 'global' end,
       case when n % 10 > 0 then at end, 1, case when n % 10 > 0 then 'scheduled' else 'direct' end, s.job, 'null', 'default', 0,
       case when n % 10 > 0 then timestamptz '2026-02-28Z' else at end
     from (
       select s.id, s.job, n, timestamptz '2026-02-01Z' + n / 2 * interval '1 second' as at
       from {schema}.schedules as s cross join lateral (select substring(s.name from '\\d+$')::int as n) as numbered
       where s.name <> 'template'
     ) as s`,
  )
  await query(
    `insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, lease_token,
       lease_expires_at, worker_id, max_attempts, fails_when_stale)
     select id, schedule_id, scope, job, queue, priority, coalesce(early, 'pending'), at, case when early = 'running' then id end,
       case when early = 'running' then timestamptz '2030-01-01' end, case when early = 'running' then id end,
       case when early = 'running' then 1 end, case when early = 'running' then false end
     from (
       select r.*, coalesce(plan_time, created_at) as at,
         (array['running', 'retrying'])[row_number() over (order by plan_time, id) % 100] as early
       from {schema}.runs_asked as r where coalesce(plan_time, created_at) < '2026-02-01T00:15:00Z'
     ) as oldest`,
  )
  await query(
    `insert into {schema}.runs_ended (id, state, eligible_at, attempt, finished_at)
     select r.id, case when row_number() over (order by r.id) % 100 = 0 then 'failed' else 'succeeded' end,
       coalesce(plan_time, created_at), 1,
       timestamptz '2026-02-20Z' + row_number() over (order by r.id) / 3 * interval '1 second'
     from {schema}.runs_asked as r where not exists (select from {schema}.runs_open as o where o.id = r.id)`,
  )
  for (const table of ['schedules', 'schedule_words', 'cursors', 'runs_asked', 'runs_open', 'runs_ended']) {
    await query(`vacuum analyze {schema}.${table}`)
  }
  schedules = await query('select id, name, job, "group", state, description from {schema}.schedules')
  runs = await query(
    `select r.id, coalesce(r.plan_time, r.created_at) as at, r.finished_at as ended, r.state, r.job, s.name as schedule
     from {schema}.runs as r left join {schema}.schedules as s on s.id = r.schedule_id`,
  )
  return async () => {
    await query('drop schema {schema} cascade')
    await h.close()
  }
})

interface Plan {
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** How many rows a statement read from tables, and by which indexes. */
async function readBy(ask: (session: Session) => Promise<unknown>) {
  let rows = 0
  const indexes = new Set<string>()
  const visit = (plan: Plan): void => {
    const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan
    if (plan['Relation Name']) rows += (plan['Actual Rows'] + filtered + rechecked) * plan['Actual Loops']
    if (plan['Index Name'] && plan['Actual Loops'] > 0) indexes.add(plan['Index Name'])
    plan.Plans?.forEach(visit)
  }
  await ask({
    now: () => NOW,
    async query<Row>(text: string, params?: readonly Param[]) {
      const [row] = await query<Record<string, unknown>>(`explain (analyze, format json) ${text}`, params)
      const explained = row!['QUERY PLAN'] as string | [{ Plan: Plan }]
      visit((typeof explained === 'string' ? JSON.parse(explained) : explained)[0].Plan)
      return query<Row>(text, params)
    },
  })
  return { rows, indexes: [...indexes] }
}

const page = { from: '', until: null, size: 101, limit: 101 }
const look = { before: null, size: 101, limit: 101 }

describe('a page reads little more than itself', () => {
  it.each<[string, SearchFilter]>([
    ['schedules_name_is_unique', { words: [] }],
    ['schedules_by_state', { words: [], state: 'broken' }],
    ['schedules_by_group', { words: [], group: 'Small Group' }],
    ['schedules_by_group_and_state', { words: [], group: 'Small Group', state: 'paused', job: 'odd' }],
    ['schedules_by_job_and_state', { words: [], job: 'odd', state: 'broken' }],
    ['schedules_by_source', { words: [], source: 'code' }],
    ['schedules_name_is_unique', { words: ['nothing'] }],
  ])('of schedules, by %s', async (index, filter) => {
    const { rows, indexes } = await readBy((session) => lookForSchedules(session, filter, page))
    expect(indexes).toContain(index)
    // Those that it looks at, and again in full with their cursors.
    expect(rows).toBeLessThanOrEqual(3 * 101)
  })

  it('of schedules that have a word, by the index of words', async () => {
    const beyond = { from: 'late', except: null, limit: 101, size: 101 }
    const { rows, indexes } = await readBy((session) =>
      findByWords(session, { words: ['week', 'NUM'] }, beyond),
    )
    expect(indexes).toContain('schedules_by_words')
    expect(rows).toBeLessThanOrEqual(6)
  })

  it.each<[string, RunFilter]>([
    ['without a filter', {}],
    ['that leaves nothing', { queue: 'nothing' }],
    ['by state', { states: ['failed', 'running'] }],
    ['of a group', { group: 'large' }],
    ['from a time on', { from: Date.parse('2026-02-01T00:45:00Z') }],
  ])('of all runs, %s', async (_, filter) => {
    const { rows, indexes } = await readBy((session) => lookByTime(session, filter, look))
    expect(indexes).toContain('runs_by_time')
    // Those that it looks at with their states or schedules, and again in full.
    expect(rows).toBeLessThanOrEqual(5 * 101)
  })

  it('of the runs of some schedules', async () => {
    const ids = schedules.slice(0, 50).map(({ id }) => id)
    const { rows, indexes } = await readBy((session) => lookInSchedules(session, ids, {}, look))
    expect(indexes).toContain('runs_history')
    expect(rows).toBeLessThanOrEqual(4 * 50)
  })

  it('of runs that have ended, by state', async () => {
    const states = ['failed', 'cancelled'] as const
    const { rows, indexes } = await readBy((session) => lookByEnd(session, { states }, look))
    expect(indexes).toContain('runs_by_age')
    expect(rows).toBeLessThanOrEqual(6 * 101)
  })

  it.each([
    ['running', 'runs_for_recovery'],
    ['retrying', 'runs_retrying'],
    ['failed', 'runs_by_age'],
  ] as const)('of the few runs that are %s', async (state, index) => {
    const few = runs.filter((run) => run.state === state).length
    const { rows, indexes } = await readBy((session) =>
      findInStates(session, undefined, { states: [state] }, { ...look, size: 1_000 }),
    )
    expect(indexes).toContain(index)
    expect(rows).toBeLessThanOrEqual(6 * few)
  })
})

/** All pages, with how many there are. */
async function all<Options, Entry>(
  search: (
    options: Options & { pageToken?: string },
  ) => Promise<{ nextPageToken: string | null; entries: Entry[] }>,
  options: Options,
): Promise<Entry[]> {
  const found: Entry[] = []
  let pageToken: string | null | undefined
  do {
    const { entries, nextPageToken } = await search({ ...options, ...(pageToken && { pageToken }) })
    found.push(...entries)
    pageToken = nextPageToken
  } while (pageToken !== null)
  return found
}

describe('the pages of a long list', () => {
  const wordsOf = ({ name, job, group, description }: (typeof schedules)[number]) =>
    `${name} ${job} ${group ?? ''} ${description}`.toLowerCase().split(/[^a-zü0-9]+/)
  const expected = ({ q = '', ...filter }: SearchOptions) => {
    const asked = q.toLowerCase().match(/[a-z0-9]+/g) ?? []
    const found = schedules.filter(
      (schedule) =>
        Object.entries(filter).every(([key, value]) => schedule[key as 'job'] === value) &&
        asked.every((word) => wordsOf(schedule).some((one) => one.startsWith(word))),
    )
    const names = found.map(({ name }) => name).sort()
    return [...names.filter((name) => name.startsWith(q)), ...names.filter((name) => !name.startsWith(q))]
  }

  it.each<SearchOptions>([
    { q: 'weekly' },
    { q: 'late' },
    { q: 'LATE' },
    { q: 'late:05' },
    { q: 'number 59' },
    { q: 'small' },
    { q: 'nothing' },
    { q: 'ones', state: 'paused' },
    { q: 'even', state: 'broken' },
    { group: 'large', job: 'even', state: 'paused' },
    { group: 'large', job: 'odd' },
    {},
  ])('hold every schedule once that is asked for by %o', async (options) => {
    const search = async (more: SearchOptions) => {
      const { schedules: entries, nextPageToken } = await h.schedules.search({ ...more, limit: 700 })
      return { entries, nextPageToken }
    }
    expect((await all(search, options)).map(({ name }) => name)).toEqual(expected(options))
  })

  it('of a state and a word are found in portions of those that have the word', async () => {
    const wanted = expected({ q: 'late', state: 'paused' })
    const found: string[] = []
    const portions: number[] = []
    for (let from = ''; ; ) {
      const look = { from, except: null, limit: 100, size: 100 }
      const { rows, through } = await findByWords(session, { words: ['LATE'], state: 'paused' }, look)
      found.push(...rows.map(({ name }) => name))
      portions.push(rows.length)
      if (through === null) break
      from = `${through}\u0001`
    }
    expect(found).toEqual(wanted)
    expect(portions.length).toBeGreaterThan(1)
  })

  it.each<ScheduleState[]>([
    ['active'],
    ['active', 'broken'],
    ['paused', 'broken'],
    ['finished'],
    ['active', 'paused', 'broken', 'finished'],
  ])('are counted by states: %s %s', async (...states) => {
    for (const q of ['', 'late', 'even ONES', 'nothing']) {
      for (const more of [{}, { group: 'large' }, { job: 'odd' }]) {
        const wanted = states.flatMap((state) => expected({ q, state, ...more }))
        expect(await countSchedules(session, { words: readWords(q), states, ...more })).toBe(wanted.length)
      }
    }
  })

  it('hold what is asked for in any script', async () => {
    for (const q of ['東', 'Türk 5999']) {
      expect((await h.schedules.search({ q })).schedules.map(({ name }) => name)).toEqual(['late:05999'])
    }
  })

  const inOrder = (options: RunSearchOptions) => {
    const states = [options.state ?? []].flat()
    const isByEnd = states.length > 0 && states.every((state) => state === 'failed' || state === 'succeeded')
    const timeOf = (run: (typeof runs)[number]) =>
      (isByEnd && !options.schedule ? run.ended! : run.at).getTime()
    return runs
      .filter((run) => states.length === 0 || states.includes(run.state as 'failed'))
      .filter((run) => [run.job, undefined].includes(options.job))
      .filter((run) => options.schedule === undefined || run.schedule === options.schedule)
      .filter((run) => options.from === undefined || timeOf(run) >= Date.parse(options.from as string))
      .filter((run) => options.to === undefined || timeOf(run) < Date.parse(options.to as string))
      .sort((a, b) => timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id)
  }

  it.each<RunSearchOptions>([
    {},
    { state: 'failed' },
    { state: ['failed', 'succeeded'], job: 'odd' },
    { state: 'running' },
    { state: ['retrying', 'failed'] },
    { state: ['pending', 'succeeded'], job: 'even' },
    { job: 'nothing' },
    { from: '2026-02-01T00:10:00Z', to: '2026-02-01T00:20:00Z' },
    { from: '2026-02-20T00:10:00Z', to: '2026-02-20T00:20:00Z', state: 'succeeded' },
    { schedule: 'early:00017', state: ['succeeded', 'pending', 'running', 'retrying'] },
  ])('hold every run once that is asked for by %o, newest first', async (options) => {
    const search = async (more: RunSearchOptions) => {
      const { runs: entries, nextPageToken } = await h.runs.search({ ...more, limit: 900 })
      return { entries, nextPageToken }
    }
    expect((await all(search, options)).map(({ id }) => id)).toEqual(inOrder(options))
  })

  it('hold the runs of a group, newest first', async () => {
    for (const group of ['Small Group', 'large']) {
      const { runs: own } = h.escapement.inGroup(group)
      const search = async (more: RunSearchOptions) => {
        const { runs: entries, nextPageToken } = await own.search({ ...more, limit: 300 })
        return { entries, nextPageToken }
      }
      const members = new Set(schedules.filter((one) => one.group === group).map(({ name }) => name))
      const ids = new Set(runs.filter(({ schedule }) => members.has(schedule ?? '')).map(({ id }) => id))
      const expectedIds = inOrder({}).filter((id) => ids.has(id))
      expect((await all(search, {})).map(({ id }) => id)).toEqual(expectedIds)
    }
  })
})
