import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEscapement, every, once, type ScheduleDefinition } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { AT, DUE, planned } from '../support/ahead.js'
import { sharedDatabase } from '../support/database.js'
import { running } from '../support/running.js'

const CLEAN = { missing: [], double: [], unexpected: [] }

describe('what was planned ahead', () => {
  it('is recorded when its time has come, once, and the cursor moves on', async () => {
    const { h, ahead, open, fireAt } = await planned()
    const other = await open()
    expect(ahead.hasPlans()).toBe(true)
    expect(await fireAt(DUE)).toEqual([[1, 1]])
    expect(ahead.hasPlans()).toBe(false)
    // Another scheduler had planned the same.
    expect(await fireAt(DUE, other)).toEqual([[0, 0]])
    expect(await h.planTimes('s')).toEqual([DUE])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T00:02:00Z'))
    await h.advance('1 minute')
    expect(await h.planTimes('s')).toEqual([DUE, '2026-03-01T00:02:00.000Z'])
    expect(await h.escapement.audit()).toMatchObject(CLEAN)
  })

  it('is not recorded a millisecond early', async () => {
    const { h, fireAt } = await planned()
    expect(await fireAt('2026-03-01T00:00:59.999Z')).toEqual([[0, 0]])
    expect(await h.planTimes('s')).toEqual([])
    await h.advance('1ms')
    expect(await h.planTimes('s')).toEqual([DUE])
  })

  it.each<[what: string, definition: Partial<ScheduleDefinition>, last: string, late: string]>([
    ['the next plan time has come', {}, '2026-03-01T00:01:59.999Z', '2026-03-01T00:02:00.000Z'],
    [
      'it is no longer on time',
      { grace: '10s', delay: '5s' },
      '2026-03-01T00:01:14.999Z',
      '2026-03-01T00:01:15.000Z',
    ],
  ])('is recorded until %s, and left to a tick from then on', async (_, definition, last, late) => {
    const inTime = await planned(definition)
    expect(await inTime.fireAt(last)).toEqual([[1, 1]])
    const tooLate = await planned({ ...definition, catchUp: 'none' })
    expect(await tooLate.fireAt(late)).toEqual([[0, 0]])
    await tooLate.h.advance('0s')
    expect(await tooLate.h.escapement.audit()).toMatchObject(CLEAN)
  })

  it.each<[what: string, change: (h: Awaited<ReturnType<typeof planned>>['h']) => Promise<unknown>]>([
    ['edited', (h) => h.schedules.put('s', { job: 'noop', timing: every('1 hour') })],
    ['given another input', (h) => h.schedules.patch('s', { input: 'another' })],
    ['paused', (h) => h.schedules.pause('s')],
    ['told to skip it', (h) => h.schedules.skip('s', DUE)],
    ['deleted', (h) => h.schedules.delete('s')],
  ])('is not recorded for a schedule that was %s meanwhile', async (_, change) => {
    const { h, fireAt } = await planned()
    await change(h)
    expect(await fireAt(DUE)).toEqual([[0, 0]])
    expect((await h.runs.search()).runs).toEqual([])
  })

  it('leaves to a tick what it finds recorded already, with all that goes with it', async () => {
    const names = ['a', 'b', 'c']
    const { h, store, ahead, clock, fireAt } = await planned({}, { names })
    await fireAt(DUE)
    // As a repair may leave it.
    const { id } = await h.schedules.get('b')
    await store.query(
      `update {schema}.cursors set next_at = $1, wake_at = $1, decided_through = $2 where schedule_id = $3`,
      [new Date(DUE), new Date(AT), id],
    )
    clock.set(AT)
    await ahead.look(120_000, 1_000)
    expect(await fireAt('2026-03-01T00:01:01.000Z')).toEqual([[0, 0]])
    await h.advance('1 minute')
    for (const name of names) expect(await h.planTimes(name)).toEqual([DUE, '2026-03-01T00:02:00.000Z'])
  })

  it('goes in batches of which the first is small, two at once', async () => {
    const names = Array.from({ length: 9 }, (_, n) => `s${n}`)
    const { h, fireAt } = await planned({}, { names, firstBatch: 2 })
    expect((await fireAt(DUE)).sort()).toEqual([
      [2, 2],
      [3, 3],
      [4, 4],
    ])
    for (const name of names) expect(await h.planTimes(name)).toEqual([DUE])
  })

  it('drops an occurrence while the previous run is open, and lets one wait where it is to', async () => {
    for (const [overlap, disposition] of [
      ['skip', 'skipped'],
      ['queue', 'run'],
    ] as const) {
      const { h, ahead, fireAt } = await planned({ overlap })
      await h.schedules.trigger('s')
      await ahead.look(30_000, 1_000)
      await fireAt(DUE)
      const occurrences = await h.schedules.occurrences('s', { from: DUE, to: '2026-03-01T00:01:30Z' })
      expect(occurrences.map((one) => one.disposition)).toEqual([disposition])
      expect(await h.escapement.audit()).toMatchObject(CLEAN)
    }
  })

  it.each<[what: string, definition: Partial<ScheduleDefinition>]>([
    ['ends with it', { timing: once(DUE) }],
    ['has a last plan time', { endAt: '2026-03-01T00:01:30Z' }],
    ['replaces what is open', { overlap: 'replace' }],
    ['is never on time', { grace: '0s' }],
  ])('is nothing, or comes to nothing, for a schedule that %s: a tick fires it', async (_, definition) => {
    const { h, fireAt } = await planned(definition)
    for (const [, runs] of await fireAt(DUE)) expect(runs).toBe(0)
    await h.advance('0s')
    expect(await h.planTimes('s')).toEqual([DUE])
  })
})

const secondly = { job: 'noop', timing: every('1 second') }
const AHEAD = 'record occurrences planned ahead'

describe('a scheduler that runs', () => {
  it('records what is on time without locking or reading it first', async () => {
    const { escapement, purposes, created } = await running()
    await escapement.schedules.put('secondly', secondly)
    await escapement.start({ roles: ['scheduler'] })
    await expect.poll(() => created.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(3)
    const [first] = created
    expect(created).toEqual(created.map((_, n) => new Date(first!.getTime() + n * 1_000)))
    expect(purposes).toContain(AHEAD)
    expect(await escapement.audit()).toMatchObject(CLEAN)
  })

  it('leaves to ticks what was in the way of somebody, or took too long, and takes that for no outage', async () => {
    const codes = ['40001', '57014']
    const { escapement, logged, created } = await running(
      {},
      {
        refuse: (purpose) => {
          const code = purpose === AHEAD ? codes.shift() : undefined
          if (code !== undefined) throw Object.assign(new Error('not now'), { code })
        },
      },
    )
    await escapement.schedules.put('secondly', secondly)
    await escapement.start({ roles: ['scheduler'] })
    await expect.poll(() => codes, { timeout: 20_000 }).toEqual([])
    await expect.poll(() => created.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2)
    expect(logged).toEqual(['what was planned ahead was cut off, and is left to ticks'])
  })

  it('ends pauses of schedules whose scopes others provide, although nothing else needs a tick', async () => {
    const { escapement, schema, created } = await running()
    const owner = await createEscapement({ database: await sharedDatabase(), schema })
    onTestFinished(() => owner.close())
    owner.job('provided', { scopes: () => ['a'], handler: () => {} })
    await owner.schedules.put('provided', { job: 'provided', timing: every('1 year') })
    await owner.schedules.pause('provided', { until: new Date(Date.now() + 1_500) })
    await escapement.schedules.put('secondly', secondly)
    await escapement.start({ roles: ['scheduler'] })
    await expect
      .poll(async () => (await escapement.schedules.get('provided')).state, { timeout: 20_000 })
      .toBe('active')
    expect(created.length).toBeGreaterThan(0)
  })

  it('sleeps while the clock of a test stands just before a plan time', async () => {
    const clock = createManualClock(Date.parse(DUE) - 1)
    const { escapement, purposes, created } = await running({ clock })
    await escapement.schedules.put('minutely', { job: 'noop', timing: every('1 minute') })
    await escapement.start({ roles: ['scheduler'] })
    await expect.poll(() => purposes).toContain('coming schedules')
    const before = purposes.length
    await sleep(200)
    expect(purposes.length - before).toBeLessThan(5)
    clock.set(Date.parse(DUE))
    await expect.poll(() => created).toEqual([new Date(DUE)])
  })
})
