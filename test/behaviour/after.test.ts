import { describe, expect, it } from 'vitest'
import { after as afterCompletion, every, NonRetryableError } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'
const hourly = { job: 'work', timing: afterCompletion('1 hour') }

async function open() {
  const h = await openHarness({ at: AT })
  const took = { minutes: 0 }
  // A handler takes its time by moving the clock.
  h.job('work', { handler: () => h.jump({ minutes: took.minutes }), lease: '10 hours' })
  const nextAt = async () => (await h.schedules.get('s')).nextAt?.toISOString().slice(11, 16) ?? null
  const ran = async () => (await h.planTimes('s')).map((time) => time.slice(11, 16))
  const clean = async () =>
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  return { h, took, nextAt, ran, clean }
}

describe('an after schedule', () => {
  it('is due at enabling + interval first, then at the last completion + interval', async () => {
    const { h, took, nextAt, ran, clean } = await open()
    await h.schedules.put('s', hourly)
    expect(await nextAt()).toBe('13:00')
    took.minutes = 10
    await h.advance('4 hours')
    expect(await ran()).toEqual(['13:00', '14:10', '15:20'])
    expect(await nextAt()).toBe('16:30')
    await clean()
  })

  it('counts from the enabling when it is enabled again, even when old runs exist', async () => {
    const { h, nextAt, ran, clean } = await open()
    await h.schedules.put('s', hourly)
    await h.advance('1 hour 10 minutes')
    await h.schedules.pause('s')
    expect(await nextAt()).toBeNull()
    await h.advance('5 hours')
    await h.schedules.resume('s')
    expect(await nextAt()).toBe('19:10')
    await h.advance('1 hour')
    expect(await ran()).toEqual(['13:00', '19:10'])
    await clean()
  })

  it('counts from the end of a run that outlasts its pause, however late that is ended', async () => {
    const { h, took, nextAt, ran, clean } = await open()
    h.job('pausing', {
      lease: '10 hours',
      async handler() {
        if ((await ran()).length === 1) await h.schedules.pause('s', { until: '2026-03-01T13:10:00Z' })
        h.jump({ minutes: took.minutes })
      },
    })
    await h.schedules.put('s', { ...hourly, job: 'pausing' })
    took.minutes = 30
    await h.advance('1 hour')
    expect(await nextAt()).toBe('14:30')
    await h.advance('2 hours')
    expect(await ran()).toEqual(['13:00', '14:30'])
    await clean()
  })

  it('keeps what waits through an edit elsewhere, and counts a new interval from the edit', async () => {
    const { h, nextAt } = await open()
    await h.schedules.put('s', hourly)
    await h.advance('20 minutes')
    await h.schedules.patch('s', { priority: 3 })
    expect(await nextAt()).toBe('13:00')
    await h.schedules.patch('s', { timing: afterCompletion('2 hours') })
    expect(await nextAt()).toBe('14:20')
  })

  it('has no next time while a run is open, and a trigger then is a conflict', async () => {
    const h = await openHarness({ at: AT })
    const planner = await openHarness({ at: AT, schema: h.schema })
    h.job('work', { handler: () => {} })
    await h.advance('0s')
    await planner.schedules.put('s', hourly)
    await planner.advance('1 hour')
    expect((await planner.schedules.get('s')).nextAt).toBeNull()
    await expect(planner.schedules.trigger('s')).rejects.toMatchObject({ code: 'run_open' })
    await planner.schedules.patch('s', { priority: 1 })
    expect(await planner.schedules.get('s')).toMatchObject({ state: 'active', nextAt: null })
    await h.advance('1 hour')
    expect((await planner.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T14:00:00Z'))
  })

  it('is put off by a manual run, and waits for its end', async () => {
    const { h, nextAt, ran } = await open()
    await h.schedules.put('s', hourly)
    await h.advance('30 minutes')
    await h.schedules.trigger('s')
    expect(await nextAt()).toBeNull()
    await h.advance('0s')
    expect(await nextAt()).toBe('13:30')
    await h.advance('1 hour')
    expect(await ran()).toEqual(['13:30'])
  })

  it('goes on after a plan time that an operator skipped, at the decision + interval', async () => {
    const { h, nextAt, ran, clean } = await open()
    await h.schedules.put('s', hourly)
    await h.schedules.skip('s', '2026-03-01T13:00:00Z')
    await h.advance('1 hour')
    expect(await nextAt()).toBe('14:00')
    await h.advance('1 hour')
    expect(await ran()).toEqual(['14:00'])
    await clean()
  })

  it('runs once after an outage, however long', async () => {
    const { h, ran, nextAt } = await open()
    await h.schedules.put('s', hourly)
    h.jump('10 hours')
    await h.advance('0s')
    expect(await ran()).toEqual(['13:00'])
    expect(await nextAt()).toBe('23:00')
  })

  it('ends with its limit, and with its end', async () => {
    const { h, ran, clean } = await open()
    await h.schedules.put('s', { ...hourly, limit: 2 })
    await h.advance('10 hours')
    expect(await ran()).toEqual(['13:00', '14:00'])
    expect((await h.schedules.get('s')).state).toBe('finished')
    await h.schedules.put('until', { ...hourly, endAt: '2026-03-02T00:30:00Z' })
    await h.advance('10 hours')
    expect(await h.planTimes('until')).toHaveLength(2)
    expect((await h.schedules.get('until')).state).toBe('finished')
    await clean()
  })

  it('goes on after a run that failed or was cancelled', async () => {
    const h = await openHarness({ at: AT })
    h.job('work', {
      handler: () => {
        throw new NonRetryableError('no')
      },
    })
    await h.schedules.put('s', hourly)
    await h.advance('1 hour')
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T14:00:00Z'))
    const planner = await openHarness({ at: '2026-03-01T13:00:00Z', schema: h.schema })
    await planner.advance('1 hour')
    const [run] = await planner.runs.list({ schedule: 's' })
    await planner.runs.cancel(run!.id)
    expect((await planner.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T15:00:00Z'))
  })

  it('gets a cursor back that was lost while no run is open', async () => {
    const { h, nextAt } = await open()
    await h.schedules.put('s', hourly)
    await h.escapement.database.query(`update "${h.schema}".cursors set next_at = null, wake_at = null`)
    expect(await h.escapement.reconcile()).toEqual(['s'])
    expect(await nextAt()).toBe('13:00')
    expect(await h.escapement.reconcile()).toEqual([])
  })

  it('shows what waits in preview, ledger and forecast, and takes no backfill', async () => {
    const { h } = await open()
    await h.schedules.put('s', hourly)
    const { occurrences } = await h.schedules.preview('s')
    expect(occurrences.map(({ planTime }) => planTime)).toEqual(['2026-03-01T13:00:00.000Z'])
    const range = { from: AT, to: '2026-03-02T12:00:00Z' }
    expect(await h.schedules.occurrences('s', range)).toMatchObject([{ disposition: 'upcoming' }])
    expect(await h.escapement.forecast({ ...range, bucket: '1 hour' })).toMatchObject({
      buckets: [{ runs: 1 }],
    })
    await expect(h.schedules.backfill('s', range)).rejects.toMatchObject({ code: 'option_invalid' })
  })

  it('becomes one by an edit while runs are open, and waits for the last of them', async () => {
    const h = await openHarness({ at: AT })
    const planner = await openHarness({ at: AT, schema: h.schema })
    h.job('work', { handler: () => {} })
    await h.advance('0s')
    await planner.schedules.put('s', { job: 'work', timing: every('1 minute') })
    await planner.advance('3 minutes')
    await planner.schedules.patch('s', { timing: afterCompletion('1 hour') })
    expect((await planner.schedules.get('s')).nextAt).toBeNull()
    await h.advance('3 minutes')
    expect((await planner.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T13:03:00Z'))
  })
})

describe('a breaker', () => {
  async function failing(breaker: { failures: number; cooldown?: string }, timing = every('1 minute')) {
    const h = await openHarness({ at: AT })
    const works = { fail: true, errors: 0 }
    h.job('work', {
      retry: { attempts: 1 },
      handler: ({ totals }) => {
        if (works.errors > 0) totals({ errors: works.errors })
        if (works.fail) throw new Error('down')
      },
    })
    const broken: unknown[] = []
    h.escapement.on('schedule.broken', (event) => broken.push(event))
    await h.schedules.put('s', { job: 'work', timing, breaker })
    const state = async () => (await h.schedules.get('s')).state
    return { h, works, broken, state }
  }

  it('takes the schedule out after so many failures in a row, with its reason and an event', async () => {
    const { h, broken, state } = await failing({ failures: 3 })
    await h.advance('10 minutes')
    expect(await h.planTimes('s')).toHaveLength(3)
    expect(await state()).toBe('broken')
    expect(await h.schedules.get('s')).toMatchObject({
      nextAt: null,
      stateNote: { reason: '3 scheduled runs in a row failed' },
    })
    expect(broken).toMatchObject([{ schedule: 's', reason: '3 scheduled runs in a row failed' }])
  })

  it('is broken until an explicit resume, which records what was not run and clears it', async () => {
    const { h, works, state } = await failing({ failures: 1 })
    await h.advance('4 minutes 30 seconds')
    works.fail = false
    await h.schedules.resume('s')
    expect(await state()).toBe('active')
    await h.advance('1 minute')
    const ledger = await h.schedules.occurrences('s', { from: '2026-03-01T12:00:30Z', to: h.now() })
    expect(ledger.map(({ runState, reason }) => runState ?? reason)).toEqual([
      'broken',
      'broken',
      'broken',
      'broken',
      'succeeded',
    ])
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('is cleared by a new timing', async () => {
    const { h, state } = await failing({ failures: 1 })
    await h.advance('1 minute')
    expect(await state()).toBe('broken')
    await h.schedules.patch('s', { timing: every('1 hour') })
    expect(await state()).toBe('active')
  })

  it('counts each scheduled run once, however often somebody has it tried again', async () => {
    const { h, works, state } = await failing({ failures: 3 })
    await h.advance('0s')
    const [run] = await h.runs.list({ schedule: 's' })
    const retry = async () => {
      await h.runs.retry(run!.id)
      await h.advance('0s')
    }
    await retry()
    await retry()
    expect(await state()).toBe('active')
    works.fail = false
    await retry()
    works.fail = true
    await h.advance('2 minutes')
    expect(await h.runs.get(run!.id)).toMatchObject({ state: 'succeeded', attempt: 4 })
    expect(await state()).toBe('broken')
    expect((await h.schedules.changes('s'))[0]).toMatchObject({ action: 'break', name: 's' })
  })

  it('forgets failures after a success', async () => {
    const { h, works, state } = await failing({ failures: 3 })
    await h.advance('1 minute')
    works.fail = false
    await h.advance('1 minute')
    works.fail = true
    await h.advance('2 minutes')
    expect(await state()).toBe('active')
  })

  it('counts a run that succeeded with errors', async () => {
    const { h, works, state } = await failing({ failures: 1 })
    Object.assign(works, { fail: false, errors: 2 })
    await h.advance('1 minute')
    expect(await state()).toBe('broken')
    expect((await h.runs.list({ schedule: 's' }))[0]).toMatchObject({
      state: 'succeeded',
      totals: { errors: 2 },
    })
  })

  it('counts neither manual nor backfilled runs', async () => {
    const { h, works, state } = await failing({ failures: 1 }, every('1 hour'))
    works.fail = false
    await h.advance('0s')
    works.fail = true
    await h.advance('1 minute')
    await h.schedules.trigger('s')
    await h.advance('1 minute')
    expect(await state()).toBe('active')
    await h.schedules.skip('s', '2026-03-01T13:00:00Z')
    await h.advance('1 hour')
    await h.schedules.backfill('s', { from: AT, to: h.now() })
    await h.advance('1 minute')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'failed', trigger: 'backfill' },
      { state: 'failed', trigger: 'manual' },
      { state: 'succeeded', trigger: 'scheduled' },
    ])
    expect(await state()).toBe('active')
  })

  it('counts a crash that ends in failure', async () => {
    const { h, state } = await failing({ failures: 1 })
    const planner = await openHarness({ at: AT, schema: h.schema })
    await planner.advance('0s')
    await h.escapement.database.query(
      `update "${h.schema}".runs_open set state = 'running', attempt = 1, lease_token = gen_random_uuid(), lease_expires_at = '${AT}',
         max_attempts = 1, fails_when_stale = false`,
    )
    await planner.advance('1 second')
    expect(await state()).toBe('broken')
  })

  it('with a cooldown is tried again, and broken again by the next failure', async () => {
    const { h, works, state } = await failing({ failures: 2, cooldown: '1 hour' })
    await h.advance('30 minutes')
    expect(await state()).toBe('broken')
    await h.advance('32 minutes')
    expect(await h.planTimes('s')).toHaveLength(3)
    expect(await state()).toBe('broken')
    works.fail = false
    await h.advance('2 hours')
    expect(await state()).toBe('active')
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('of an after schedule keeps it from running again', async () => {
    const { h, state } = await failing({ failures: 1 }, afterCompletion('1 hour') as never)
    await h.advance('10 hours')
    expect(await h.planTimes('s')).toHaveLength(1)
    expect(await state()).toBe('broken')
    expect((await h.schedules.get('s')).nextAt).toBeNull()
  })

  it('keeps its reason when the schedule is paused', async () => {
    const { h } = await failing({ failures: 1 })
    await h.advance('1 minute')
    await h.schedules.pause('s')
    expect((await h.schedules.get('s')).stateNote).toMatchObject({ reason: 'a scheduled run failed' })
  })
})

describe('a gate', () => {
  async function gated() {
    const h = await openHarness({ at: AT })
    const gate = { reason: null as string | null }
    const ran: unknown[] = []
    h.job('work', {
      gate: () => (gate.reason === null ? true : { reason: gate.reason }),
      handler: ({ planTime }) => void ran.push(planTime),
    })
    return { h, gate, ran }
  }

  it('that is closed refuses enabling with its reason, and changes nothing', async () => {
    const { h, gate } = await gated()
    gate.reason = 'no licence'
    const definition = { job: 'work', timing: every('1 minute') }
    await expect(h.schedules.put('s', definition)).rejects.toMatchObject({
      code: 'gate_closed',
      message: '"s" cannot be enabled: no licence',
    })
    await expect(h.schedules.get('s')).rejects.toMatchObject({ code: 'schedule_not_found' })
    await h.schedules.put('s', { ...definition, paused: true })
    await expect(h.schedules.resume('s')).rejects.toMatchObject({ code: 'gate_closed' })
    expect((await h.schedules.get('s')).state).toBe('paused')
    await h.schedules.patch('s', { priority: 1 })
    gate.reason = null
    await h.schedules.resume('s')
    gate.reason = 'no licence'
    await h.schedules.pause('s')
    expect(await h.schedules.resumeGroup('none')).toBe(0)
    h.job('silent', { gate: () => undefined as never, handler: () => {} })
    await expect(h.schedules.put('t', { ...definition, job: 'silent' })).rejects.toMatchObject({
      code: 'gate_closed',
      message: '"t" cannot be enabled: its gate is closed',
    })
  })

  it('that is closed when a run starts skips it with the reason, and is no failure', async () => {
    const { h, gate, ran } = await gated()
    await h.schedules.put('s', {
      job: 'work',
      timing: every('1 minute'),
      breaker: { failures: 1 },
      startAt: '2026-03-01T12:01:00Z',
    })
    gate.reason = 'closed for lunch'
    await h.advance('1 minute')
    expect(ran).toEqual([])
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'skipped', error: { code: 'gate_closed', message: 'closed for lunch' } },
    ])
    expect((await h.schedules.get('s')).state).toBe('active')
    gate.reason = null
    await h.advance('1 minute')
    expect(ran).toHaveLength(1)
  })

  it('of a job whose code is elsewhere cannot be asked: enabling is refused, naming a way', async () => {
    const { h } = await gated()
    await h.advance('0s')
    const other = await openHarness({ at: AT, schema: h.schema })
    await expect(other.schedules.put('s', { job: 'work', timing: every('1 minute') })).rejects.toMatchObject({
      code: 'gate_unavailable',
      message: expect.stringContaining('--url'),
    })
  })
})
