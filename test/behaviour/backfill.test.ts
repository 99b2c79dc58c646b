import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const secondly = { job: 'noop', timing: every('1 second') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  return h
}

describe('backfill', () => {
  it('counts only the skipped occurrences that would run, not what ran or is to come', async () => {
    const h = await open()
    await h.schedules.put('s', { ...secondly, catchUp: 'all', catchUpWindow: '3 hours' })
    h.jump('3 hours')
    await h.schedules.pause('s')
    expect((await h.planTimes('s')).length).toBe(10_801)
    h.jump('10 seconds')
    await h.schedules.resume('s')
    const year = { from: '2026-01-01T00:00Z', to: '2027-01-01T00:00Z' }
    expect((await h.schedules.backfill('s', year)).runIds).toHaveLength(10)
    expect((await h.schedules.backfill('s', year)).runIds).toEqual([])
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('refuses more than 10,000, of a year of skipped seconds too, and makes none', async () => {
    const h = await open()
    await h.schedules.put('s', { ...secondly, catchUp: 'none', grace: '1 second' })
    h.jump('365 days')
    await h.advance('0s')
    const year = { from: '2026-01-01T00:00Z', to: '2028-01-01T00:00Z' }
    for (const dryRun of [true, false]) {
      await expect(h.schedules.backfill('s', { ...year, dryRun })).rejects.toMatchObject({
        code: 'range_too_large',
        message: expect.stringContaining('more than 10000 skipped occurrences'),
        details: { name: 's', limit: 10_000 },
      })
    }
    // As many as may be: from 12:00:30 on there are 10,000 up to 14:47:10, exclusive.
    const full = { from: AT, to: '2026-03-01T14:47:10Z' }
    expect((await h.schedules.backfill('s', { ...full, dryRun: true })).planTimes).toHaveLength(10_000)
    const oneMore = { from: AT, to: '2026-03-01T14:47:11Z' }
    await expect(h.schedules.backfill('s', oneMore)).rejects.toMatchObject({ code: 'range_too_large' })
    // The one that was on time.
    expect(await h.planTimes('s')).toEqual(['2027-03-01T12:00:30.000Z'])
  })

  it('goes on where a step before it ended, so that a long range is filled in several', async () => {
    const h = await open()
    await h.schedules.put('s', { ...secondly, scopes: ['a', 'b'], catchUp: 'none', grace: '1 second' })
    h.jump('2 hours')
    await h.advance('0s')
    const hour = { from: AT, to: '2026-03-01T13:00:30Z' }
    expect((await h.schedules.backfill('s', hour)).runIds).toHaveLength(7_200)
    const all = await h.schedules.backfill('s', { from: AT, to: '2026-03-02T00:00Z', dryRun: true })
    expect(all.runIds).toHaveLength(7_200)
    expect(all.planTimes[0]).toEqual(new Date('2026-03-01T13:00:30Z'))
  })

  it.each([
    ['no date-time', { from: 'yesterday', to: '2026-03-02T00:00Z' }, 'from: "yesterday"'],
    [
      'a day that there is not',
      { from: '2026-02-30T00:00Z', to: '2026-03-02T00:00Z' },
      'from: "2026-02-30T00:00Z"',
    ],
    ['an end that is none', { from: '2026-03-01T00:00Z', to: Number.NaN }, 'to: '],
    [
      'an end before its beginning',
      { from: '2026-03-02T00:00Z', to: '2026-03-01T00:00Z' },
      'to: 2026-03-01T00:00:00.000Z – is not after from',
    ],
    [
      'an end at its beginning',
      { from: '2026-03-02T00:00Z', to: '2026-03-02T00:00Z' },
      'to: 2026-03-02T00:00:00.000Z – is not after from',
    ],
  ])('refuses a range with %s, and so does the ledger', async (_, range, message) => {
    const h = await open()
    await h.schedules.put('s', secondly)
    const refusal = { code: 'option_invalid', message: expect.stringContaining(message) }
    await expect(h.schedules.backfill('s', range)).rejects.toMatchObject(refusal)
    await expect(h.schedules.occurrences('s', range)).rejects.toMatchObject(refusal)
  })
})
