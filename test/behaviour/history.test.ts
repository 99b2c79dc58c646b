import { describe, expect, it } from 'vitest'
import { every, type HistoryEntry, type HistoryOptions } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute'), grace: '1 second' }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const minute = (date: Date | null) => date?.toISOString().slice(11, 16) ?? null
  const shown = ({ firstPlanTime, lastPlanTime, run, reason }: HistoryEntry) => [
    minute(firstPlanTime),
    minute(lastPlanTime),
    run?.state ?? reason,
  ]
  const history = async (options: HistoryOptions = {}) => (await h.schedules.history('s', options)).map(shown)
  return { h, history }
}

describe('history', () => {
  it('is its runs plus its skips, newest first, from any time back', async () => {
    const { h, history } = await open()
    await h.schedules.put('s', minutely)
    await h.advance('1 minute')
    h.jump('3 minutes')
    await h.advance('1 minute')
    const all = [
      ['12:05', '12:05', 'succeeded'],
      ['12:04', '12:04', 'succeeded'],
      ['12:02', '12:03', 'missed'],
      ['12:01', '12:01', 'succeeded'],
    ]
    expect(await history()).toEqual(all)
    expect(await history({ limit: 3 })).toEqual(all.slice(0, 3))
    expect(await history({ before: '2026-03-01T12:04:00Z' })).toEqual(all.slice(2))
  })

  it('has manual runs where they were asked for, and so has the list of runs', async () => {
    const { h, history } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.trigger('s')
    await h.advance('1 minute')
    await h.schedules.trigger('s')
    await h.advance('1 minute')
    expect(await history()).toEqual([
      ['12:02', '12:02', 'succeeded'],
      [null, null, 'succeeded'],
      ['12:01', '12:01', 'succeeded'],
      [null, null, 'succeeded'],
    ])
    expect((await h.schedules.history('s')).map(({ at }) => at.toISOString().slice(14, 19))).toEqual([
      '02:00',
      '01:30',
      '01:00',
      '00:30',
    ])
    expect((await h.runs.list({ schedule: 's' })).map(({ trigger }) => trigger)).toEqual([
      'scheduled',
      'manual',
      'scheduled',
      'manual',
    ])
    expect(await h.planTimes('s')).toEqual(['2026-03-01T12:01:00.000Z', '2026-03-01T12:02:00.000Z'])
  })

  it('tells of a run when it began and ended, what it counted, and what it failed of', async () => {
    const { h } = await open()
    h.job('count', {
      retry: { attempts: 1 },
      handler({ run, totals }) {
        totals({ rows: 3 })
        if (run.trigger === 'scheduled') throw new Error('The disk is full')
      },
    })
    await h.schedules.put('s', { ...minutely, job: 'count' })
    await h.schedules.trigger('s')
    await h.advance('1 minute')
    const [scheduled, manual] = (await h.schedules.history('s')).map(({ run }) => run!)
    const at = new Date('2026-03-01T12:01:00Z')
    expect(scheduled).toMatchObject({ state: 'failed', attempt: 1, startedAt: at, finishedAt: at })
    expect(scheduled!.error).toEqual({ code: 'handler_error', message: 'The disk is full' })
    expect(manual).toMatchObject({ state: 'succeeded', totals: { rows: 3 }, error: null })
  })

  it('leaves nothing out and shows nothing twice, however large its pages', async () => {
    const { h } = await open()
    await h.schedules.put('s', { ...minutely, scopes: ['a', 'b', 'c'], catchUp: 'none' })
    await h.advance('1 minute')
    await h.schedules.skip('s', '2026-03-01T12:02:00Z')
    await h.advance('1 minute')
    for (const scope of ['a', 'b', 'c']) await h.schedules.trigger('s', { scope })
    h.jump('5 minutes')
    await h.advance('30 seconds')
    // A range of one scope that reaches over single runs of the others, and a run beside a skip at one instant.
    const { from, to } = { from: '2026-03-01T12:04:00Z', to: '2026-03-01T12:08:00Z' }
    await h.schedules.backfill('s', { from, to })
    await h.advance('0s')
    const all = await h.schedules.history('s')
    const [runs] = await h.escapement.database.query(`select count(*) as n from "${h.schema}".runs`)
    const [skips] = await h.escapement.database.query(`select count(*) as n from "${h.schema}".skips`)
    expect(all.length).toBe(Number(runs!.n) + Number(skips!.n))
    expect(all.map(({ at }) => at.getTime())).toEqual(all.map(({ at }) => at.getTime()).sort((a, b) => b - a))
    for (const limit of [1, 2, 3, 5]) {
      const paged: HistoryEntry[] = []
      for (let pageToken: string | undefined; ; pageToken = paged.at(-1)!.pageToken) {
        const page = await h.schedules.history('s', { limit, ...(pageToken !== undefined && { pageToken }) })
        paged.push(...page)
        if (page.length < limit) break
      }
      expect(paged, `pages of ${limit}`).toEqual(all)
    }
  })

  it('refuses a token that it never gave', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    for (const pageToken of ['', 'x', '2026-03-01T12:00:00.000Z~run', 'yesterday~skip~a']) {
      await expect(h.schedules.history('s', { pageToken })).rejects.toMatchObject({
        code: 'option_invalid',
        message: expect.stringContaining('pageToken: '),
      })
    }
  })
})
