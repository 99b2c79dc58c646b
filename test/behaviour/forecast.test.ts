import { describe, expect, it } from 'vitest'
import { after, cron, every, type ForecastOptions } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  return h
}

describe('forecast', () => {
  it('counts the runs to come in each bucket by queue and group', async () => {
    const h = await open()
    await h.schedules.put('a', { ...minutely, scopes: ['x', 'y'] })
    await h.schedules.put('b', { ...minutely, queue: 'slow', group: 'g' })
    await h.schedules.put('c', { ...minutely, paused: true })
    const range = { from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:04:00Z', bucket: '2 minutes' }
    expect((await h.escapement.forecast(range)).buckets).toEqual([
      { from: new Date('2026-03-01T12:00:00Z'), queue: 'default', group: null, runs: 2 },
      { from: new Date('2026-03-01T12:00:00Z'), queue: 'slow', group: 'g', runs: 1 },
      { from: new Date('2026-03-01T12:02:00Z'), queue: 'default', group: null, runs: 4 },
      { from: new Date('2026-03-01T12:02:00Z'), queue: 'slow', group: 'g', runs: 2 },
    ])
  })

  it('counts queues or groups together, or only those that are asked for', async () => {
    const h = await open()
    await h.schedules.put('a', { ...minutely, group: 'g' })
    await h.schedules.put('b', { ...minutely, queue: 'slow', group: 'g' })
    await h.schedules.put('c', { ...minutely, queue: 'slow' })
    const range = { from: '2026-03-01T12:01:00Z', to: '2026-03-01T12:02:00Z', bucket: '1 minute' }
    const ask = async (options: Partial<ForecastOptions>) =>
      (await h.escapement.forecast({ ...range, ...options })).buckets.map(({ queue, group, runs }) => [
        queue,
        group,
        runs,
      ])
    expect(await ask({ by: 'none' })).toEqual([[null, null, 3]])
    expect(await ask({ by: 'queue' })).toEqual([
      ['default', null, 1],
      ['slow', null, 2],
    ])
    expect(await ask({ by: 'group' })).toEqual([
      [null, null, 1],
      [null, 'g', 2],
    ])
    expect(await ask({ queue: 'slow', by: 'none' })).toEqual([[null, null, 2]])
    expect(await ask({ queue: 'slow', group: 'g' })).toEqual([['slow', 'g', 1]])
    await expect(ask({ by: 'job' as never, queue: '' })).rejects.toThrow(/^by: "job" – must be "queue"/)
  })

  it('counts each schedule from its own beginning to its own end, though they share a timing', async () => {
    const h = await open()
    await h.schedules.put('all', minutely)
    await h.schedules.put('later', { ...minutely, startAt: '2026-03-01T12:03:00Z' })
    await h.schedules.put('ending', { ...minutely, endAt: '2026-03-01T12:02:00Z' })
    await h.schedules.put('within', {
      ...minutely,
      startAt: '2026-03-01T12:02:00Z',
      endAt: '2026-03-01T12:03:00Z',
    })
    const range = { from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:06:00Z', bucket: '2 minutes' }
    const { buckets } = await h.escapement.forecast(range)
    expect(buckets.map(({ from, runs }) => [from.toISOString().slice(14, 16), runs])).toEqual([
      ['00', 2],
      ['02', 4],
      ['04', 4],
    ])
  })

  it('is in one order: by time, then queue, then group, schedules without one first', async () => {
    const h = await open()
    const groups = ['b', null, 'a', 'c']
    for (const queue of ['y', 'x']) {
      for (const group of groups) {
        await h.schedules.put(`${queue}-${group}`, { ...minutely, queue, ...(group && { group }) })
      }
    }
    const range = { from: '2026-03-01T12:00:00Z', to: '2026-03-01T12:02:00Z', bucket: '2 minutes' }
    const { buckets } = await h.escapement.forecast(range)
    expect(buckets.map(({ queue, group }) => [queue, group])).toEqual([
      ['x', null],
      ['x', 'a'],
      ['x', 'b'],
      ['x', 'c'],
      ['y', null],
      ['y', 'a'],
      ['y', 'b'],
      ['y', 'c'],
    ])
  })

  it('refuses a range in which one timing has more than a million plan times, naming it', async () => {
    const h = await open()
    await h.schedules.put('s', { job: 'noop', timing: every('1 second') })
    await h.schedules.put('daily', { job: 'noop', timing: cron('0 9 * * *') })
    const forty = { from: AT, to: '2026-04-10T12:00:30Z', bucket: '1 day' }
    await expect(h.escapement.forecast(forty)).rejects.toMatchObject({
      code: 'range_too_large',
      message: expect.stringMatching(/every second.*more than 1000000 plan times.*Choose a shorter one/i),
    })
    const ten = await h.escapement.forecast({ from: AT, to: '2026-03-11T12:00:30Z', bucket: '10 days' })
    expect(ten).toEqual({
      buckets: [{ from: new Date(AT), queue: 'default', group: null, runs: 10 * 86_400 + 10 }],
      isEstimate: false,
    })
  })

  it('of very many schedules counts a part, says so, and counts a small group whole', async () => {
    const h = await open()
    // Nearly a page of the disk for each: as many pages as a hundred thousand have, and nobody has counted them, or those of a test before.
    await h.escapement.database.query(
      `alter table "${h.schema}".schedules set (fillfactor = 10, autovacuum_enabled = false)`,
    )
    await h.escapement.database.query(`truncate "${h.schema}".schedules cascade`)
    await h.schedules.put('a', { ...minutely, group: 'few' })
    await h.schedules.put('z', { job: 'noop', timing: after('1 hour') })
    await h.escapement.database.query(
      `insert into "${h.schema}".schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at, state,
         state_since, ledger_from, created_at, updated_at, metadata)
       select gen_random_uuid(), 'many-' || n, 1, job, input, queue, priority, scopes, timing, policies, start_at, state,
         state_since, ledger_from, created_at, updated_at, to_jsonb(repeat('x', 900))
       from "${h.schema}".schedules cross join generate_series(1, 3500) as n where name = 'a'`,
    )
    const range = { from: '2026-03-01T12:01:00Z', to: '2026-03-01T12:02:00Z', bucket: '1 minute' }
    const all = await h.escapement.forecast({ ...range, by: 'none' })
    expect(all).toMatchObject({ isEstimate: true, buckets: [{ queue: null, group: null }] })
    expect(all.buckets[0]!.runs).toBeGreaterThan(2_800)
    expect(all.buckets[0]!.runs).toBeLessThan(4_200)
    expect(await h.escapement.forecast({ ...range, by: 'none' })).toEqual(all)
    expect(await h.escapement.forecast({ ...range, group: 'few' })).toMatchObject({
      isEstimate: false,
      buckets: [{ group: 'few', runs: 1 }],
    })
    // Once they are counted it is known that so many pages hold but few, as where most were deleted.
    await h.escapement.database.query(`analyze "${h.schema}".schedules`)
    expect(await h.escapement.forecast({ ...range, by: 'none' })).toMatchObject({
      isEstimate: false,
      buckets: [{ runs: 3_501 }],
    })
  })
})

const HOUR = { from: '2026-03-02T12:00:00Z', to: '2026-03-02T13:00:00Z' }

/** What comes in an hour of tomorrow, by its cursor or again, and what does not. */
async function openTomorrow() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const put = (name: string, definition: object) =>
    h.schedules.put(name, { job: 'noop', ...definition } as never)
  await put('next', { timing: cron('15 12 2 * *'), group: 'g' })
  await put('again', { timing: every('20 minutes'), scopes: ['x', 'y'], queue: 'slow', group: 'g' })
  await put('ending', { timing: every('20 minutes'), endAt: '2026-03-02T12:20:00Z' })
  await put('beginning', { timing: every('20 minutes'), startAt: '2026-03-02T12:40:00Z' })
  await put('waiting', { timing: after('24 hours') })
  await put('elsewhere', { timing: cron('15 14 * * *'), group: 'g' })
  await put('ended', { timing: every('20 minutes'), endAt: '2026-03-02T12:00:00Z' })
  await put('paused', { timing: every('20 minutes'), paused: true, group: 'g' })
  return h
}

describe('schedules.planned', () => {
  it('gives those that have plan times in the range, and how many, those first whose next it is', async () => {
    const h = await openTomorrow()
    const { schedules, nextPageToken } = await h.schedules.planned(HOUR)
    expect(nextPageToken).toBeNull()
    expect(schedules.slice(0, 3).map(({ name }) => name)).toEqual(['waiting', 'next', 'beginning'])
    expect(
      Object.fromEntries(schedules.map(({ name, planTimes, runs }) => [name, [planTimes, runs]])),
    ).toEqual({
      waiting: [1, 1],
      next: [1, 1],
      beginning: [1, 1],
      again: [3, 6],
      ending: [1, 1],
    })
    expect(schedules.find(({ name }) => name === 'again')).toEqual({
      name: 'again',
      job: 'noop',
      queue: 'slow',
      group: 'g',
      firstPlanTime: new Date('2026-03-02T12:00:00Z'),
      planTimes: 3,
      runs: 6,
    })
    const past = { from: '2026-03-01T11:00:00Z', to: '2026-03-01T12:00:00Z' }
    expect(await h.schedules.planned(past)).toEqual({ schedules: [], nextPageToken: null })
    const { buckets } = await h.escapement.forecast({ ...HOUR, bucket: '1 hour', by: 'none' })
    expect(buckets).toMatchObject([{ runs: schedules.reduce((sum, { runs }) => sum + runs, 0) }])
  })

  it('pages, and filters by queue and group, of which one sees its own alone', async () => {
    const h = await openTomorrow()
    const seen: string[] = []
    let pageToken: string | null = null
    do {
      const page = await h.schedules.planned({ ...HOUR, limit: 2, ...(pageToken !== null && { pageToken }) })
      expect(page.schedules.length).toBeLessThanOrEqual(2)
      seen.push(...page.schedules.map(({ name }) => name))
      pageToken = page.nextPageToken
    } while (pageToken !== null)
    expect(seen.toSorted()).toEqual(['again', 'beginning', 'ending', 'next', 'waiting'])

    const names = async (options: object, schedules = h.schedules) =>
      (await schedules.planned({ ...HOUR, ...options })).schedules.map(({ name }) => name)
    expect(await names({ queue: 'slow' })).toEqual(['again'])
    expect(await names({ group: 'g' })).toEqual(['again', 'next'])
    expect(await names({ group: 'g', queue: 'slow' })).toEqual(['again'])
    const own = h.escapement.inGroup('g').schedules
    expect(await names({}, own)).toEqual(['again', 'next'])
    expect(await names({ group: 'other' }, own)).toEqual([])
    const first = await own.planned({ ...HOUR, limit: 1 })
    expect(await names({ limit: 1, pageToken: first.nextPageToken! }, own)).toEqual(['next'])
    await expect(names({ limit: 1, pageToken: first.nextPageToken! })).rejects.toThrow(/is of another list/)
  })

  it('ends a page where it has computed enough, and passes by what only a newer program can compute', async () => {
    const h = await open()
    const names = Array.from({ length: 7 }, (_, index) => `s${index}`)
    const secondly = { job: 'noop', timing: every('1 second'), group: 'g' }
    await h.schedules.sync(Object.fromEntries([...names, 'newer'].map((name) => [name, secondly])))
    await h.escapement.database.query(
      `update "${h.schema}".schedules set timing = '{"kind": "lunar"}' where name = 'newer'`,
    )
    const day = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z', group: 'g' }
    const { schedules, nextPageToken } = await h.schedules.planned(day)
    expect(schedules.map(({ name, planTimes }) => [name, planTimes])).toEqual(
      names.slice(0, 6).map((name) => [name, 86_400]),
    )
    expect(await h.schedules.planned({ ...day, pageToken: nextPageToken! })).toMatchObject({
      schedules: [{ name: 's6' }],
      nextPageToken: null,
    })
    const { buckets } = await h.escapement.forecast({ ...day, bucket: '1 day' })
    expect(buckets).toMatchObject([{ group: 'g', runs: 7 * 86_400 }])
  })

  it('refuses what is no range of a day', async () => {
    const h = await openHarness({ at: AT })
    const ask = (options: object) => h.schedules.planned(options as never)
    await expect(ask({ from: AT })).rejects.toThrow('to: is missing')
    await expect(ask({ from: AT, to: AT })).rejects.toThrow(/^to: .*must be after "from"/)
    await expect(ask({ from: AT, to: '2026-03-02T12:00:31Z' })).rejects.toThrow(/at most a day after "from"/)
    await expect(ask({ ...HOUR, limit: 501 })).rejects.toThrow(/^limit: 501 – must be/)
  })
})
