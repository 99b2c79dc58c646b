import { describe, expect, it } from 'vitest'
import { after, cron, every, type Occurrence, once } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute'), grace: '1 second' }

async function open(at = AT) {
  const h = await openHarness({ at })
  h.job('noop', { handler: () => {} })
  return h
}

const minuteOf = ({ planTime }: Occurrence) => planTime.toISOString().slice(11, 16)
const shown = (occurrence: Occurrence) =>
  `${minuteOf(occurrence)} ${occurrence.runState ?? occurrence.disposition} ${occurrence.reason ?? ''}`.trim()

describe('the timeline', () => {
  it('has so many occurrences before now and after it, and leads on to all others', async () => {
    const h = await open()
    await h.schedules.put('s', minutely)
    await h.advance('2 minutes')
    h.jump('10 minutes')
    await h.advance('1 minute')
    await h.schedules.backfill('s', { from: '2026-03-01T12:05:00Z', to: '2026-03-01T12:06:00Z' })
    await h.advance('0s')
    await h.schedules.skip('s', '2026-03-01T12:15:00Z')
    const near = await h.schedules.timeline('s', { before: 3, after: 2 })
    expect(near).toMatchObject({ now: h.now(), hasEarlier: true, hasLater: true })
    expect(near.occurrences.map(shown)).toEqual([
      '12:11 skipped missed',
      '12:12 succeeded',
      '12:13 succeeded',
      '12:14 upcoming',
      '12:15 upcoming operator',
    ])

    const all = await h.schedules.occurrences('s', { from: AT, to: '2026-03-01T12:20:00Z' })
    for (const count of [1, 4]) {
      const found: Occurrence[] = []
      for (let at = new Date('2026-03-01T12:20:00Z'); ; at = found[0]!.planTime) {
        const page = await h.schedules.timeline('s', { at, before: count, after: 0 })
        expect(page.hasLater).toBe(true)
        found.unshift(...page.occurrences)
        if (!page.hasEarlier) break
      }
      expect(found).toEqual(all)
      const forth: Occurrence[] = []
      for (
        let at = new Date(AT);
        forth.length < all.length;
        at = new Date(forth.at(-1)!.planTime.getTime() + 1)
      ) {
        forth.push(...(await h.schedules.timeline('s', { at, before: 0, after: count })).occurrences)
      }
      expect(forth.slice(0, all.length)).toEqual(all)
    }
  })

  it('has plan times with all their scopes, however many were skipped together', async () => {
    const h = await open()
    await h.schedules.put('s', { ...minutely, scopes: ['a', 'b', 'c'], catchUp: 'none' })
    h.jump('1 hour')
    await h.advance('1 minute')
    const { occurrences } = await h.schedules.timeline('s', { before: 7, after: 1 })
    expect(occurrences.map((each) => `${shown(each)} ${each.scope}`)).toEqual([
      ...['a', 'b', 'c'].map((scope) => `13:00 skipped missed ${scope}`),
      ...['a', 'b', 'c'].map((scope) => `13:01 succeeded ${scope}`),
      ...['a', 'b', 'c'].map((scope) => `13:02 upcoming ${scope}`),
    ])
  })

  it('tells of wishes to skip also during a pause, and what the pause leaves', async () => {
    const h = await open()
    await h.schedules.put('s', minutely)
    await h.advance('1 minute')
    await h.schedules.pause('s')
    await h.schedules.skip('s', '2026-03-01T12:02:00Z')
    await h.schedules.skip('s', '2026-03-01T12:03:00Z')
    await h.advance('1 minute')
    const { occurrences } = await h.schedules.timeline('s', { after: 2 })
    expect(occurrences.map(shown)).toEqual([
      '12:01 succeeded',
      '12:02 skipped paused',
      '12:03 upcoming operator',
      '12:04 upcoming paused',
    ])
  })

  it('says what the zone did, by the timing of the version that it belongs to', async () => {
    const h = await open('2026-03-28T12:00:00Z')
    h.job('hourly', { handler: () => {} })
    const daily = { job: 'noop', timing: cron('30 2 * * *', { zone: 'Europe/Berlin' }) }
    await h.schedules.put('s', daily)
    await h.schedules.put('hourly', { job: 'hourly', timing: cron('30 * * * *', { zone: 'Europe/Berlin' }) })
    const notes = async () => {
      const { occurrences } = await h.schedules.timeline('s', { before: 2, after: 2 })
      return occurrences.map(({ planTime, note }) => [planTime.toISOString(), note])
    }
    const moved = [
      '2026-03-29T01:30:00.000Z',
      '02:30 does not exist on 2026-03-29 (the clock goes forward from 02:00 to 03:00) and is moved to 03:30',
    ]
    expect(await notes()).toEqual([moved, ['2026-03-30T00:30:00.000Z', null]])
    const { occurrences } = await h.schedules.timeline('hourly', { at: '2026-03-29T01:00:00Z', after: 2 })
    expect(occurrences.at(-2)!.note).toMatch(/^02:30 on 2026-03-29 is left out before this one/)
    expect(occurrences.at(-1)!.note).toBeNull()
    await h.advance('1 day')
    // As failed runs are kept for longer than those between them.
    await h.escapement.database.query(
      `delete from "${h.schema}".runs_asked where plan_time between '2026-03-28T13:00:00Z' and '2026-03-29T09:00:00Z'
       and job = 'hourly'`,
    )
    const kept = await h.schedules.timeline('hourly', { after: 0 })
    expect(kept.occurrences.map(({ planTime }) => planTime.toISOString().slice(8, 13))).toEqual([
      '28T12',
      '29T09',
      '29T10',
      '29T11',
    ])
    expect(kept.occurrences.map(({ note }) => note)).toEqual([null, null, null, null])
    await h.schedules.delete('hourly')
    await h.schedules.patch('s', { timing: once('2026-03-30T00:00:00Z') })
    expect(await notes()).toEqual([moved, ['2026-03-30T00:00:00.000Z', null]])
    await h.advance('1 day')
    expect((await notes())[0]).toEqual(moved)
    expect(await h.schedules.timeline('s')).toMatchObject({ hasEarlier: false, hasLater: false })
  })

  it('has the one that waits of those that follow their runs', async () => {
    const h = await open()
    await h.schedules.put('s', { job: 'noop', timing: after('10 minutes') })
    await h.advance('15 minutes')
    const { occurrences, hasLater } = await h.schedules.timeline('s')
    expect(occurrences.map(shown)).toEqual(['12:10 succeeded', '12:20 upcoming'])
    expect(hasLater).toBe(false)
  })
})
