import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const twice = { job: 'noop', timing: every('1 minute'), limit: 2 }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const logged = (id: string) =>
    h.escapement.database.query(
      `select version, action, actor, before, after, state, boundary from "${h.schema}".changes
       where schedule_id = $1 order by id`,
      [id],
    )
  const clean = async () =>
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  return { h, logged, clean }
}

describe('a schedule whose plan times are over', () => {
  it('is finished by the tick, and the change log says so for every one of a batch', async () => {
    const { h, logged, clean } = await open()
    const ids = []
    for (const name of ['a', 'b', 'c']) ids.push((await h.schedules.put(name, twice, { actor: 'ada' })).id)
    await h.schedules.put('goes-on', { ...twice, limit: 9 })
    await h.advance('5 minutes')
    for (const id of ids) {
      expect(await logged(id)).toMatchObject([
        { action: 'put', actor: 'ada', state: 'active' },
        {
          version: 1,
          action: 'finish',
          actor: null,
          before: { job: 'noop', limit: 2 },
          after: { job: 'noop', limit: 2 },
          state: 'finished',
          boundary: new Date('2026-03-01T12:02:00Z'),
        },
      ])
    }
    expect((await h.schedules.changes('goes-on')).map(({ action }) => action)).toEqual(['put'])
    await clean()
  })

  it('is audited by the content of each of its lives when an edit wakes it', async () => {
    const { h, clean } = await open()
    await h.schedules.put('s', twice)
    await h.advance('5 minutes')
    await h.schedules.patch('s', { limit: 8 })
    await h.advance('10 minutes')
    expect((await h.schedules.changes('s')).map(({ action, version }) => [action, version])).toEqual([
      ['finish', 2],
      ['patch', 2],
      ['finish', 1],
      ['put', 1],
    ])
    expect(await h.planTimes('s')).toHaveLength(5)
    expect(await h.escapement.audit()).toMatchObject({ occurrences: 5 })
    await clean()
  })

  it('is deleted by the tick with deleteWhenDone, and the change log keeps what it was', async () => {
    const { h, logged } = await open()
    const { id } = await h.schedules.put('s', { ...twice, deleteWhenDone: true })
    await h.advance('5 minutes')
    expect((await logged(id)).at(-1)).toMatchObject({
      version: 1,
      action: 'delete',
      actor: null,
      before: { job: 'noop', limit: 2, policies: { deleteWhenDone: true } },
      after: null,
      boundary: new Date('2026-03-01T12:02:00Z'),
    })
  })

  it('is deleted by the verb that finds it done, with one entry for each', async () => {
    const { h, logged } = await open()
    const { id } = await h.schedules.put('s', { ...twice, deleteWhenDone: true })
    await h.schedules.pause('s', { actor: 'ada' })
    h.jump('5 minutes')
    expect(await h.schedules.resume('s', { actor: 'bob' })).toMatchObject({
      id,
      version: 3,
      state: 'finished',
      nextAt: null,
    })
    await expect(h.schedules.get('s')).rejects.toMatchObject({ code: 'schedule_not_found' })
    expect(await logged(id)).toMatchObject([
      { action: 'put' },
      { action: 'pause', actor: 'ada', state: 'paused' },
      { action: 'resume', actor: 'bob', state: 'finished' },
      { action: 'delete', actor: null, before: { limit: 2 }, after: null },
    ])
  })

  it('with deleteWhenDone is given as it was last by every verb that ends it', async () => {
    const { h, clean } = await open()
    const ending = { ...twice, deleteWhenDone: true }
    for (const name of ['put', 'patch', 'rename']) await h.schedules.put(name, ending)
    const endAt = new Date(h.now().getTime() + 1)
    h.jump('1 second')
    expect(await h.schedules.put('put', { ...ending, endAt, startAt: AT })).toMatchObject({
      state: 'finished',
    })
    expect(await h.schedules.patch('patch', { endAt })).toMatchObject({ state: 'finished', version: 2 })
    h.jump('5 minutes')
    expect(await h.schedules.rename('rename', 'renamed')).toMatchObject({
      name: 'renamed',
      state: 'finished',
    })
    expect(await h.schedules.list()).toEqual([])
    await clean()
  })

  it('is deleted at once with deleteWhenDone where it is put after its end, and told as such', async () => {
    const { h, logged } = await open()
    const told: string[] = []
    for (const name of ['changed', 'finished', 'deleted'] as const) {
      h.escapement.on(`schedule.${name}`, () => told.push(name))
    }
    const ended = { job: 'noop', timing: every('1 hour'), endAt: '2026-03-01T00:00Z', deleteWhenDone: true }
    const { id, state } = await h.schedules.put('s', ended)
    expect(state).toBe('finished')
    expect(await h.schedules.list()).toEqual([])
    expect((await logged(id)).map(({ action }) => action)).toEqual(['put', 'delete'])
    expect(told).toEqual(['changed', 'finished', 'deleted'])
  })

  it('is finished by a trigger that decides its last plan time, and deleted where it asks for it', async () => {
    const { h, clean } = await open()
    for (const [name, deleteWhenDone] of [['stays', false] as const, ['goes', true] as const]) {
      await h.schedules.put(name, { ...twice, limit: 1, deleteWhenDone })
    }
    h.jump('1 minute')
    for (const name of ['stays', 'goes']) await h.schedules.trigger(name)
    expect((await h.schedules.list()).map(({ name, state }) => [name, state])).toEqual([
      ['stays', 'finished'],
    ])
    expect((await h.runs.list({ schedule: 'stays' })).map(({ trigger }) => trigger).sort()).toEqual([
      'manual',
      'scheduled',
    ])
    await clean()
  })
})
