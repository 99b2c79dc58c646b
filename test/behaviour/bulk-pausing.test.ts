import { expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const daily = { job: 'noop', timing: every('1 day') }

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  h.job('mail', { handler: () => {} })
  h.job('gated', { gate: ({ input }) => input === 'open' || { reason: 'too early' }, handler: () => {} })
  const inState = async (state: 'active' | 'paused') =>
    (await h.schedules.search({ state, limit: 1_000 })).schedules.map(({ name }) => name)
  return { h, inState }
}

it('pauses and resumes what a filter finds, in the log and as events like one by one', async () => {
  const { h, inState } = await open()
  await h.schedules.sync({
    'a:mail': { ...daily, job: 'mail', group: 'g' },
    'b:mail': { ...daily, job: 'mail' },
    'c:noop': { ...daily, group: 'g', description: 'By mail too' },
    'd:done': { ...daily, endAt: '2026-03-02T12:00:00Z', limit: 1 },
  })
  await h.schedules.pause('b:mail', { reason: 'before' })
  const told: string[] = []
  for (const name of ['schedule.paused', 'schedule.resumed'] as const) {
    h.escapement.on(name, ({ schedule }) => told.push(`${name} ${schedule}`))
  }
  const pause = { reason: 'the mail server', until: { in: '2 hours' }, actor: 'ann' } as const
  expect(await h.schedules.pauseAll({ q: 'mail' }, { ...pause, dryRun: true })).toEqual({
    changed: 2,
    dryRun: true,
    nextPageToken: null,
  })
  expect(told).toEqual([])
  expect(await h.schedules.pauseAll({ q: 'mail' }, pause)).toEqual({
    changed: 2,
    dryRun: false,
    nextPageToken: null,
  })
  expect(told.splice(0).sort()).toEqual(['schedule.paused a:mail', 'schedule.paused c:noop'])
  expect((await h.schedules.changes('a:mail'))[0]).toMatchObject({
    action: 'pause',
    actor: 'ann',
    version: 2,
  })
  expect((await h.schedules.get('c:noop')).stateNote).toEqual({
    reason: 'the mail server',
    by: 'ann',
    since: h.now(),
    until: new Date('2026-03-01T14:00:30Z'),
  })
  expect(await h.schedules.get('b:mail')).toMatchObject({ version: 2, stateNote: { reason: 'before' } })
  expect(await h.schedules.pauseAll({ q: 'mail' }, pause)).toMatchObject({ changed: 0 })
  expect(await inState('active')).toEqual(['d:done'])

  expect(await h.schedules.resumeAll({ group: 'g', job: 'mail' }, { dryRun: true })).toMatchObject({
    changed: 1,
  })
  expect(await h.schedules.resumeAll({ state: 'paused', job: 'mail' })).toMatchObject({ changed: 2 })
  expect(await h.schedules.resumeAll({ state: 'active' })).toMatchObject({ changed: 0 })
  expect(await inState('paused')).toEqual(['c:noop'])
  expect(told.sort()).toEqual(['schedule.resumed a:mail', 'schedule.resumed b:mail'])

  await h.advance('1 day')
  expect(await h.schedules.get('d:done')).toMatchObject({ state: 'finished' })
  expect(await h.schedules.pauseAll({}, { dryRun: true })).toMatchObject({ changed: 3 })
  expect(await h.schedules.pauseAll({})).toMatchObject({ changed: 3 })
})

it('leaves those whose gate is closed, and goes on where it was told to stop', async () => {
  const { h, inState } = await open()
  const names = Array.from({ length: 1_200 }, (_, index) => `s:${String(index).padStart(4, '0')}`)
  const gated = (input: string) => ({ ...daily, job: 'gated', paused: true, input })
  await h.schedules.sync({
    ...Object.fromEntries(names.map((name) => [name, daily])),
    'gated:1': gated('closed'),
    'gated:2': gated('open'),
  })
  const first = await h.schedules.pauseAll({ q: 's:' }, { limit: 1 })
  expect(first).toEqual({ changed: 1_000, dryRun: false, nextPageToken: expect.any(String) })
  const pageToken = first.nextPageToken!
  await expect(h.schedules.pauseAll({}, { pageToken })).rejects.toMatchObject({ code: 'option_invalid' })
  await expect(h.schedules.resumeAll({ q: 's:' }, { pageToken })).rejects.toThrow(
    /pageToken: .* another verb/,
  )
  expect(await h.schedules.pauseAll({ q: 's:' }, { pageToken })).toMatchObject({
    changed: 200,
    nextPageToken: null,
  })
  expect(await h.schedules.resumeAll({ job: 'gated' }, { dryRun: true })).toMatchObject({ changed: 2 })
  expect(await h.schedules.resumeAll({ job: 'gated' })).toMatchObject({ changed: 1 })
  expect(await inState('active')).toEqual(['gated:2'])
})

it('refuses what is no filter, and a time that has passed, before anything is changed', async () => {
  const { h, inState } = await open()
  await h.schedules.put('s', daily)
  const { schedules } = h
  await expect(schedules.pauseAll(undefined as never)).rejects.toThrow(/filter: .* must be an object/)
  await expect(schedules.pauseAll({ stat: 'active', group: '' } as never)).rejects.toThrow(
    /stat: unknown option \(did you mean "state"\?\)[\s\S]*group: /,
  )
  await expect(schedules.pauseAll({}, { until: '2026-03-01T12:00:00Z' })).rejects.toThrow(
    /until: .* has passed/,
  )
  await expect(schedules.resumeAll({}, { reason: 'x' } as never)).rejects.toThrow(/reason: unknown option/)
  for (const q of ['--', ' ']) {
    await expect(schedules.pauseAll({ q })).rejects.toThrow(/^q: .* has no letter or digit .* to mean all/)
  }
  expect(await inState('active')).toEqual(['s'])
})

it('pauses those whose pause has ended, though no scheduler has come to them yet', async () => {
  const { h, inState } = await open()
  await h.schedules.put('s', { ...daily, group: 'g' })
  await h.schedules.put('t', daily)
  for (const name of ['s', 't']) await h.schedules.pause(name, { until: { in: '10 minutes' } })
  h.jump('11 minutes')
  expect(await h.schedules.pauseAll({ group: 'g' }, { dryRun: true })).toMatchObject({ changed: 1 })
  expect(await h.schedules.pauseGroup('g', { reason: 'maintenance' })).toBe(1)
  expect(await inState('paused')).toEqual(['s', 't'])
  await h.advance('1 minute')
  expect(await inState('paused')).toEqual(['s'])
  expect((await h.schedules.get('s')).stateNote).toMatchObject({ reason: 'maintenance', until: null })
})

it('leaves those to whom it comes when its end has passed', async () => {
  const { h, inState } = await open()
  let asked = 0
  h.job('slow', {
    scopes: () => {
      asked += 1
      h.jump('11 minutes')
      return ['a']
    },
    handler: () => {},
  })
  await h.schedules.put('s', { job: 'slow', timing: every('1 minute') })
  h.jump('1 minute')
  expect(await h.schedules.pauseAll({}, { until: { in: '10 minutes' } })).toMatchObject({ changed: 0 })
  expect([asked, await inState('active')]).toEqual([1, ['s']])
})
