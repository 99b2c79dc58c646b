import { expect, it } from 'vitest'
import { databaseClock } from '../../src/clock.js'
import { every } from '../../src/index.js'
import {
  countSchedules,
  countWorkers,
  type Depth,
  listOldestReady,
  readDepths,
} from '../../src/store/queries/depths.js'
import { createStore } from '../../src/store/store.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const { database } = h.escapement
  const clock = { ...databaseClock, now: () => h.now().getTime() }
  const store = createStore(database, h.schema, clock)
  const query = (text: string) => database.query(text.replaceAll('{schema}', `"${h.schema}"`))
  /** Open runs as they are in all states, without what they are to do. */
  const insert = (values: string) =>
    query(
      `insert into {schema}.runs_open (id, schedule_id, job, queue, priority, state, lane, eligible_at, lease_token, lease_expires_at,
         max_attempts, fails_when_stale)
       select gen_random_uuid(), gen_random_uuid(), 'noop', queue, priority, state, lane, timestamptz '${AT}' + due * interval '1 second',
         case state when 'running' then gen_random_uuid() end, case state when 'running' then timestamptz '${AT}' end, 3, false
       from ${values}`,
    )
  return { h, store, query, insert }
}

const VALUES = 'as v (queue, priority, state, lane, due)'
const inOrder = (depths: readonly Depth[]) =>
  depths.map(({ queue, standing, runs }) => `${queue} ${standing} ${runs}`).sort()

it('open runs are counted by queue and by where they stand', async () => {
  const { store, insert } = await open()
  expect(await readDepths(store, 10)).toEqual([])
  await insert(
    `(values ('mail', 0, 'pending', null, -5), ('mail', 9, 'pending', 0, 0), ('mail', 0, 'pending', null, 1),
      ('mail', 0, 'pending', 1, -5), ('mail', 0, 'running', null, -5), ('mail', 0, 'retrying', null, -1),
      ('mail', 0, 'retrying', null, 60), ('sms', 0, 'running', 0, 0)) ${VALUES}`,
  )
  expect(inOrder(await readDepths(store, 10))).toEqual([
    'mail blocked 1',
    'mail ready 2',
    'mail retrying 2',
    'mail running 1',
    'mail waiting 1',
    'sms running 1',
  ])
})

it('the largest queues are named, and the others are counted together', async () => {
  const { store, insert } = await open()
  await insert(
    `(select 'q' || q, 0, 'pending', null::smallint, -1 from generate_series(1, 5) as q, generate_series(1, q)) ${VALUES}`,
  )
  expect(inOrder(await readDepths(store, 2))).toEqual(['null ready 6', 'q4 ready 4', 'q5 ready 5'])
})

it('of very many open runs those that do not run are estimated, and those that run are counted', async () => {
  const { store, insert } = await open()
  await insert(
    `(select 'mail', 0, case when n % 2000 = 0 then 'running' else 'pending' end, null::smallint, n % 2
      from generate_series(1, 70000) as n) ${VALUES}`,
  )
  const depths = new Map((await readDepths(store, 10)).map(({ standing, runs }) => [standing, runs]))
  expect(depths.get('running')).toBe(35)
  for (const standing of ['ready', 'waiting'] as const) {
    expect(depths.get(standing)).toBeGreaterThan(28_000)
    expect(depths.get(standing)).toBeLessThan(42_000)
  }
})

it('the oldest run that may be claimed is found in each queue, whatever its priority', async () => {
  const { store, insert } = await open()
  expect(await listOldestReady(store)).toEqual([])
  await insert(
    `(values ('mail', 9, 'pending', null, -5), ('mail', 0, 'pending', null, -50), ('mail', 5, 'pending', 1, -500),
      ('sms', 0, 'retrying', null, -7), ('later', 0, 'pending', null, 60), ('busy', 0, 'running', null, -99)) ${VALUES}`,
  )
  expect(await listOldestReady(store)).toEqual([
    { queue: 'later', seconds: 0 },
    { queue: 'mail', seconds: 50 },
    { queue: 'sms', seconds: 7 },
  ])
})

it('schedules are counted by state, and where there are very many estimated', async () => {
  const { h, store, query } = await open()
  await h.schedules.put('a', { job: 'noop', timing: every('1 hour') })
  const all = async () => Object.fromEntries((await countSchedules(store)).map((s) => [s.state, s.schedules]))
  expect(await all()).toEqual({ active: 1, paused: 0, broken: 0, finished: 0 })
  await query(
    `insert into {schema}.schedules (id, name, version, job, input, queue, priority, timing, policies, start_at, state,
       state_since, ledger_from, created_at, updated_at)
     select gen_random_uuid(), name || n, 1, job, input, queue, priority, timing, policies, start_at,
       case when n <= 7 then 'broken' else 'paused' end, state_since, ledger_from, created_at, updated_at
     from {schema}.schedules, generate_series(1, 12007) as n`,
  )
  await query('analyze {schema}.schedules')
  const { paused, ...others } = await all()
  expect(others).toEqual({ active: 1, broken: 7, finished: 0 })
  expect(paused).toBeGreaterThan(11_500)
  expect(paused).toBeLessThan(12_500)
})

it('workers count for as long as they are seen', async () => {
  const { h, store, query } = await open()
  await h.advance('0s')
  expect(await countWorkers(store)).toBe(1)
  h.jump('14 seconds')
  expect(await countWorkers(store)).toBe(1)
  h.jump('1 second')
  expect(await countWorkers(store)).toBe(0)
  expect(await query('select count(*) as rows from {schema}.workers')).toEqual([{ rows: 1 }])
})
