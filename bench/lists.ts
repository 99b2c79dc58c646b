/**
 * What reading costs among many: pages of schedules and runs by all kinds of filters, one run in full, the overview, and what the
 * table of words costs whoever writes schedules.
 *
 *     npm run bench:lists             1,000,000 schedules, as many ended runs and open ones; about ten minutes
 *     npm run bench:lists -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each figure is a median with the lowest and highest beside it.
 */
import { pathToFileURL } from 'node:url'
import { createOverview } from '../src/client/overview.js'
import { writeToken } from '../src/client/paging.js'
import { assemble } from '../src/escapement.js'
import { type Escapement, every, type RunSearchOptions, type SearchOptions } from '../src/index.js'
import { FIRST_ID } from '../src/store/queries/ledger.js'
import { lookByTime } from '../src/store/queries/run-search.js'
import { findByWords, lookForSchedules } from '../src/store/queries/schedule-search.js'
import type { Session, Store } from '../src/store/store.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, measure, seconds, spread } from './figures.js'

export interface ListsSize {
  schedules: number
  ended: number
  /** Open runs while pages are read, and while the overview is. */
  open: readonly [number, number]
  /** Schedules that are synced with the table of words and without it. */
  synced: number
  rounds: number
}

const FULL: ListsSize = {
  schedules: 1_000_000,
  ended: 1_000_000,
  open: [100_000, 1_000_000],
  synced: 100_000,
  rounds: 15,
}
export const QUICK: ListsSize = { schedules: 3_000, ended: 3_000, open: [300, 600], synced: 200, rounds: 1 }

export async function benchLists(size: ListsSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const { escapement, store, jobs } = await assemble({ database: server.url })
  const afresh = () => createOverview({ store, jobs }, escapement.claiming)
  escapement.job('send-report', { handler: () => {} })
  const { database } = escapement
  const row = async (label: string, work: () => Promise<string>) => {
    const found = await work()
    const times = await measure(size.rounds, work)
    print(`| ${label} | ${spread(times, 1)} | ${found} |`)
  }
  try {
    await fillSchedules(database, size.schedules)
    await fillRuns(database, size)
    await database.query('vacuum analyze')
    const counts = [size.schedules, size.ended, size.open[0]].map((count) => inEnglish(count))
    print(
      `${counts[0]} schedules, ${counts[1]} ended runs, ${counts[2]} open ones; milliseconds for a page of 100`,
    )
    for (const [label, options] of schedulePages(size.schedules)) {
      await row(`schedules ${label}`, () => schedulePage(escapement, options))
    }
    const run = await database.query<{ id: string }>('select id::text from escapement.runs_ended limit 1')
    for (const [label, options] of runPages()) await row(`runs ${label}`, () => runPage(escapement, options))
    for (const group of ['tenant-7', 'large']) {
      const { runs } = escapement.inGroup(group)
      await row(`runs in the group ${group}`, () => runPage({ runs }, {}))
      await row(`runs in the group ${group}, failed`, () => runPage({ runs }, { state: 'failed' }))
    }
    await row('one run in full', async () => (await escapement.runs.details(run[0]!.id)).run.state)
    for (const line of await explainLooks(store, size.schedules)) print(line)
    await fillOpen(database, size.open)
    await database.query('vacuum analyze escapement.runs_open')
    print(`${inEnglish(size.open[1])} open runs; milliseconds`)
    await row('jobs', async () => `${(await escapement.jobs()).length}`)
    await row('workers', async () => `${(await escapement.workers()).length}`)
    // A new one each time: what took long is given again for a while.
    await row('queues', async () => `${(await afresh().queues()).length}`)
    await row('figures', async () => `${(await afresh().stats()).open.pending} pending`)
    for (const line of await benchSync(escapement, size)) print(line)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

async function schedulePage(
  { schedules }: Pick<Escapement, 'schedules'>,
  options: SearchOptions,
): Promise<string> {
  const page = await schedules.search(options)
  return `${page.schedules.length}${page.nextPageToken === null ? '' : ' …'}`
}

async function runPage({ runs }: Pick<Escapement, 'runs'>, options: RunSearchOptions): Promise<string> {
  const page = await runs.search(options)
  return `${page.runs.length}${page.nextPageToken === null ? '' : ' …'}`
}

function schedulePages(count: number): [string, SearchOptions][] {
  return [
    ['by name', {}],
    ['by name, with the last thirty occurrences of each', { recent: 30 }],
    [
      'by name, from the middle on',
      { pageToken: writeToken({ list: 'schedules', filter: {} }, ['0', 'invoice:c5']) },
    ],
    ['in the state active, 95%', { state: 'active' }],
    ['in the state broken, ten', { state: 'broken' }],
    ['in the group large, half of them', { group: 'large' }],
    ['in the group tenant-7, twenty', { group: 'tenant-7' }],
    ['of the job rare-job, fifty', { job: 'rare-job' }],
    ['of the source code, a fifth', { source: 'code' }],
    ['in a group, of a job and a state', { group: 'large', job: 'make-invoice', state: 'paused' }],
    ['in a group, of a job that is rare there', { group: 'large', job: 'lonely-job' }],
    ['by a word that one has', { q: `c${count}` }],
    ['by a word that none has', { q: 'nothing' }],
    ['by a word that all have', { q: 'customer' }],
    ['by a word that a fifth begin with', { q: 'sync' }],
    ['by a letter and a digit', { q: 'c1' }],
    ['by two words, one of them rare', { q: `customer c${count}` }],
    ['by a word that all have, and the state broken', { q: 'customer', state: 'broken' }],
    ['by a word of a fifth, which come last, and the state paused', { q: 'SYNC', state: 'paused' }],
    ['by a word of a fifth, which come last, in capitals', { q: 'SYNC' }],
    ['by a word that one has, and the state active', { q: `c${count}`, state: 'active' }],
  ]
}

/** Of the thirty days. */
const MIDDLE = String(Date.parse('2026-02-14T00:00:00Z'))

function runPages(): [string, RunSearchOptions][] {
  return [
    ['newest first', {}],
    ['from the middle on', { pageToken: writeToken({ list: 'runs', filter: {} }, [MIDDLE, FIRST_ID]) }],
    ['that failed, 0.05%', { state: 'failed' }],
    ['that succeeded', { state: 'succeeded' }],
    ['that are running', { state: 'running' }],
    ['that are retrying', { state: 'retrying' }],
    ['that are pending', { state: 'pending' }],
    ['that are running or failed', { state: ['running', 'failed'] }],
    ['of a schedule with 10,000', { schedule: 'busy' }],
    ['of that schedule, failed', { schedule: 'busy', state: 'failed' }],
    ['of a job that is rare', { job: 'rare-job' }],
    ['of a queue that nothing is in', { queue: 'nothing' }],
    ['that were asked for directly', { trigger: 'direct' }],
    ['of an hour a week ago', { from: '2026-02-22T00:00:00Z', to: '2026-02-22T01:00:00Z' }],
    [
      'of an hour a week ago, failed',
      { from: '2026-02-22T00:00:00Z', to: '2026-02-22T01:00:00Z', state: 'failed' },
    ],
  ]
}

/** How the database carries out the looks of some pages. */
async function explainLooks(store: Store, count: number): Promise<string[]> {
  const lines: string[] = []
  const explaining = (title: string): Session => ({
    now: () => store.now(),
    async query<Row>(text: string, params: Parameters<Session['query']>[1]) {
      const plan = await store.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, costs off) ${text}`,
        params,
      )
      lines.push(`${title}:`, ...plan.map((row) => row['QUERY PLAN']))
      return store.query<Row>(text, params)
    },
  })
  const page = { from: 'invoice:c5', until: null, size: 101, limit: 101 }
  await lookForSchedules(explaining('schedules by name, from the middle on'), { words: [] }, page)
  const words = { words: ['customer', `c${count}`] }
  await findByWords(explaining('schedules by two words'), words, {
    from: '',
    except: null,
    limit: 101,
    size: 101,
  })
  const look = { before: { at: Number(MIDDLE), id: FIRST_ID }, size: 101, limit: 101 }
  await lookByTime(explaining('runs from the middle on'), {}, look)
  return lines
}

type Query = Pick<Escapement['database'], 'query'>

/** Names in five families, half of all in one group, a quarter in groups of twenty. */
async function fillSchedules(database: Query, count: number): Promise<void> {
  await database.query(
    `insert into escapement.schedules (id, name, version, job, input, queue, priority, "group", scopes, timing, policies,
       description, start_at, source, state, state_since, ledger_from, created_at, updated_at)
     select gen_random_uuid(),
       case when n = 1 then 'busy' else (array['report', 'invoice', 'sync', 'digest', 'cleanup'])[1 + abs(hashint4(n)) % 5] || ':c' || n end, 1,
       case when n % ($1 / 50) = 0 then 'rare-job' when n = 2 then 'lonely-job' when n % 3 = 0 then 'make-invoice'
         else 'send-report' end,
       jsonb_build_object('customer', n, 'report', repeat('x', 100)), 'default', 0,
       case when n % 2 = 0 then 'large' when n % 4 = 1 then 'tenant-' || n / 80 end, '{global}',
       jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours', 'anchor', '2001-01-01T00:00:00', 'zone', 'UTC'),
       '{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","deleteWhenDone":false}',
       'For customer ' || n || ', by mail', '2026-01-01Z', case when n % 5 = 0 then 'code' end,
       case when n % ($1 / 10) = 0 then 'broken' when n % 25 = 0 then 'paused' when n % 100 = 1 then 'finished' else 'active' end,
       '2026-01-01Z', '2026-01-01Z', '2026-01-01Z', '2026-01-01Z'
     from generate_series(1, $1::int) as n`,
    [count],
  )
  await database.query(
    `insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
     select id, 1, 'every', '2036-01-01Z', '2036-01-01Z', '2026-03-01Z' from escapement.schedules`,
  )
}

/** A UUID that begins with the time, as those of runs do. */
const ID = `encode(overlay(uuid_send(gen_random_uuid()) placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3)
  from 1 for 6), 'hex')::uuid`

/** Of the last thirty days: a tenth direct, of the others one for each schedule, and one schedule with a hundredth of all. */
async function fillRuns(database: Query, { ended, open }: ListsSize): Promise<void> {
  await database.query(
    `with planned as (
       select ${ID} as id, n, at, case when n % 100 = 0 then 'busy' when n % 10 > 0 then
         (array['report', 'invoice', 'sync', 'digest', 'cleanup'])[1 + abs(hashint4(n)) % 5] || ':c' || n end as name
       from generate_series(1, $1::int) as n
       cross join lateral (select '2026-03-01Z'::timestamptz - interval '30 days' * (1 - n::float8 / $1)) as age (at)
     ),
     asked as (
       insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
         priority, created_at)
       select planned.id, s.id, case when s.id is not null then 'global' end, case when s.id is not null then at end, 1,
         case when s.id is null then 'direct' else 'scheduled' end, coalesce(s.job, 'send-report'),
         jsonb_build_object('customer', n, 'report', repeat('x', 100)), 'default', 0, at
       from planned left join escapement.schedules as s on s.name = planned.name order by at
     )
     insert into escapement.runs_ended (id, state, eligible_at, attempt, started_at, finished_at, result)
     select id, case when n % 2000 = 7 then 'failed' when n % 5000 = 1 then 'cancelled' else 'succeeded' end, at, 1, at,
       at + interval '2 seconds', '{"rows": 12345}'
     from planned`,
    [ended],
  )
  await fillOpen(database, [0, open[0]])
}

/** Most of them wait for a worker, and every tenth for its time. */
async function fillOpen(database: Query, [from, to]: readonly [number, number]): Promise<void> {
  await database.query(
    `with planned as (
       select ${ID} as id, n, at from generate_series($1::int + 1, $2::int) as n
       cross join lateral (select '2026-03-01Z'::timestamptz + n * interval '10 milliseconds') as age (at)
     ),
     asked as (
       insert into escapement.runs_asked (id, trigger, job, input, queue, priority, created_at)
       select id, 'direct', 'send-report', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
         case when n % 3 = 0 then 'mail' else 'default' end, 0, at
       from planned order by at
     )
     insert into escapement.runs_open (id, job, queue, priority, state, eligible_at, lease_token, lease_expires_at, worker_id,
       max_attempts, fails_when_stale)
     select id, 'send-report', case when n % 3 = 0 then 'mail' else 'default' end, 0,
       case when n % 500 = 0 then 'retrying' when n % 200 = 1 then 'running' else 'pending' end,
       case when n % 10 = 2 then '2036-01-01Z' else at end, case when n % 200 = 1 then gen_random_uuid() end,
       case when n % 200 = 1 then '2036-01-01Z'::timestamptz end, case when n % 200 = 1 then gen_random_uuid() end,
       case when n % 200 = 1 then 3 end, case when n % 200 = 1 then false end
     from planned`,
    [from, to],
  )
}

/** New schedules, and then the same with other words: first with the table of words, and then without it. */
async function benchSync(
  { schedules, database }: Escapement,
  { synced, rounds }: ListsSize,
): Promise<string[]> {
  const turns = Math.min(rounds, 5)
  const count = synced / turns
  const sync = async (part: string, turn: number, word: string) => {
    const names = Array.from({ length: count }, (_, index) => `synced-${part}-${turn}:c${index}`)
    const entries = names.map((name) => [
      name,
      { job: 'send-report', timing: every('1 day'), group: 'large', description: `${word} of ${name}` },
    ])
    return count / (await seconds(() => schedules.sync(Object.fromEntries(entries))))
  }
  const lines: string[] = []
  for (const part of ['with', 'without']) {
    const rates = { made: [] as number[], changed: [] as number[] }
    for (let turn = 0; turn < turns; turn++) {
      rates.made.push(await sync(part, turn, 'first'))
      rates.changed.push(await sync(part, turn, 'second'))
    }
    lines.push(`| sync of new schedules, ${part} the table of words, /s | ${spread(rates.made)} | |`)
    lines.push(`| sync of changed ones, ${part} the table of words, /s | ${spread(rates.changed)} | |`)
    for (const trigger of ['add_words', 'change_words'])
      await database.query(`alter table escapement.schedules disable trigger ${trigger}`)
  }
  return lines
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchLists(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
