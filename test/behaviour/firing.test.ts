import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { every, once } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const noop = { handler: () => {} }
const HOURS = process.env.ESCAPEMENT_TEST_LONG ? 24 : 2

describe('firing', () => {
  it('yields one run for each plan time and moves the cursor to the next', async () => {
    const h = await openHarness({ at: '2026-03-29T00:59:30Z' })
    h.job('noop', noop)
    await h.schedules.put('hourly', { job: 'noop', timing: every('1 hour') })
    await h.advance('2 hours')
    expect(await h.planTimes('hourly')).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-29T02:00:00.000Z'])
    expect((await h.schedules.get('hourly')).nextAt).toEqual(new Date('2026-03-29T03:00:00Z'))
    const runs = await h.runs.list({ schedule: 'hourly' })
    expect(runs.map((run) => run.state)).toEqual(['succeeded', 'succeeded'])
    expect(runs[0]!.startedAt).toEqual(new Date('2026-03-29T02:00:00Z'))
  })

  it('fires a herd of many batches, each schedule once', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
    h.job('noop', noop)
    const names = Array.from({ length: 100 }, (_, n) => `customer:${n}`)
    const hourly = { job: 'noop', timing: every('1 hour') }
    await h.schedules.sync(Object.fromEntries(names.map((name) => [name, hourly])))
    const later = await assemble({
      database: await sharedDatabase(),
      schema: h.schema,
      clock: createManualClock(Date.parse('2026-03-01T01:00:00Z')),
      scheduler: { batch: 7 },
    })
    await later.scheduler.tickWhileDue()
    for (const name of names) expect(await h.planTimes(name)).toEqual(['2026-03-01T01:00:00.000Z'])
  })

  it('fires a plan time that equals now, and not one a millisecond later', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00.000Z' })
    h.job('noop', noop)
    await h.schedules.put('minutely', { job: 'noop', timing: every('1 minute') })
    await h.advance('59.999s')
    expect(await h.planTimes('minutely')).toEqual(['2026-03-01T00:00:00.000Z'])
    await h.advance({ milliseconds: 1 })
    expect(await h.planTimes('minutely')).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z'])
  })

  it('keeps to startAt, inclusive, and endAt, exclusive, then is finished', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    h.job('noop', noop)
    await h.schedules.put('bounded', {
      job: 'noop',
      timing: every('1 second'),
      startAt: '2026-03-01T00:01:00Z',
      endAt: '2026-03-01T00:02:00Z',
    })
    await h.advance('5 minutes')
    const times = await h.planTimes('bounded')
    expect(times).toHaveLength(60)
    expect([times.at(0), times.at(-1)]).toEqual(['2026-03-01T00:01:00.000Z', '2026-03-01T00:01:59.000Z'])
    expect(await h.schedules.get('bounded')).toMatchObject({ state: 'finished', nextAt: null })
  })

  it('fires once at once when its instant has passed, then keeps its definition', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:00Z' })
    h.job('noop', noop)
    await h.schedules.put('launch', { job: 'noop', timing: once('2026-03-01T09:00:00Z') })
    await h.advance('1 second')
    expect(await h.planTimes('launch')).toEqual(['2026-03-01T09:00:00.000Z'])
    expect(await h.schedules.get('launch')).toMatchObject({
      state: 'finished',
      timing: { kind: 'once', at: '2026-03-01T09:00:00.000Z' },
    })
  })

  it('drains a backlog larger than one batch at once, batch after batch, without sleeping', async () => {
    const clock = createManualClock(Date.parse('2026-03-01T00:00:30Z'))
    const sleeps: number[] = []
    const h = await openHarness({ at: clock.now() })
    const { escapement } = await assemble({
      database: await sharedDatabase(),
      schema: h.schema,
      scheduler: { batch: 10 },
      clock: {
        ...clock,
        sleep: (ms, signal) => {
          sleeps.push(created)
          return clock.sleep(ms, signal)
        },
      },
    })
    onTestFinished(() => escapement.close())
    h.job('noop', noop)
    await h.advance('0s')
    for (let index = 0; index < 35; index++) {
      await h.schedules.put(`s-${index}`, { job: 'noop', timing: every('1 minute') })
    }
    let created = 0
    const all = new Promise<void>((resolve) => {
      escapement.on('run.created', () => {
        created += 1
        if (created === 35) resolve()
      })
    })
    clock.set(Date.parse('2026-03-01T00:01:00Z'))
    await escapement.start({ roles: ['scheduler'] })
    await all
    expect(sleeps.filter((done) => done < 35)).toEqual([])
    await escapement.stop()
  })

  it('touches no run that exists when its schedule is paused, retuned or deleted', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
    h.job('noop', noop)
    const { id } = await h.schedules.put('s', { job: 'noop', timing: every('1 minute'), delay: '1 hour' })
    await h.advance('2 minutes')
    const runs = () =>
      h.escapement.database.query(`select * from "${h.schema}".runs where schedule_id = $1 order by id`, [id])
    const before = await runs()
    expect(before).toHaveLength(2)
    await h.schedules.pause('s')
    await h.schedules.put('s', { job: 'noop', timing: every('1 hour'), priority: 5 })
    await h.schedules.delete('s')
    expect(await runs()).toEqual(before)
    await h.advance('2 hours')
    expect((await h.runs.get(before[0]!.id as string)).state).toBe('succeeded')
  })

  it('catches up nothing from before its creation', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    h.job('noop', noop)
    await h.schedules.put('minutely', {
      job: 'noop',
      timing: every('1 minute'),
      startAt: '2026-03-01T10:00:00Z',
    })
    await h.advance('30 seconds')
    expect(await h.planTimes('minutely')).toEqual(['2026-03-01T12:01:00.000Z'])
  })

  it('runs all plan times that are within the grace after a short outage', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:00.500Z' })
    h.job('noop', noop)
    await h.schedules.put('secondly', { job: 'noop', timing: every('1 second') })
    h.jump('20 seconds')
    await h.advance('0s')
    expect(await h.planTimes('secondly')).toHaveLength(20)
  })

  it('runs the newest plan time after a long outage and records the others as missed', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    h.job('noop', noop)
    const { id } = await h.schedules.put('five', { job: 'noop', timing: every('5 minutes') })
    h.jump('1 hour')
    await h.advance('0s')
    expect(await h.planTimes('five')).toEqual(['2026-03-01T13:00:00.000Z'])
    const { schema } = h
    const skips = await h.escapement.database.query(
      `select scope, first_plan_time, last_plan_time, reason from "${schema}".skips where schedule_id = $1`,
      [id],
    )
    expect(skips).toEqual([
      {
        scope: 'global',
        first_plan_time: new Date('2026-03-01T12:05:00Z'),
        last_plan_time: new Date('2026-03-01T12:55:00Z'),
        reason: 'missed',
      },
    ])
  })

  it('plans a schedule for each second that was down for a year without enumerating it', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:00.500Z' })
    h.job('noop', noop)
    await h.schedules.put('secondly', { job: 'noop', timing: every('1 second') })
    h.jump('365 days')
    await h.advance('0s')
    expect(await h.planTimes('secondly')).toHaveLength(60)
  })

  it('runs once for each scope and plan time', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:01Z' })
    const seen: string[] = []
    h.job('noop', { handler: ({ scope }) => void seen.push(scope!) })
    await h.schedules.put('tenants', { job: 'noop', timing: every('1 hour'), scopes: ['acme', 'zeta'] })
    await h.advance('1 hour')
    expect(seen.sort()).toEqual(['acme', 'zeta'])
  })

  it('decides what was due before an edit by the old content, and looks ahead with the new', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
    const inputs: unknown[] = []
    h.job('note', { handler: ({ input, planTime }) => void inputs.push([input, planTime!.toISOString()]) })
    await h.schedules.put('s', { job: 'note', input: 'old', timing: every('1 minute') })
    h.jump('1 minute')
    await h.schedules.put('s', { job: 'note', input: 'new', timing: every('1 hour') })
    await h.advance('2 hours')
    expect(inputs).toEqual([
      ['old', '2026-03-01T00:01:00.000Z'],
      ['new', '2026-03-01T01:00:00.000Z'],
      ['new', '2026-03-01T02:00:00.000Z'],
    ])
  })

  it('changes nothing when the same content is put again', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
    h.job('noop', noop)
    const definition = { job: 'noop', input: { b: 1, a: [1, { c: null }] }, timing: every('1 minute') }
    const first = await h.schedules.put('s', definition)
    h.jump('30 minutes')
    expect(await h.schedules.put('s', definition)).toEqual(first)
  })

  it('never plans the same plan time again after an edit', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    h.job('noop', noop)
    await h.schedules.put('s', { job: 'noop', timing: every('1 minute') })
    await h.advance('1 minute')
    await h.schedules.put('s', { job: 'noop', timing: every('30 seconds') })
    await h.advance('0s')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z'])
  })

  it(`runs ${HOURS * 60} times in ${HOURS} simulated hours of a schedule every minute`, {
    timeout: 240_000,
  }, async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    let count = 0
    h.job('count', { handler: () => ++count })
    await h.schedules.put('minutely', { job: 'count', timing: every('1 minute') })
    await h.advance({ seconds: HOURS * 3600 - 1 })
    expect(count).toBe(HOURS * 60)
    const times = await h.planTimes('minutely')
    const first = Date.parse('2026-03-01T00:00:00Z')
    expect(times).toEqual(times.map((_, minute) => new Date(first + minute * 60_000).toISOString()))
    expect(times).toHaveLength(HOURS * 60)
  })
})
