import { describe, expect, it } from 'vitest'
import { after, cron, every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const HOUR = { from: '2026-03-02T12:00:00Z', to: '2026-03-02T13:00:00Z' }

/** What comes in an hour of tomorrow, by its cursor or again, and what does not. */
async function open() {
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
    const h = await open()
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
    const h = await open()
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

  it('refuses what is no range of a day', async () => {
    const h = await open()
    const ask = (options: object) => h.schedules.planned(options as never)
    await expect(ask({ from: AT })).rejects.toThrow('to: is missing')
    await expect(ask({ from: AT, to: AT })).rejects.toThrow(/^to: .*must be after "from"/)
    await expect(ask({ from: AT, to: '2026-03-02T12:00:31Z' })).rejects.toThrow(/at most a day after "from"/)
    await expect(ask({ ...HOUR, limit: 501 })).rejects.toThrow(/^limit: 501 – must be/)
  })
})
