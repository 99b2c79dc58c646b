import { describe, expect, it } from 'vitest'
import { cron, every, once } from '../../src/index.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'
import { openHarness } from '../support/harness.js'
import { damageOf, processWithZoneData } from '../support/process-with-zone-data.js'

const OLDER = '2020a'
const NEWER = '2099a'
const zone = 'Europe/Paris'
/** 11:00Z in winter. */
const noon = { job: 'noop', timing: cron('0 12 * * *', { zone }) }

async function open(at: string) {
  const h = await openHarness({ at })
  h.job('noop', { handler: () => {} })
  const damage = damageOf(h)
  return {
    h,
    damage,
    older: processWithZoneData(h, OLDER),
    newer: processWithZoneData(h, NEWER),
    /** What data of other rules would have led to. */
    moveCursor: (name: string, to: string) => damage.cursor(name, `next_at = '${to}', wake_at = '${to}'`),
    versionOf: async (name: string) => {
      const [row] = await damage.query('select zone_data from {schema}.schedules where name = $1', [name])
      return row!.zone_data
    },
    actionsOf: async (name: string) => (await h.schedules.changes(name)).map(({ action }) => action),
  }
}

describe('newer zone data', () => {
  it('move the cursors of zoned timings once, and log it where one really moved', async () => {
    const { h, older, newer, moveCursor, versionOf, actionsOf } = await open('2026-03-01T09:30:00Z')
    for (const name of ['moved', 'kept']) await older.schedules.put(name, noon)
    await older.schedules.put('utc', { job: 'noop', timing: cron('0 12 * * *') })
    await moveCursor('moved', '2026-03-01T10:00:00Z')
    const before = await h.schedules.list()

    expect(await newer.applyZoneData()).toEqual([['moved']])
    expect((await h.schedules.get('moved')).nextAt).toEqual(new Date('2026-03-01T11:00:00Z'))
    expect([await versionOf('moved'), await versionOf('kept'), await versionOf('utc')]).toEqual([
      NEWER,
      NEWER,
      null,
    ])
    expect(await actionsOf('moved')).toEqual(['zone_data', 'put'])
    expect(await actionsOf('kept')).toEqual(['put'])
    const after = await h.schedules.list()
    expect(after.map(({ name, version }) => [name, version])).toEqual(
      before.map(({ name, version }) => [name, version]),
    )
    expect(after.filter(({ name }) => name !== 'moved')).toEqual(
      before.filter(({ name }) => name !== 'moved'),
    )

    expect(await newer.applyZoneData()).toEqual([])
    expect(await actionsOf('moved')).toEqual(['zone_data', 'put'])
    await h.advance('1 day')
    expect(await h.planTimes('moved')).toEqual(['2026-03-01T11:00:00.000Z'])
    expect(await newer.audit()).toMatchObject({ missing: [], double: [], unexpected: [], zoneData: [] })
  })

  it.each([
    ['cron', noon],
    ['once', { job: 'noop', timing: once('2026-03-01T12:00', { zone }) }],
  ])('that put the plan time of a waiting occurrence in the past make it due: %s', async (_, definition) => {
    const { h, older, newer, moveCursor } = await open('2026-03-01T10:30:00Z')
    await older.schedules.put('s', definition)
    await moveCursor('s', '2026-03-01T12:00:00Z')
    h.jump('1 hour')
    expect(await newer.applyZoneData()).toEqual([['s']])
    await h.advance('2 hours')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T11:00:00.000Z'])
    expect(await newer.audit()).toMatchObject({ missing: [], unexpected: [], zoneData: [] })
  })

  it('record as missed what they say has passed besides, and run nothing a second time', async () => {
    const { h, newer, moveCursor } = await open('2026-03-01T09:30:00Z')
    await h.schedules.put('s', noon)
    await moveCursor('s', '2026-03-01T10:00:00Z')
    await h.advance('1 hour')
    await moveCursor('s', '2026-03-02T10:00:00Z')
    h.jump('1 hour')
    expect(await newer.applyZoneData()).toEqual([['s']])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-02T11:00:00Z'))
    const history = await h.schedules.history('s')
    expect(
      history.map(({ firstPlanTime, run, reason }) => [firstPlanTime!.toISOString(), run?.state ?? reason]),
    ).toEqual([
      ['2026-03-01T11:00:00.000Z', 'missed'],
      ['2026-03-01T10:00:00.000Z', 'succeeded'],
    ])
    expect(await newer.audit()).toMatchObject({
      missing: [],
      double: [],
      unexpected: [],
      zoneData: [{ planTime: '2026-03-01T10:00:00.000Z' }],
    })
  })

  it('move the end that a limit leads to', async () => {
    const { h, older, newer, damage, actionsOf } = await open('2026-03-01T09:30:00Z')
    await older.schedules.put('s', { ...noon, limit: 2 })
    await damage.schedule('s', `until_at = '2026-03-02T10:00:00.001Z'`)
    expect(await newer.applyZoneData()).toEqual([['s']])
    expect(await actionsOf('s')).toEqual(['zone_data', 'put'])
    await h.advance('5 days')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T11:00:00.000Z', '2026-03-02T11:00:00.000Z'])
    expect((await h.schedules.get('s')).state).toBe('finished')
  })

  it('go through schedules of an unknown version, and those that follow no zone have none afterwards', async () => {
    const { h, newer, damage, versionOf } = await open('2026-03-01T09:30:00Z')
    const utc = { job: 'noop', timing: every('1 hour') }
    const names = Array.from({ length: 1_100 }, (_, n) => `s${n}`)
    await h.schedules.sync(Object.fromEntries(names.map((name) => [name, name === 's7' ? noon : utc])))
    await damage.query(`update {schema}.schedules set zone_data = ''`)
    expect(await newer.applyZoneData()).toEqual([[], []])
    expect([await versionOf('s7'), await versionOf('s8'), await versionOf('s1099')]).toEqual([
      NEWER,
      null,
      null,
    ])
    expect(await newer.applyZoneData()).toEqual([])
  })

  it('leave paused schedules, which take them when they are resumed', async () => {
    const { older, newer, versionOf } = await open('2026-03-01T09:30:00Z')
    await older.schedules.put('s', noon)
    await older.schedules.pause('s')
    expect(await newer.applyZoneData()).toEqual([])
    expect(await versionOf('s')).toBe(OLDER)
    expect((await newer.schedules.resume('s')).nextAt).toEqual(new Date('2026-03-01T11:00:00Z'))
    expect(await versionOf('s')).toBe(NEWER)
  })

  it('are applied by the pass of a scheduler, with one schedule that it cannot compute among them', async () => {
    const { h, older, newer, damage, moveCursor } = await open('2026-03-01T09:30:00Z')
    for (const name of ['a', 'odd', 'z']) await older.schedules.put(name, noon)
    for (const name of ['a', 'z']) await moveCursor(name, '2026-03-01T10:00:00Z')
    await damage.schedule('odd', `timing = jsonb_set(timing, '{zone}', '"Mars/Olympus"')`)
    await newer.keepUp()
    for (const name of ['a', 'z']) {
      expect((await h.schedules.get(name)).nextAt).toEqual(new Date('2026-03-01T11:00:00Z'))
    }
  })
})

describe('newer zone data that come with', () => {
  it('a verb move the cursor first, so that the occurrence that waits is not lost', async () => {
    const { h, older, newer, moveCursor, versionOf, actionsOf } = await open('2026-03-01T10:30:00Z')
    await older.schedules.put('s', noon)
    await moveCursor('s', '2026-03-01T12:00:00Z')
    h.jump('1 hour')
    await newer.schedules.patch('s', { description: 'x' }, { actor: 'ada' })
    expect(await versionOf('s')).toBe(NEWER)
    expect(await actionsOf('s')).toEqual(['patch', 'zone_data', 'put'])
    expect((await h.schedules.changes('s')).map(({ actor }) => actor)).toEqual(['ada', null, null])
    await h.advance('3 hours')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T11:00:00.000Z'])
    expect(await newer.audit()).toMatchObject({ missing: [], double: [], unexpected: [], zoneData: [] })
  })

  it('a tick move the cursor first, so that one day does not run twice', async () => {
    const { h, older, moveCursor, actionsOf } = await open('2026-03-01T09:30:00Z')
    for (const name of ['moved', 'kept']) await older.schedules.put(name, noon)
    await older.schedules.put('utc', { job: 'noop', timing: cron('0 11 * * *') })
    await moveCursor('moved', '2026-03-01T10:00:00Z')
    await h.advance('3 hours')
    for (const name of ['moved', 'kept', 'utc']) {
      expect(await h.planTimes(name)).toEqual(['2026-03-01T11:00:00.000Z'])
    }
    expect(await actionsOf('moved')).toEqual(['zone_data', 'put'])
    expect(await actionsOf('kept')).toEqual(['put'])
  })

  it('a tick are told apart from a schedule that cannot be computed, which is set aside', async () => {
    const { h, older, damage, moveCursor } = await open('2026-03-01T09:30:00Z')
    for (const name of ['a', 'odd']) await older.schedules.put(name, noon)
    for (const name of ['a', 'odd']) await moveCursor(name, '2026-03-01T10:00:00Z')
    await damage.schedule('odd', `timing = jsonb_set(timing, '{zone}', '"Mars/Olympus"')`)
    h.jump('2 hours')
    await h.advance('1 minute')
    expect(await h.planTimes('a')).toEqual(['2026-03-01T11:00:00.000Z'])
    expect(await h.escapement.doctor()).toMatchObject([{ kind: 'unplannable', subject: 'odd' }])
  })

  it('a verb are all applied, also where the ends of many limits must be counted', async () => {
    const { h, older, newer, moveCursor, versionOf } = await open('2026-03-01T09:30:00Z')
    const names = ['a', 'b', 'c']
    const limited = { job: 'noop', timing: cron('* * * * *', { zone }), limit: 75_000, group: 'g' }
    await older.schedules.sync(Object.fromEntries(names.map((name) => [name, limited])))
    for (const name of names) await moveCursor(name, '2026-03-01T09:31:30Z')
    expect(await newer.schedules.pauseGroup('g')).toBe(3)
    for (const name of names) expect(await versionOf(name)).toBe(NEWER)
    expect((await h.schedules.changes('c')).map(({ action }) => action)).toEqual([
      'pause',
      'zone_data',
      'sync',
    ])
  })
})

describe('older zone data', () => {
  it('never move a cursor that newer ones computed, and a tick under them works', async () => {
    const { h, older, newer, moveCursor, versionOf } = await open('2026-03-01T09:30:00Z')
    await newer.schedules.put('s', noon)
    await moveCursor('s', '2026-03-01T10:00:00Z')
    expect(await older.applyZoneData()).toEqual([])
    expect(await older.reconcile()).toEqual([])
    await older.keepUp()
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T10:00:00Z'))
    await h.advance('1 hour')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T10:00:00.000Z'])
    expect(await versionOf('s')).toBe(NEWER)
  })

  it('mend a cursor that could be right under no data, and newer ones then compute it anew', async () => {
    const { h, older, newer, damage, versionOf } = await open('2026-03-01T09:30:00Z')
    await newer.schedules.put('s', noon)
    await damage.cursor('s', 'next_at = null, wake_at = null')
    expect(await older.reconcile()).toEqual(['s'])
    expect(await versionOf('s')).toBe(OLDER)
    await damage.cursor('s', `next_at = '2026-03-01T10:00:00Z', wake_at = '2026-03-01T10:00:00Z'`)
    await newer.applyZoneData()
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T11:00:00Z'))
  })

  it('that came with an edit are replaced by newer ones', async () => {
    const { older, newer, versionOf } = await open('2026-03-01T09:30:00Z')
    await newer.schedules.put('s', noon)
    await older.schedules.patch('s', { priority: 1 })
    expect(await versionOf('s')).toBe(OLDER)
    expect(await newer.applyZoneData()).toEqual([[]])
    expect(await versionOf('s')).toBe(NEWER)
  })

  it('are what doctor finds, with how many schedules newer ones have computed', async () => {
    const { older, newer } = await open('2026-03-01T09:30:00Z')
    for (const name of ['a', 'b']) await newer.schedules.put(name, noon)
    expect(await older.doctor()).toMatchObject([
      {
        kind: 'zone_data',
        subject: OLDER,
        detail: `2 schedules were computed with newer zone data (up to ${NEWER}) than this process has`,
        fix: expect.stringContaining('Node.js'),
      },
    ])
    expect(await newer.doctor()).toEqual([])
  })
})

describe('audit', () => {
  it('names zone data where other ones computed the plan times, and the mistakes made since', async () => {
    const { h, newer, moveCursor, damage } = await open('2026-03-01T09:30:00Z')
    await h.schedules.put('s', noon)
    await moveCursor('s', '2026-03-01T10:00:00Z')
    await h.advance('1 hour')
    await moveCursor('s', '2026-03-02T10:00:00Z')
    await h.advance('1 day')
    await newer.applyZoneData()
    await h.advance('2 days')
    await damage.query(`delete from {schema}.runs_asked where plan_time = '2026-03-03T11:00:00Z'`)
    const { missing, double, unexpected, zoneData } = await newer.audit()
    expect([double, unexpected]).toEqual([[], []])
    expect(missing.map(({ planTime }) => planTime)).toEqual(['2026-03-03T11:00:00.000Z'])
    expect(zoneData.map(({ planTime, detail }) => [planTime, detail]).sort()).toEqual([
      ['2026-03-01T10:00:00.000Z', `a run (scheduled); computed with ${ZONE_DATA}, audited with ${NEWER}`],
      ['2026-03-01T11:00:00.000Z', `active, no answer; computed with ${ZONE_DATA}, audited with ${NEWER}`],
      ['2026-03-02T10:00:00.000Z', `a run (scheduled); computed with ${ZONE_DATA}, audited with ${NEWER}`],
    ])
  })

  it('calls differences mistakes where the same data computed the plan times, also after newer ones moved nothing', async () => {
    const { h, older, newer, damage } = await open('2026-03-01T09:30:00Z')
    await older.schedules.put('s', noon)
    await h.advance('1 day')
    expect(await newer.applyZoneData()).toEqual([[]])
    await h.advance('2 days')
    await newer.schedules.patch('s', { timing: cron('0 12 * * *') })
    await h.advance('1 day')
    await damage.query(`delete from {schema}.runs_asked`)
    const { missing, zoneData } = await newer.audit()
    expect(missing.map(({ planTime }) => planTime)).toEqual(['2026-03-04T12:00:00.000Z'])
    expect(zoneData.map(({ planTime }) => planTime)).toEqual([
      '2026-03-01T11:00:00.000Z',
      '2026-03-02T11:00:00.000Z',
      '2026-03-03T11:00:00.000Z',
    ])
  })

  it('by older data than the schedules have finds zone data, not missing ones', async () => {
    const { h, older, newer, damage } = await open('2026-03-01T09:30:00Z')
    await newer.schedules.put('s', noon)
    await newer.schedules.put('utc', { job: 'noop', timing: cron('0 12 * * *') })
    await h.advance('1 day')
    await damage.query('delete from {schema}.runs_asked')
    const { missing, zoneData } = await older.audit()
    expect(missing.map(({ schedule }) => schedule)).toEqual(['utc'])
    expect(zoneData.map(({ schedule }) => schedule)).toEqual(['s'])
  })
})
