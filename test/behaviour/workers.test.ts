import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { every, type JobDefinition, NonRetryableError, once, RetryAfterError } from '../../src/index.js'
import type { Param } from '../../src/store/database.js'
import type { Harness } from '../../src/testing/harness.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { alteredDatabase, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'

async function open(job: Partial<JobDefinition>, options = {}) {
  const h = await openHarness({ at: AT, ...options })
  h.job('work', { handler: () => {}, ...job } as JobDefinition)
  const sql = (text: string, params: string[] = []) =>
    h.escapement.database.query(text.replaceAll('{schema}', `"${h.schema}"`), params)
  const run = async (name = 's') => (await h.runs.list({ schedule: name }))[0]!
  return { h, sql, run }
}

const now = { job: 'work', timing: once(AT) }

describe('what a handler throws', () => {
  it('NonRetryableError ends the run at once', async () => {
    const { h, run } = await open({
      handler: () => {
        throw new NonRetryableError('the card is blocked')
      },
    })
    await h.schedules.put('s', now)
    await h.advance('1 hour')
    expect(await run()).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { message: 'the card is blocked' },
    })
  })

  it('RetryAfterError says when the next attempt begins', async () => {
    const starts: string[] = []
    const { h } = await open({
      handler: () => {
        starts.push(h.now().toISOString().slice(11, 19))
        throw new RetryAfterError('busy', { after: '7 minutes' })
      },
    })
    await h.schedules.put('s', now)
    await h.advance('1 hour')
    expect(starts).toEqual(['12:00:00', '12:07:00', '12:14:00'])
  })

  it('an exponential backoff grows, and its jitter stays within its share', async () => {
    const starts: number[] = []
    const { h } = await open({
      retry: { attempts: 4, backoff: { first: '1 minute', factor: 10, max: '30 minutes', jitter: 0.5 } },
      handler: () => {
        starts.push(h.now().getTime())
        throw new Error('down')
      },
    })
    await h.schedules.put('s', now)
    await h.advance('2 hours')
    const waits = starts.slice(1).map((at, index) => (at - starts[index]!) / 60_000)
    expect(waits).toHaveLength(3)
    for (const [index, whole] of [1, 10, 30].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(whole / 2)
      expect(waits[index]).toBeLessThanOrEqual(whole)
    }
  })
})

describe('an older occurrence', () => {
  it('that failed is retried even when newer ones have succeeded since', async () => {
    const ended: string[] = []
    let failures = 0
    const { h } = await open({
      retry: { attempts: 2, backoff: ['5 minutes'] },
      handler: ({ planTime }) => {
        if (failures++ === 0) throw new Error('once')
        ended.push(planTime!.toISOString().slice(11, 16))
      },
    })
    await h.schedules.put('s', { job: 'work', timing: every('1 minute') })
    await h.advance('5 minutes')
    expect(ended).toEqual(['12:01', '12:02', '12:03', '12:04', '12:00', '12:05'])
  })
})

describe('dead letters', () => {
  it('keep each attempt, and can be retried one by one or by a filter', async () => {
    const works = { fail: true }
    const { h, run } = await open({
      retry: { attempts: 2, backoff: ['1 minute'] },
      handler: () => {
        if (works.fail) throw new Error('down')
      },
    })
    for (const name of ['s', 'a', 'b']) await h.schedules.put(name, now)
    await h.advance('1 hour')
    const failed = await run()
    expect(await h.runs.attempts(failed.id)).toMatchObject([
      { number: 1, error: { code: 'handler_error', message: 'down' } },
      { number: 2, error: { code: 'handler_error', message: 'down' } },
    ])
    await h.runs.retry(failed.id)
    await h.advance('0s')
    expect(await run()).toMatchObject({ state: 'failed', attempt: 3 })
    works.fail = false
    expect(await h.runs.retryAll({ job: 'other' })).toEqual({ retried: 0, blocked: 0 })
    // What fails after it was asked for is not its business: the same run, say, for which it has done something already.
    const asked = await openHarness({ at: AT, schema: h.schema })
    expect(await asked.runs.retryAll()).toEqual({ retried: 0, blocked: 0 })
    const { planTime } = failed
    for (const filter of [
      { trigger: 'manual' },
      { plannedBefore: planTime! },
      { plannedAfter: h.now() },
    ] as const) {
      expect(await h.runs.retryAll(filter)).toEqual({ retried: 0, blocked: 0 })
    }
    const same = {
      trigger: 'scheduled',
      plannedAfter: planTime!,
      plannedBefore: planTime!.getTime() + 1,
    } as const
    expect(await h.runs.retryAll({ job: 'work', finishedBefore: h.now().getTime() + 1, ...same })).toEqual({
      retried: 3,
      blocked: 0,
    })
    await h.advance('0s')
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 4 })
    await expect(h.runs.retry(failed.id)).rejects.toMatchObject({ code: 'run_not_failed' })
  })

  it('of schedules that must not overlap wait for the open run', async () => {
    const { h } = await open({
      retry: { attempts: 1 },
      handler: () => {
        throw new Error('down')
      },
    })
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.schedules.put('s', { job: 'work', timing: every('1 minute'), overlap: 'skip' })
    await h.advance('1 minute')
    planner.jump('1 minute')
    await planner.advance('1 minute')
    const [open1, failed, failedBefore] = await planner.runs.list({ schedule: 's' })
    expect(open1).toMatchObject({ state: 'pending' })
    await expect(planner.runs.retry(failed!.id)).rejects.toMatchObject({ code: 'run_open' })
    await h.advance('1 minute')
    expect(await planner.runs.retryAll({ schedule: 's' })).toEqual({ retried: 1, blocked: 2 })
    expect((await planner.runs.get(failedBefore!.id)).state).toBe('retrying')
  })
})

describe('cancel', () => {
  it('ends a run that waits, and it never completes', async () => {
    const { h, run } = await open({ handler: () => 'done' })
    await h.schedules.put('s', { ...now, delay: '1 hour' })
    await h.advance('1 minute')
    await h.runs.cancel((await run()).id, { actor: 'ann', reason: 'wrong customer' })
    await h.advance('2 hours')
    expect(await run()).toMatchObject({
      state: 'cancelled',
      attempt: 0,
      error: { code: 'cancelled', message: 'Cancelled by ann: wrong customer' },
    })
    await h.runs.cancel((await run()).id)
  })

  it('tells the handler of another process, and refuses what it says then', async () => {
    const told: unknown[] = []
    let begun = () => {}
    const started = new Promise<void>((resolve) => {
      begun = resolve
    })
    const { h, run } = await open({
      handler: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told.push(signal.reason)
            resolve('too late')
          })
          begun()
        }),
    })
    const other = await openHarness({ at: AT, schema: h.schema })
    const cancelled: unknown[] = []
    other.escapement.on('run.cancelled', (event) => cancelled.push(event))
    await h.schedules.put('s', now)
    await h.escapement.start()
    await started
    await other.runs.cancel((await run()).id)
    await expect.poll(() => told, { timeout: 10_000 }).toMatchObject([{ code: 'cancelled' }])
    await h.escapement.stop()
    expect(await run()).toMatchObject({ state: 'cancelled', result: null })
    expect(cancelled).toHaveLength(1)
  })

  it('refuses a run that has ended, and one that is none', async () => {
    const { h, run } = await open({})
    await h.schedules.put('s', now)
    await h.advance('0s')
    await expect(h.runs.cancel((await run()).id)).rejects.toMatchObject({ code: 'run_not_open' })
    await expect(h.runs.cancel('x')).rejects.toMatchObject({ code: 'run_not_found' })
  })
})

describe('overlap: replace', () => {
  it('cancels the open run, and of several that are due together runs the newest', async () => {
    const { h } = await open({})
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.advance('0s')
    await h.schedules.put('s', {
      job: 'work',
      timing: every('1 minute'),
      overlap: 'replace',
      startAt: '2026-03-01T12:01:00Z',
    })
    await planner.advance('1 minute')
    planner.jump('50 seconds')
    planner.jump('2 minutes')
    await planner.advance('0s')
    const ledger = await planner.schedules.occurrences('s', { from: AT, to: planner.now() })
    expect(ledger.map(({ runState, reason }) => runState ?? reason)).toEqual([
      'cancelled',
      'missed',
      'pending',
    ])
    await planner.schedules.patch('s', { grace: '10 minutes' })
    planner.jump('3 minutes')
    await planner.advance('0s')
    const later = await planner.schedules.occurrences('s', { from: AT, to: planner.now() })
    expect(later.map(({ runState, reason }) => runState ?? reason)).toEqual([
      'cancelled',
      'missed',
      'cancelled',
      'overlap',
      'overlap',
      'pending',
    ])
    expect(await planner.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it.each([
    ['a tick', (planner: Harness) => planner.advance('0s')],
    ['a verb that settles', (planner: Harness) => planner.schedules.pause('s')],
  ])('tells the handler of another process at once, where %s replaces its run', async (_, replace) => {
    const told: unknown[] = []
    let begun = () => {}
    const started = new Promise<void>((resolve) => {
      begun = resolve
    })
    const { h } = await open({
      // It is renewed after minutes: nothing but the notification tells the handler in time.
      lease: '15 minutes',
      handler: ({ signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            told.push(signal.reason)
            resolve()
          })
          begun()
        }),
    })
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.schedules.put('s', { job: 'work', timing: every('1 minute'), overlap: 'replace' })
    await planner.advance('0s')
    await h.escapement.start({ roles: ['worker'] })
    await started
    planner.jump('1 minute')
    await replace(planner)
    await expect.poll(() => told, { timeout: 10_000 }).toMatchObject([{ code: 'cancelled' }])
    await h.escapement.stop()
  })
})

describe('what a handler tells', () => {
  it('progress and totals are kept, and a bad one is refused', async () => {
    const told: unknown[] = []
    const { h, run } = await open({
      handler: async ({ progress, totals, heartbeat }) => {
        progress(0.5, 'half way')
        totals({ rowsAffected: 2 })
        totals({
          rowsAffected: 3,
          copied: 1,
          constructor: 1,
          'odd \0\ud800': 1,
          ...JSON.parse('{"__proto__":1}'),
        })
        for (const wrong of [
          () => progress(2),
          () => totals({ rows: Number.NaN }),
          () => [1, 2].map(() => totals({ huge: 1e308 })),
        ]) {
          try {
            wrong()
          } catch (error) {
            told.push((error as Error).message)
          }
        }
        await heartbeat()
      },
    })
    await h.schedules.put('s', now)
    await h.advance('0s')
    const { state, totals } = await run()
    expect(state).toBe('succeeded')
    expect(Object.entries(totals!).sort()).toEqual([
      ['__proto__', 1],
      ['constructor', 1],
      ['copied', 1],
      ['huge', 1e308],
      ['odd \uFFFD\uFFFD', 1],
      ['rowsAffected', 5],
    ])
    expect(told).toEqual([
      'fraction: 2 – must be a number from 0 to 1',
      'totals.rows: NaN – must be a number',
      'totals.huge: its sum is larger than a number can be',
    ])
  })

  it('progress is seen while the handler works', async () => {
    let finish = () => {}
    const { h, run } = await open({
      handler: ({ progress }) => {
        progress(0.25, `a quarter\0${'.'.repeat(2000)}`)
        return new Promise<void>((resolve) => {
          finish = resolve
        })
      },
    })
    onTestFinished(() => h.escapement.stop())
    const heard = new Promise((resolve) => void h.escapement.on('run.progress', resolve))
    await h.schedules.put('s', now)
    await h.escapement.start()
    const told = { fraction: 0.25, note: `a quarter\uFFFD${'.'.repeat(990)}` }
    expect(await heard).toMatchObject({ ...told, scheduleId: (await h.schedules.get('s')).id })
    expect(await run()).toMatchObject({ state: 'running', progress: told })
    finish()
  })

  it('a heartbeat renews the lease, and rejects when it is lost', async () => {
    const said: unknown[] = []
    const { h } = await open({
      lease: '10s',
      handler: async ({ heartbeat }) => {
        h.jump('8 seconds')
        await heartbeat()
        h.jump('8 seconds')
        await heartbeat()
        h.jump('11 seconds')
        const other = await openHarness({ at: h.now(), schema: h.schema })
        await other.advance('0s')
        await heartbeat().catch((error) => said.push(error))
      },
    })
    await h.schedules.put('s', now)
    await h.advance('0s')
    expect(said[0]).toMatchObject({ code: 'lease_lost' })
  })

  it('knows the interval that it stands for', async () => {
    const intervals: unknown[] = []
    const { h } = await open({
      handler: ({ previousPlanTime, planTime }) => void intervals.push([previousPlanTime, planTime]),
    })
    await h.schedules.put('s', { job: 'work', timing: every('1 hour'), startAt: '2026-03-01T13:00:00Z' })
    await h.advance('1 hour')
    expect(intervals).toEqual([[new Date(AT), new Date('2026-03-01T13:00:00Z')]])
  })

  it('knows it by the version that planned it, after an edit and a delete too', async () => {
    const intervals: string[] = []
    const { h } = await open({
      handler: ({ previousPlanTime, planTime }) => {
        intervals.push([previousPlanTime, planTime].map((at) => at?.toISOString().slice(11, 16)).join('–'))
      },
    })
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.advance('0s')
    for (const name of ['edited', 'deleted']) {
      await planner.schedules.put(name, { job: 'work', timing: every('5 minutes'), overlap: 'skip' })
    }
    await planner.advance('0s')
    await planner.schedules.patch('edited', { timing: every('1 hour') })
    await planner.schedules.pause('edited')
    await planner.schedules.delete('deleted')
    await h.advance('0s')
    expect(intervals).toEqual(['11:55–12:00', '11:55–12:00'])
  })
})

describe('onStale: fail', () => {
  const atMostOnce = { onStale: 'fail', retry: { attempts: 1 } } as const

  it('ends an expired lease in failed with stale_lease, and it is never rerun by itself', async () => {
    const { h, sql, run } = await open(atMostOnce)
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.schedules.put('s', now)
    await planner.advance('0s')
    await sql(
      `update {schema}.runs_open set state = 'running', attempt = 1, lease_token = gen_random_uuid(), lease_expires_at = '${AT}',
         max_attempts = 1, fails_when_stale = true`,
    )
    await planner.advance('1 second')
    expect(await run()).toMatchObject({ state: 'failed', error: { code: 'stale_lease' } })
    await h.advance('1 day')
    expect(await run()).toMatchObject({ state: 'failed', attempt: 1 })
  })

  it('ends what a shutdown cuts off as failed, and does not give it back', async () => {
    const { h, run } = await open({ ...atMostOnce, handler: () => new Promise(() => {}) })
    const started = new Promise((resolve) => void h.escapement.on('run.started', resolve))
    await h.schedules.put('s', now)
    await h.escapement.start()
    await started
    const stopped = h.escapement.stop()
    const moving = setInterval(() => h.jump('10 seconds'), 20)
    await stopped
    clearInterval(moving)
    expect(await run()).toMatchObject({ state: 'failed', error: { code: 'stale_lease' } })
  })

  /** Its jobs are published by a worker's first look, before there is anything to run. */
})

describe('claiming', () => {
  it('is paused in all processes, through restarts, with its reason; planning goes on', async () => {
    const { h, run } = await open({})
    await h.schedules.put('s', { job: 'work', timing: every('1 minute') })
    await h.escapement.claiming.pause({ actor: 'ann', reason: 'maintenance' })
    await h.escapement.claiming.pause({ actor: 'bob' })
    await h.advance('2 minutes')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'pending' },
      { state: 'pending' },
      { state: 'pending' },
    ])
    const other = await openHarness({ at: h.now(), schema: h.schema })
    expect(await other.escapement.claiming.status()).toMatchObject({
      paused: true,
      reason: 'maintenance',
      by: 'ann',
    })
    await other.escapement.claiming.resume()
    expect(await h.escapement.claiming.status()).toMatchObject({ paused: false, reason: null })
    await h.advance('0s')
    expect((await run()).state).toBe('succeeded')
  })

  it('that is paused leaves what runs alone: its lease is renewed, and its outcome counts', async () => {
    const { h, run } = await open({
      lease: '30s',
      handler: async ({ heartbeat }) => {
        await h.escapement.claiming.pause()
        h.jump('20 seconds')
        await heartbeat()
        // Somebody who looks for leases that have expired.
        other.jump('40 seconds')
        await other.advance('0s')
      },
    })
    const other = await openHarness({ at: AT, schema: h.schema })
    await h.schedules.put('s', now)
    await h.advance('0s')
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect((await h.escapement.claiming.status()).paused).toBe(true)
  })

  it('gives back what it took in a claim whose answer was lost', async () => {
    const claims = { lost: 1 }
    const losing = await alteredDatabase((database) => ({
      async query<Row>(text: string, params: readonly Param[] = []): Promise<Row[]> {
        const rows = await database.query<Row>(text, params)
        if (!text.includes("set state = 'running'") || claims.lost-- <= 0) return rows
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      },
    }))
    const { h, run } = await open({}, { database: losing })
    const planner = await openHarness({ at: AT, schema: h.schema })
    await h.schedules.put('s', now)
    await planner.advance('0s')
    await expect(h.advance('0s')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(await run()).toMatchObject({ state: 'running', attempt: 1 })
    await h.advance('0s')
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('takes priority first, then age', async () => {
    const order: string[] = []
    const { h } = await open(
      { handler: ({ input }) => void order.push(input as string) },
      { worker: { concurrency: 1 } },
    )
    for (const [name, priority, delay] of [
      ['old', 0, '0s'],
      ['new', 0, '1s'],
      ['urgent', 5, '2s'],
    ] as const) {
      await h.schedules.put(name, { ...now, input: name, priority, delay })
    }
    const planner = await openHarness({ at: AT, schema: h.schema })
    await planner.advance('0s')
    h.jump('1 minute')
    await h.advance('0s')
    expect(order).toEqual(['urgent', 'old', 'new'])
  })

  it('a flood in one queue does not stop another', async () => {
    const order: string[] = []
    const { h } = await open(
      { handler: ({ input }) => void order.push(input as string) },
      { worker: { concurrency: 4, queues: ['flood', 'quiet'] } },
    )
    const scopes = Array.from({ length: 20 }, (_, index) => `scope-${index}`)
    await h.schedules.put('flood', { ...now, input: 'flood', queue: 'flood', priority: 9, scopes })
    await h.schedules.put('quiet', { ...now, input: 'quiet', queue: 'quiet' })
    await h.advance('0s')
    expect(order.indexOf('quiet')).toBeLessThan(4)
    expect(order).toHaveLength(21)
  })

  it('a flood in one queue does not stop another, also where places come free one by one', async () => {
    const order: string[] = []
    const { h } = await open(
      { handler: ({ input }) => void order.push(input as string) },
      { worker: { concurrency: 1, queues: ['flood', 'empty', 'quiet'] } },
    )
    const many = (count: number, queue: string) =>
      Array.from({ length: count }, () => ({ input: queue, queue }))
    await h.runs.enqueueMany('work', [...many(20, 'flood'), ...many(3, 'quiet')])
    await h.advance('0s')
    expect(order.lastIndexOf('quiet')).toBeLessThan(10)
    expect(order).toHaveLength(23)
  })

  it('a limit only takes runs away: priority and age decide among all jobs', async () => {
    const order: string[] = []
    const handler: JobDefinition['handler'] = ({ input }) => void order.push(input as string)
    const { h } = await open({ handler }, { worker: { concurrency: 1 } })
    h.job('limited', { concurrency: 5, handler })
    h.job('keyed', {
      concurrencyKey: 'customer',
      handler: ({ input }) => void order.push((input as { name: string }).name),
    })
    for (let n = 0; n < 15; n++) {
      await h.runs.enqueue('limited', `limited ${n}`)
      await h.runs.enqueue('keyed', { customer: 'a', name: `keyed ${n}` })
    }
    await h.runs.enqueue('work', 'first', { priority: 9 })
    await h.runs.enqueue('limited', 'second', { priority: 8 })
    await h.runs.enqueue('keyed', { customer: 'a', name: 'third' }, { priority: 7 })
    await h.advance('0s')
    expect(order.slice(0, 3)).toEqual(['first', 'second', 'third'])
    expect(order).toHaveLength(33)
  })
})

describe('limits', () => {
  async function withTwoWorkers(job: Partial<JobDefinition>) {
    const seen = { now: 0, most: 0, byKey: new Map<unknown, number>(), ran: 0, overlap: false }
    const handler: JobDefinition['handler'] = async ({ input }) => {
      const key = (input as { customer?: string } | null)?.customer
      seen.most = Math.max(seen.most, ++seen.now)
      const same = (seen.byKey.get(key) ?? 0) + 1
      seen.byKey.set(key, same)
      if (key !== undefined && same > 1) seen.overlap = true
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen.byKey.set(key, same - 1)
      seen.now -= 1
      seen.ran += 1
    }
    const { h } = await open({ ...job, handler })
    const other = await openHarness({ at: AT, schema: h.schema })
    other.job('work', { ...job, handler } as JobDefinition)
    return { h, other, seen }
  }

  it('concurrency holds in all processes together', async () => {
    const { h, other, seen } = await withTwoWorkers({ concurrency: 2 })
    await h.schedules.put('s', { ...now, scopes: Array.from({ length: 12 }, (_, index) => `scope-${index}`) })
    await Promise.all([h.advance('0s'), other.advance('0s')])
    for (const one of [h, other]) await one.advance('1 second')
    expect(seen).toMatchObject({ ran: 12, most: 2 })
  })

  it('a concurrency key lets one of each run at a time', async () => {
    const { h, other, seen } = await withTwoWorkers({ concurrencyKey: 'customer' })
    for (let index = 0; index < 12; index++) {
      await h.schedules.put(`s-${index}`, { ...now, input: { customer: `c-${index % 3}` } })
    }
    await h.schedules.put('without', { ...now, input: {} })
    await Promise.all([h.advance('0s'), other.advance('0s')])
    for (const one of [h, other]) await one.advance('1 second')
    expect(seen).toMatchObject({ ran: 13, overlap: false })
    expect(seen.most).toBeGreaterThan(1)
  })
})

describe('a transactional job', () => {
  async function counting(handler: (value: number) => void = () => {}, job: Partial<JobDefinition> = {}) {
    const { h, sql, run } = await open({
      ...job,
      transactional: true,
      retry: { attempts: 2, backoff: ['1 minute'] },
      handler: async ({ tx, attempt }) => {
        await tx!.query(`update "${h.schema}".counter set value = value + 1`)
        handler(attempt)
      },
    })
    await sql('create table {schema}.counter (value int)')
    await sql('insert into {schema}.counter values (0)')
    const count = async () => (await sql('select value from {schema}.counter'))[0]!.value
    return { h, sql, run, count }
  }

  it('commits what it wrote together with its success', async () => {
    const { h, run, count } = await counting()
    await h.schedules.put('s', now)
    await h.advance('0s')
    expect(await count()).toBe(1)
    expect((await run()).state).toBe('succeeded')
  })

  it('leaves nothing behind of an attempt that failed', async () => {
    const { h, run, count } = await counting((attempt) => {
      if (attempt === 1) throw new Error('after writing')
    })
    await h.schedules.put('s', now)
    await h.advance('0s')
    expect(await count()).toBe(0)
    await h.advance('1 minute')
    expect(await count()).toBe(1)
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 2 })
  })

  it('leaves nothing behind when its lease was lost', async () => {
    const { h, sql, count, run } = await counting()
    h.job('robbed', {
      transactional: true,
      handler: async ({ tx }) => {
        await tx.query(`update "${h.schema}".counter set value = value + 1`)
        await tx.query(`update "${h.schema}".runs_open set lease_token = gen_random_uuid()`)
      },
    })
    await h.schedules.put('s', { job: 'robbed', timing: once(AT) })
    await h.advance('0s')
    expect(await count()).toBe(0)
    expect((await run()).state).toBe('running')
    expect(await sql('select code from {schema}.attempts')).toEqual([])
  })

  it('is refused what does not fit when it commits, and tries again', async () => {
    const { h, sql, run } = await open({
      transactional: true,
      retry: { attempts: 1 },
      handler: ({ tx }) => tx!.query(`insert into "${h.schema}".child values (1)`),
    })
    await sql('create table {schema}.parent (id int primary key)')
    await sql('create table {schema}.child (id int references {schema}.parent deferrable initially deferred)')
    await h.schedules.put('s', now)
    await h.advance('0s')
    expect(await run()).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('foreign key') },
    })
  })

  it('runs its gate, its lanes and its breaker as any other', async () => {
    const works = { isClosed: false, fails: false }
    const { h, count, run } = await counting(
      () => {
        if (works.fails) throw new Error('down')
      },
      { gate: () => !works.isClosed || { reason: 'closed for lunch' } },
    )
    await h.schedules.put('s', {
      job: 'work',
      timing: every('30 seconds'),
      overlap: 'queue',
      breaker: { failures: 1 },
    })
    await h.advance('0s')
    expect(await count()).toBe(1)
    works.isClosed = true
    await h.advance('30 seconds')
    expect(await run()).toMatchObject({ state: 'skipped', error: { message: 'closed for lunch' } })
    expect((await h.schedules.get('s')).state).toBe('active')
    Object.assign(works, { isClosed: false, fails: true })
    // The second attempt of 12:01 fails at 12:02, when an occurrence waits behind it.
    await h.advance('90 seconds')
    expect((await h.schedules.get('s')).state).toBe('broken')
    works.fails = false
    await h.advance('1 minute')
    expect(await run()).toMatchObject({ state: 'succeeded', planTime: new Date('2026-03-01T12:01:30Z') })
    expect(await count()).toBe(2)
  })
})

describe('retention', () => {
  it('prunes ended runs by their age, and their identities stay safe', async () => {
    const { h, sql } = await open({
      retry: { attempts: 1 },
      handler: ({ planTime }) => {
        if (planTime!.getUTCDate() === 1) throw new Error('down')
      },
    })
    await h.schedules.put('s', {
      job: 'work',
      timing: every('1 day'),
      catchUp: 'all',
      catchUpWindow: '200 days',
      grace: '200 days',
    })
    await h.advance('100 days')
    const pruned = async () => {
      const clock = createManualClock(h.now().getTime())
      const { escapement, scheduler } = await assemble({
        database: await sharedDatabase(),
        schema: h.schema,
        clock,
      })
      escapement.job('work', { handler: () => {} })
      await scheduler.upkeep()
      await escapement.close()
    }
    await pruned()
    const left = await h.runs.list({ schedule: 's', limit: 1000 })
    const oldest = (state: string) =>
      left
        .filter((run) => run.state === state)
        .at(-1)!
        .planTime!.toISOString()
        .slice(0, 10)
    expect(oldest('succeeded')).toBe('2026-05-11')
    expect(oldest('failed')).toBe('2026-04-01')
    expect(await sql('select count(*) as count from {schema}.attempts')).toEqual([{ count: 3 }])
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
    await h.schedules.delete('s')
    await h.advance('50 days')
    await pruned()
    expect(await h.escapement.audit()).toMatchObject({
      schedules: 1,
      missing: [],
      double: [],
      unexpected: [],
    })
  })
})
