import { describe, expect, it } from 'vitest'
import { type EventName, every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute') }
const NAMES = ['changed', 'paused', 'resumed', 'finished', 'deleted'] as const

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  let heard: string[] = []
  for (const name of NAMES) {
    h.escapement.on(`schedule.${name}` satisfies EventName, ({ schedule, version }) => {
      heard.push(`${name} ${schedule} ${version}`)
    })
  }
  /** What was heard since the last time. */
  const told = () => {
    const since = heard
    heard = []
    return since
  }
  return { h, told }
}

describe('a run that was made is told', () => {
  async function openRuns() {
    const { h } = await open()
    const heard: string[] = []
    h.escapement.on('run.created', ({ schedule, scope, planTime, job }) => {
      heard.push([schedule, scope, job, planTime?.toISOString().slice(11, 16)].join(' '))
    })
    return { h, heard }
  }

  it('by a trigger, once for each key', async () => {
    const { h, heard } = await openRuns()
    await h.schedules.put('s', minutely)
    await h.schedules.trigger('s', { key: 'k' })
    await h.schedules.trigger('s', { key: 'k' })
    expect(heard).toEqual(['s global noop '])
  })

  it('by a verb that settles it, and by a backfill', async () => {
    const { h, heard } = await openRuns()
    await h.schedules.put('s', { ...minutely, catchUp: 'none' })
    h.jump('30 seconds')
    await h.schedules.pause('s')
    expect(heard).toEqual(['s global noop 12:01'])
    h.jump('150 seconds')
    await h.schedules.resume('s')
    await h.schedules.backfill('s', { from: AT, to: h.now() })
    expect(heard).toEqual(['s global noop 12:01', 's global noop 12:02', 's global noop 12:03'])
  })

  it('not where the verb was refused', async () => {
    const { h, heard } = await openRuns()
    await h.schedules.put('s', minutely)
    h.jump('1 minute')
    await expect(h.schedules.pause('s', { expectedVersion: 7 })).rejects.toThrow()
    expect(heard).toEqual([])
  })
})

it('a run that was replaced is told, by a tick and by a verb that settles, and not where that is refused', async () => {
  const { h } = await open()
  const heard: string[] = []
  h.escapement.on('run.cancelled', ({ planTime }) => heard.push(planTime!.toISOString().slice(11, 16)))
  await h.schedules.put('s', { ...minutely, overlap: 'replace', delay: '1 hour' })
  await h.advance('90 seconds')
  expect(heard).toEqual(['12:01'])
  h.jump('1 minute')
  await expect(h.schedules.pause('s', { expectedVersion: 7 })).rejects.toThrow()
  await h.schedules.pause('s')
  expect(heard).toEqual(['12:01', '12:02'])
})

describe('a schedule tells', () => {
  it('that it was changed, by every edit, with the version that the edit made', async () => {
    const { h, told } = await open()
    const { id } = await h.schedules.put('s', minutely)
    const ids: string[] = []
    h.escapement.on('schedule.changed', ({ scheduleId }) => ids.push(scheduleId))
    await h.schedules.patch('s', { priority: 1 })
    await h.schedules.skip('s', '2026-03-01T12:02:00Z')
    await h.schedules.unskip('s', '2026-03-01T12:02:00Z')
    await h.schedules.rename('s', 't')
    expect(told()).toEqual(['changed s 1', 'changed s 2', 'changed s 2', 'changed s 2', 'changed t 3'])
    expect(new Set(ids)).toEqual(new Set([id]))
  })

  it('that it was paused, resumed and deleted', async () => {
    const { h, told } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.pause('s', { reason: 'quiet' })
    await h.schedules.resume('s')
    await h.schedules.delete('s')
    expect(told()).toEqual(['changed s 1', 'paused s 2', 'resumed s 3', 'deleted s 3'])
  })

  it('each of a group, and of a sync with what it prunes', async () => {
    const { h, told } = await open()
    const own = { ...minutely, group: 'g' }
    await h.schedules.sync({ a: own, b: own })
    expect(told()).toEqual(['changed a 1', 'changed b 1'])
    await h.schedules.pauseGroup('g')
    expect(told().sort()).toEqual(['paused a 2', 'paused b 2'])
    await h.schedules.resumeGroup('g')
    expect(told().sort()).toEqual(['resumed a 3', 'resumed b 3'])
    await h.schedules.sync({ b: { ...own, priority: 1 } }, { prune: true })
    expect(told()).toEqual(['changed b 4', 'deleted a 3'])
  })

  it('that its pause ended, when a tick finds it so and when a verb does', async () => {
    const { h, told } = await open()
    for (const name of ['by-tick', 'by-verb']) {
      await h.schedules.put(name, minutely)
      await h.schedules.pause(name, { until: { in: '90 seconds' } })
    }
    told()
    h.jump('2 minutes')
    await h.schedules.patch('by-verb', { priority: 1 })
    expect(told()).toEqual(['resumed by-verb 2', 'changed by-verb 3'])
    await h.advance('0s')
    expect(told()).toEqual(['resumed by-tick 2'])
  })

  it('that it has finished, and with deleteWhenDone that it is deleted', async () => {
    const { h, told } = await open()
    await h.schedules.put('stays', { ...minutely, limit: 1 })
    await h.schedules.put('goes', { ...minutely, limit: 1, deleteWhenDone: true })
    await h.schedules.put('late', { ...minutely, limit: 1 })
    await h.schedules.pause('late')
    told()
    await h.advance('3 minutes')
    expect(told().sort()).toEqual(['deleted goes 1', 'finished goes 1', 'finished stays 1'])
    await h.schedules.resume('late')
    expect(told()).toEqual(['resumed late 3', 'finished late 3'])
  })

  it('nothing where nothing changed', async () => {
    const { h, told } = await open()
    await h.schedules.sync({ s: { ...minutely, group: 'g' } })
    await h.schedules.pause('s', { reason: 'quiet', actor: 'ada', until: '2026-04-01T00:00Z' })
    const { version } = await h.schedules.get('s')
    told()
    await h.schedules.pause('s', { reason: 'quiet', actor: 'ada', until: '2026-04-01T00:00Z' })
    await h.schedules.pauseGroup('g')
    await h.schedules.sync({ s: { ...minutely, group: 'g' } }, { prune: true })
    await h.schedules.patch('s', { priority: 0 })
    await h.schedules.unskip('s', '2026-03-01T12:02:00Z')
    await h.schedules.trigger('s')
    expect(await h.schedules.get('s')).toMatchObject({ version })
    expect(told()).toEqual([])
    await h.schedules.resume('s')
    await h.schedules.resume('s')
    await h.schedules.resumeGroup('g')
    expect(told()).toEqual([`resumed s ${version + 1}`])
  })

  it('nothing that was refused', async () => {
    const { h, told } = await open()
    await h.schedules.put('s', minutely)
    await h.schedules.put('other', minutely)
    told()
    const stale = { expectedVersion: 7 }
    await expect(h.schedules.pause('s', stale)).rejects.toThrow()
    await expect(h.schedules.delete('s', stale)).rejects.toThrow()
    await expect(h.schedules.rename('s', 'other')).rejects.toThrow()
    expect(told()).toEqual([])
    // The end of the pause is rolled back with the verb that found it.
    await h.schedules.pause('s', { until: { in: '90 seconds' } })
    told()
    h.jump('2 minutes')
    await expect(h.schedules.pause('s', stale)).rejects.toThrow()
    expect(told()).toEqual([])
  })

  it('only once it is committed', async () => {
    const { h } = await open()
    await h.schedules.put('s', minutely)
    const seen: Promise<string>[] = []
    h.escapement.on('schedule.paused', ({ schedule }) => {
      seen.push(h.schedules.get(schedule).then(({ state }) => state))
    })
    await h.schedules.pause('s')
    expect(await Promise.all(seen)).toEqual(['paused'])
  })
})
