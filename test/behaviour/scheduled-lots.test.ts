import { describe, expect, it } from 'vitest'
import { every, type ScheduleDefinition } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const hourly = { job: 'work', timing: every('1 hour', { anchor: '2026-03-01T00:01:00' }) }

interface Handled {
  name: string | null
  scope: string | null
  planTime: string | undefined
  previous: string | undefined
}

/** Schedules that are due together at 12:01, a harness that plans them, and another that works. */
async function open({
  count = 5,
  concurrency = 10,
  fails = () => false,
  ...fields
}: Partial<ScheduleDefinition> & {
  count?: number
  concurrency?: number
  fails?: (name: string) => boolean
} = {}) {
  const worker = await openHarness({ at: AT, worker: { concurrency } })
  const planner = await openHarness({ at: AT, schema: worker.schema })
  const handled: Handled[] = []
  worker.job('work', {
    retry: { attempts: 2, backoff: ['1 minute'] },
    handler: ({ run, scope, planTime, previousPlanTime }) => {
      handled.push({
        name: run.schedule,
        scope,
        planTime: planTime?.toISOString(),
        previous: previousPlanTime?.toISOString(),
      })
      if (fails(run.schedule!)) throw new Error('as it was told')
    },
  })
  await worker.advance('0s')
  const names = Array.from({ length: count }, (_, index) => `s-${index}`)
  await planner.schedules.sync(Object.fromEntries(names.map((name) => [name, { ...hourly, ...fields }])))
  const sql = <Row>(text: string) =>
    planner.escapement.database.query<Row>(text.replaceAll('{schema}', `"${worker.schema}"`))
  const lots = async () =>
    (await sql<{ size: number }>('select cardinality(runs) as size from {schema}.lots order by id')).map(
      ({ size }) => size,
    )
  const alone = async () =>
    (
      await sql<{ name: string; lane: number | null; state: string }>(
        `select coalesce(s.name, 'deleted') as name, o.lane, o.state
         from {schema}.runs_open as o left join {schema}.schedules as s on s.id = o.schedule_id order by 1, o.id`,
      )
    ).map(({ name, lane, state }) => `${name} ${state} ${lane}`)
  const states = async () =>
    Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [
          name,
          (await planner.runs.list({ schedule: name, limit: 10 })).map(({ state }) => state).join(),
        ]),
      ),
    )
  return { worker, planner, handled, lots, alone, states, names }
}

describe('runs of schedules that are due together', () => {
  it('wait in one row, and each handler is told what its run is', async () => {
    const { worker, planner, handled, lots, alone, states } = await open({ scopes: ['a', 'b'], count: 3 })
    await planner.advance('1 minute')
    expect([await lots(), await alone()]).toEqual([[6], []])
    expect(await states()).toEqual({
      's-0': 'pending,pending',
      's-1': 'pending,pending',
      's-2': 'pending,pending',
    })
    await worker.advance('1 minute')
    const times = { planTime: '2026-03-01T12:01:00.000Z', previous: '2026-03-01T11:01:00.000Z' }
    expect(handled).toHaveLength(6)
    for (const name of ['s-0', 's-1', 's-2']) {
      for (const scope of ['a', 'b']) expect(handled).toContainEqual({ name, scope, ...times })
    }
    expect([await lots(), await alone()]).toEqual([[], []])
    expect(await planner.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('wait in rows of a hundred, and alone where nobody else is like them', async () => {
    const { planner, lots, alone } = await open({ count: 205 })
    await planner.schedules.patch('s-0', { priority: 5 })
    await planner.schedules.patch('s-1', { queue: 'other' })
    await planner.schedules.patch('s-2', { delay: '10 seconds' })
    await planner.schedules.patch('s-3', { overlap: 'skip' })
    await planner.advance('1 minute')
    expect((await lots()).sort()).toEqual([1, 100, 100])
    expect(await alone()).toEqual([
      's-0 pending null',
      's-1 pending null',
      's-2 pending null',
      's-3 pending 0',
    ])
  })

  it('are found one by one, also where the first of them was taken out of the row that has its id', async () => {
    const { worker, planner, handled, lots, alone, names } = await open({ count: 3, concurrency: 1 })
    await planner.advance('1 minute')
    const runs = await Promise.all(
      names.map(async (name) => (await planner.runs.list({ schedule: name }))[0]!),
    )
    const [first] = runs.sort((a, b) => (a.id < b.id ? -1 : 1))
    await planner.schedules.patch(first!.schedule!, { overlap: 'skip' })
    expect([await lots(), await alone()]).toEqual([[2], [`${first!.schedule} pending 0`]])
    await worker.advance('1 minute')
    expect(handled.map(({ name }) => name).sort()).toEqual(names)
  })

  it('wait alone while they are held back, and begin when that ends', async () => {
    const { worker, planner, handled, lots, alone } = await open({ count: 3, delay: '10 seconds' })
    await planner.advance('35 seconds')
    expect([await lots(), (await alone()).length]).toEqual([[], 3])
    await worker.advance('39 seconds')
    expect(handled).toEqual([])
    await worker.advance('1 second')
    expect(handled).toHaveLength(3)
  })

  it('get rows of their own when they fail, and count for their breakers', async () => {
    const { worker, planner, lots, alone, states } = await open({
      count: 3,
      breaker: { failures: 1, cooldown: '1 hour' },
      fails: (name) => name === 's-1',
    })
    await planner.advance('1 minute')
    expect(await lots()).toEqual([3])
    worker.jump('30 seconds')
    await worker.advance('0s')
    expect([await lots(), await alone()]).toEqual([[], ['s-1 retrying null']])
    await worker.advance('2 minutes')
    expect(await states()).toEqual({ 's-0': 'succeeded', 's-1': 'failed', 's-2': 'succeeded' })
    expect((await planner.schedules.get('s-1')).state).toBe('broken')
    expect((await planner.schedules.get('s-0')).state).toBe('active')
  })

  it('are cancelled one by one', async () => {
    const { worker, planner, handled, lots, states } = await open({ count: 3 })
    await planner.advance('1 minute')
    const [run] = await planner.runs.list({ schedule: 's-1', limit: 1 })
    await planner.runs.cancel(run!.id)
    expect(await lots()).toEqual([2])
    await worker.advance('1 minute')
    expect(handled.map(({ name }) => name).sort()).toEqual(['s-0', 's-2'])
    expect(await states()).toEqual({ 's-0': 'succeeded', 's-1': 'cancelled', 's-2': 'succeeded' })
  })

  it('stand in line where their schedule no longer lets them overlap', async () => {
    const { planner, lots, alone } = await open({ count: 2, timing: every('10 seconds'), catchUp: 'all' })
    await planner.advance('30 seconds')
    expect(await lots()).toEqual([2, 2, 2, 2])
    await planner.schedules.patch('s-0', { overlap: 'queue' })
    expect(await lots()).toEqual([1, 1, 1, 1])
    expect(await alone()).toEqual(['s-0 pending 0', ...Array(3).fill('s-0 pending 2')])
  })

  it('go with their schedule, or stay, as it is told', async () => {
    const { worker, planner, handled, lots } = await open({ count: 3 })
    await planner.advance('1 minute')
    await planner.schedules.delete('s-0', { runs: 'delete' })
    await planner.schedules.delete('s-1')
    expect(await lots()).toEqual([2])
    await worker.advance('1 minute')
    expect(handled.map(({ name, planTime }) => [name, planTime])).toEqual(
      expect.arrayContaining([
        [null, '2026-03-01T12:01:00.000Z'],
        ['s-2', '2026-03-01T12:01:00.000Z'],
      ]),
    )
    expect(handled).toHaveLength(2)
  })
})
