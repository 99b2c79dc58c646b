import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'
import { damageOf, processWithZoneData } from '../support/process-with-zone-data.js'

const FIRST = '00000000-0000-0000-0000-000000000000'
const minutely = { job: 'noop', timing: every('1 minute') }
const names = ['a', 'b', 'c', 'd', 'e']

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  const damage = damageOf(h)
  const snapshot = () => damage.query('select * from {schema}.cursors order by schedule_id')
  return { h, damage, snapshot, scheduler: processWithZoneData(h) }
}

describe('reconciling by slices', () => {
  it('goes on where the last slice ended, and comes to the end', async () => {
    const { h, damage, scheduler } = await open()
    for (const name of names) {
      await h.schedules.put(name, minutely)
      h.jump({ milliseconds: 1 })
    }
    await damage.query('update {schema}.cursors set next_at = null, wake_at = null')
    const first = await scheduler.reconcileSlice({ after: FIRST, limit: 2 })
    expect(first.mended).toEqual(['a', 'b'])
    const second = await scheduler.reconcileSlice({ after: first.next!, limit: 2 })
    expect(second.mended).toEqual(['c', 'd'])
    expect(await scheduler.reconcileSlice({ after: second.next!, limit: 2 })).toMatchObject({
      mended: ['e'],
      next: null,
    })
  })
})

describe('a damaged cursor that a verb meets before anybody has mended it', () => {
  it.each([
    ['has no plan time', 'next_at = null, wake_at = null'],
    ['is too far ahead', `next_at = '2030-01-01', wake_at = '2030-01-01'`],
    ['is behind', `next_at = '2026-03-01T11:00:00Z'`],
  ])('loses no occurrence where it %s', async (_, set) => {
    const { h, damage } = await open()
    await h.schedules.put('s', { ...minutely, catchUp: 'all' })
    await damage.cursor('s', set)
    h.jump('3 minutes')
    await h.schedules.patch('s', { description: 'x' })
    expect(await h.planTimes('s')).toEqual(
      ['12:01', '12:02', '12:03'].map((time) => `2026-03-01T${time}:00.000Z`),
    )
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })
})

describe('the pass of a scheduler', () => {
  it.each([
    ['has no plan time', 'next_at = null, wake_at = null'],
    ['never wakes', 'wake_at = null'],
    ['wakes far too late', `wake_at = '2030-01-01'`],
    ['stands at another plan time', `next_at = '2030-01-01', wake_at = '2030-01-01'`],
    ['is of another version', 'version = 77'],
  ])('mends a cursor that %s, wherever it begins, and changes nothing the second time', async (_, set) => {
    const { h, damage, snapshot, scheduler } = await open()
    for (const name of names) await h.schedules.put(name, minutely)
    await h.advance('1 minute')
    const sound = await snapshot()
    for (const name of ['a', 'c', 'e']) await damage.cursor(name, set)
    await scheduler.keepUp()
    expect(await snapshot()).toEqual(sound)
    expect(await scheduler.reconcile()).toEqual([])
    expect(await snapshot()).toEqual(sound)
  })

  it('begins when the scheduler starts', async () => {
    const { h, damage } = await open()
    const { nextAt } = await h.schedules.put('s', minutely)
    await damage.cursor('s', 'next_at = null, wake_at = null')
    await h.escapement.start({ roles: ['scheduler'] })
    await expect.poll(async () => (await h.schedules.get('s')).nextAt).toEqual(nextAt)
    await h.escapement.stop()
  })

  it('makes a cursor anew that is gone, of a paused schedule too', async () => {
    const { h, damage, scheduler } = await open()
    for (const name of ['active', 'paused']) await h.schedules.put(name, minutely)
    await h.schedules.pause('paused', { until: '2026-03-01T12:02:30Z' })
    await damage.query('delete from {schema}.cursors')
    await scheduler.keepUp()
    await h.advance('3 minutes')
    expect(await h.planTimes('active')).toHaveLength(3)
    expect((await h.schedules.get('paused')).state).toBe('active')
  })

  it('makes a cursor anew that follows the last edit, though no plan time was decided since', async () => {
    const { h, damage, scheduler } = await open()
    await h.schedules.put('s', { job: 'noop', timing: every('1 day') })
    await h.advance('5 hours')
    const { nextAt } = await h.schedules.patch('s', { timing: every('10 minutes') })
    await damage.query('delete from {schema}.cursors')
    await scheduler.keepUp()
    expect((await h.schedules.get('s')).nextAt).toEqual(nextAt)
    await h.advance('10 minutes')
    expect(await h.planTimes('s')).toEqual([nextAt!.toISOString()])
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('takes away what is due of a schedule that is not active', async () => {
    const { h, damage, scheduler } = await open()
    await h.schedules.put('s', { ...minutely, paused: true })
    await damage.cursor('s', `next_at = '2026-03-01T12:00:00Z', wake_at = '2026-03-01T11:00:00Z'`)
    await scheduler.keepUp()
    expect((await h.schedules.get('s')).nextAt).toBeNull()
    expect(await scheduler.reconcile()).toEqual([])
  })

  it('leaves a schedule alone that was set aside, or whose backlog is under way', async () => {
    const { h, damage, snapshot, scheduler } = await open()
    for (const name of ['aside', 'backlog']) await h.schedules.put(name, minutely)
    h.jump('1 day')
    await damage.cursor('aside', `wake_at = '2026-03-02T12:01:30Z', plan_error = 'its scopes: none'`)
    await damage.cursor('backlog', `wake_at = '2026-03-02T12:00:30Z'`)
    const before = await snapshot()
    await scheduler.keepUp()
    expect(await snapshot()).toEqual(before)
  })
})
