import { describe, expect, it } from 'vitest'
import { cron, every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'
import { damageOf, processWithZoneData } from '../support/process-with-zone-data.js'

const AT = '2026-03-01T12:00:30Z'

async function open(at = AT) {
  const h = await openHarness({ at })
  h.job('noop', { handler: () => {} })
  const clean = async () =>
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  return { h, damage: damageOf(h), clean }
}

const damages = [
  ['has no plan time', 'next_at = null, wake_at = null'],
  ['stands beyond what is due', `next_at = '2026-04-01T00:00Z', wake_at = '2026-04-01T00:00Z'`],
  ['stands before what is decided', `next_at = '2026-03-01T12:01Z', wake_at = '2030-01-01'`],
  ['stands at no plan time', `next_at = '2026-03-01T12:04:10Z', wake_at = '2030-01-01'`],
  ['is of another version', 'version = 77'],
] as const

describe('a verb that meets a cursor that is damaged', () => {
  it.each(damages)('settles all that is due, where the cursor %s', async (_, set) => {
    const { h, damage, clean } = await open()
    const verbs = {
      patch: () => h.schedules.patch('patch', { description: 'edited' }),
      pause: () => h.schedules.pause('pause'),
      rename: () => h.schedules.rename('rename', 'renamed'),
      delete: () => h.schedules.delete('delete'),
    }
    for (const name of Object.keys(verbs)) {
      await h.schedules.put(name, { job: 'noop', timing: every('1 minute'), catchUp: 'all' })
    }
    await h.advance('2 minutes')
    for (const name of Object.keys(verbs)) await damage.cursor(name, set)
    h.jump('5 minutes')
    for (const verb of Object.values(verbs)) await verb()
    const runs = await damage.query(
      'select count(*) as n from {schema}.runs group by schedule_id order by schedule_id',
    )
    expect(runs.map(({ n }) => Number(n))).toEqual([7, 7, 7, 7])
    await clean()
  })

  it('plans nothing before startAt, and nothing at all where it is finished', async () => {
    const { h, damage, clean } = await open()
    const later = { job: 'noop', timing: every('1 minute'), startAt: '2026-03-01T13:00Z' }
    await h.schedules.put('later', later)
    await h.schedules.put('over', { job: 'noop', timing: every('1 minute'), limit: 1 })
    await h.advance('2 minutes')
    await damage.cursor('later', 'next_at = null, wake_at = null')
    h.jump('5 minutes')
    expect(await h.schedules.patch('later', { priority: 1 })).toMatchObject({
      nextAt: new Date('2026-03-01T13:00:00Z'),
    })
    expect(await h.schedules.patch('over', { priority: 1 })).toMatchObject({ state: 'finished' })
    expect([await h.planTimes('later'), await h.planTimes('over')]).toEqual([
      [],
      ['2026-03-01T12:01:00.000Z'],
    ])
    await clean()
  })

  it('takes one that other zone data computed as it is, and mends it where it is none', async () => {
    const { h, damage } = await open('2026-03-01T09:30:00Z')
    const [older, newer] = [processWithZoneData(h, '2020a'), processWithZoneData(h, '2099a')]
    const noon = { job: 'noop', timing: cron('0 12 * * *', { zone: 'Europe/Paris' }) }
    for (const name of ['theirs', 'none']) await newer.schedules.put(name, noon)
    await damage.cursor('theirs', `next_at = '2026-03-01T10:00Z', wake_at = '2026-03-01T10:00Z'`)
    await damage.cursor('none', 'next_at = null, wake_at = null')
    for (const name of ['theirs', 'none']) {
      h.jump('1 hour')
      await older.schedules.pause(name)
    }
    expect([await h.planTimes('theirs'), await h.planTimes('none')]).toEqual([
      ['2026-03-01T10:00:00.000Z'],
      ['2026-03-01T11:00:00.000Z'],
    ])
  })
})
