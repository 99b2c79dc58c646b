import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { every, type HandlerContext, NonRetryableError } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T00:00:00Z'

function throwing(error: unknown): never {
  throw error
}

describe('running', () => {
  it('keeps the result, and the times of its start and end', async () => {
    const h = await openHarness({ at: AT })
    h.job('report', { handler: ({ input }) => ({ sent: input }) })
    await h.schedules.put('s', { job: 'report', input: { to: 'acme' }, timing: every('1 day') })
    await h.advance('1 second')
    const [run] = await h.runs.list({ schedule: 's' })
    expect(run).toMatchObject({
      state: 'succeeded',
      trigger: 'scheduled',
      attempt: 1,
      result: { sent: { to: 'acme' } },
      error: null,
      startedAt: new Date(AT),
      finishedAt: new Date(AT),
    })
    expect(await h.runs.get(run!.id)).toEqual(run)
  })

  it('retries after each delay of the list, keeps every failed attempt, and ends in failed', async () => {
    const h = await openHarness({ at: AT })
    const started: string[] = []
    h.job('fails', {
      retry: { attempts: 4, backoff: ['10s', '1m'] },
      handler: ({ attempt }) => {
        started.push(h.now().toISOString().slice(14, 19))
        throw new Error(`attempt ${attempt} went wrong`)
      },
    })
    await h.schedules.put('s', { job: 'fails', timing: every('1 day') })
    await h.advance('1 hour')
    expect(started).toEqual(['00:00', '00:10', '01:10', '02:10'])
    const [run] = await h.runs.list({ schedule: 's' })
    expect(run).toMatchObject({
      state: 'failed',
      attempt: 4,
      error: { code: 'handler_error', message: 'attempt 4 went wrong' },
    })
    const attempts = await h.escapement.database.query(
      `select number, code, message, stack from "${h.schema}".attempts where run_id = $1 order by number`,
      [run!.id],
    )
    expect(attempts).toEqual(
      [1, 2, 3, 4].map((number) => ({
        number,
        code: 'handler_error',
        message: `attempt ${number} went wrong`,
        stack: expect.stringContaining('running.test.ts'),
      })),
    )
  })

  it('succeeds on a later attempt and forgets the error', async () => {
    const h = await openHarness({ at: AT })
    h.job('flaky', {
      handler: ({ attempt }) => {
        if (attempt === 1) throw new Error('not yet')
        return 'done'
      },
    })
    await h.schedules.put('s', { job: 'flaky', timing: every('1 day') })
    await h.advance('1 minute')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'succeeded', attempt: 2, result: 'done', error: null },
    ])
  })

  it('costs a handler that never ends its own slot only, and times it out', async () => {
    const h = await openHarness({ at: AT })
    let aborted: unknown
    h.job('hangs', {
      timeout: { milliseconds: 50 },
      retry: { attempts: 1 },
      handler: ({ signal }) =>
        new Promise(() => signal.addEventListener('abort', () => (aborted = signal.reason))),
    })
    h.job('quick', { handler: () => 'done' })
    await h.schedules.put('hangs', { job: 'hangs', timing: every('1 day') })
    await h.schedules.put('quick', { job: 'quick', timing: every('1 day') })
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 'quick' })).toMatchObject([{ state: 'succeeded' }])
    expect(await h.runs.list({ schedule: 'hangs' })).toMatchObject([
      { state: 'failed', error: { code: 'timed_out' } },
    ])
    expect(aborted).toMatchObject({ code: 'timed_out' })
  })

  let h: Awaited<ReturnType<typeof openHarness>>
  it.each([
    ['throws a text', () => Promise.reject('just a text'), 'just a text'],
    ['throws nothing', () => Promise.reject(undefined), 'undefined'],
    ['throws what cannot be stored', () => Promise.reject(new Error('a\0b\ud800')), 'a\uFFFDb\uFFFD'],
    ['throws at length', () => Promise.reject(new Error('x'.repeat(5000))), 'x'.repeat(4000)],
    ['throws pairs at length', () => Promise.reject(`x${'😀'.repeat(2000)}`), `x${'😀'.repeat(1999)}`],
    ['lets an error of ours through', () => h.runs.get('x').then(() => {}), expect.stringContaining('"x"')],
  ])('records the failure of a handler that %s', async (_, handler, message) => {
    h = await openHarness({ at: AT })
    h.job('odd', { retry: { attempts: 1 }, handler })
    await h.schedules.put('s', { job: 'odd', timing: every('1 day') })
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'failed', error: { code: 'handler_error', message } },
    ])
  })

  it.each([
    ['nothing', undefined, null],
    ['what cannot be stored', 'a\0b', 'a\uFFFDb'],
    ['what is no JSON', 1n, { $unserializable: expect.any(String) }],
    [
      'what throws nothing when told',
      { toJSON: () => throwing(undefined) },
      { $unserializable: 'undefined' },
    ],
    ['too much', 'x'.repeat(17 * 1024), { $tooLarge: { bytes: 17 * 1024 + 2 } }],
  ])('succeeds when a handler returns %s', async (_, returned, result) => {
    const h = await openHarness({ at: AT })
    h.job('odd', { handler: () => returned })
    await h.schedules.put('s', { job: 'odd', timing: every('1 day') })
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([{ state: 'succeeded', result }])
  })

  it('costs nobody but itself what an outcome holds that the database refuses', async () => {
    const h = await openHarness({ at: AT })
    h.job('odd', { handler: ({ input }) => input })
    await h.escapement.database.query(
      `alter table "${h.schema}".runs_ended add constraint no_four check (result is distinct from '4')`,
    )
    const items = [1, 2, 3, 4, 5].map((input) => ({ input }))
    const asked = await h.runs.enqueueMany('odd', items)
    await h.advance('0s')
    const ended = await Promise.all(asked.map(({ id }) => h.runs.get(id)))
    const refused = { $unserializable: expect.stringContaining('no_four') }
    expect(ended.map(({ result }) => result)).toEqual([1, 2, 3, refused, 5])
  })

  it.each([
    ['succeeds', () => {}, 'succeeded'],
    ['fails', () => throwing(new NonRetryableError('down')), 'failed'],
  ])('ends without its totals where they are refused and it %s', async (_, end, state) => {
    const h = await openHarness({ at: AT })
    h.job('odd', {
      handler: ({ totals }) => {
        totals({ rows: 4 })
        end()
      },
    })
    await h.escapement.database.query(
      `alter table "${h.schema}".runs_ended add constraint no_four check (totals->>'rows' is distinct from '4')`,
    )
    const { id } = await h.runs.enqueue('odd', null)
    await h.advance('0s')
    expect(await h.runs.get(id)).toMatchObject({ state, totals: null })
  })

  it.each([
    ['another copy of this module says is for good', { name: 'NonRetryableError' }, 'failed', 0],
    ['another copy of this module defers', { name: 'RetryAfterError', after: '7 minutes' }, 'retrying', 7],
  ])('does what an error that %s asks for', async (_, error, state, minutes) => {
    const h = await openHarness({ at: AT })
    h.job('odd', { handler: () => throwing(Object.assign(new Error('x'), error)) })
    const { id } = await h.runs.enqueue('odd', null)
    await h.advance('0s')
    const run = await h.runs.get(id)
    expect(run).toMatchObject({ state, attempt: 1 })
    expect(run.eligibleAt.getTime() - h.now().getTime()).toBe(minutes * 60_000)
  })

  it.each([
    ['undefined', undefined, 'Its gate is closed.'],
    ['false', false, 'Its gate is closed.'],
    ['a reason', { reason: 'no licence' }, 'no licence'],
  ])('skips a run whose gate answers %s', async (_, answer, message) => {
    const h = await openHarness({ at: AT })
    h.job('gated', { gate: () => answer as never, handler: () => {} })
    const { id } = await h.runs.enqueue('gated', null)
    await h.advance('0s')
    expect(await h.runs.get(id)).toMatchObject({ state: 'skipped', error: { code: 'gate_closed', message } })
  })

  it('counts what its gate takes into its timeout', async () => {
    const h = await openHarness({ at: AT })
    const gate = () => new Promise<true>(() => {})
    h.job('gated', { gate, timeout: { milliseconds: 20 }, retry: { attempts: 1 }, handler: () => {} })
    const { id } = await h.runs.enqueue('gated', null)
    await h.advance('0s')
    expect(await h.runs.get(id)).toMatchObject({ state: 'failed', error: { code: 'timed_out' } })
  })

  it('gives a handler its run with key and last error, and all of it to one that wraps it', async () => {
    const h = await openHarness({ at: AT })
    const seen: HandlerContext[] = []
    h.job('wrapped', {
      retry: { backoff: ['1s'] },
      handler: (context) => {
        seen.push({ ...context })
        if (context.attempt === 1) throw new Error('not yet')
      },
    })
    await h.runs.enqueue('wrapped', null, { key: 'order-17' })
    await h.advance('1 second')
    expect(seen).toMatchObject([
      {
        run: { key: 'order-17', error: null },
        schedule: null,
        previousPlanTime: null,
        log: { info: expect.any(Function) },
      },
      { run: { key: 'order-17', error: { code: 'handler_error', message: 'not yet' } } },
    ])
    expect(seen[0]!.signal).toBeInstanceOf(AbortSignal)
  })

  it('refuses an input that the schema does not take, when it is put', async () => {
    const h = await openHarness({ at: AT })
    const job = h.job('typed', { input: z.object({ customer: z.string() }), handler: () => {} })
    const put = h.schedules.put('s', { job, input: { customer: 7 } as never, timing: every('1 day') })
    await expect(put).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining('input.customer'),
    })
    expect(await h.schedules.list()).toEqual([])
  })

  it('fails at once, without a retry, when a stored input no longer fits the schema', async () => {
    const h = await openHarness({ at: AT })
    let takesNumbers = true
    const input = z.unknown().refine((value) => takesNumbers || typeof value !== 'number')
    h.job('typed', { input, handler: () => 'ran' })
    await h.schedules.put('s', { job: 'typed', input: 1, timing: every('1 day') })
    takesNumbers = false
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      { state: 'failed', attempt: 1, error: { code: 'input_invalid' } },
    ])
  })

  it('leaves the runs of a job that this worker does not have, and doctor says so where nobody has it', async () => {
    const h = await openHarness({ at: AT })
    const other = await openHarness({ at: AT, schema: h.schema })
    other.job('elsewhere', { handler: () => {} })
    await other.advance('0s')
    await h.schedules.put('s', { job: 'elsewhere', timing: every('1 day') })
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([{ state: 'pending', attempt: 0 }])
    expect(await h.escapement.doctor()).toEqual([])
    h.jump('2 minutes')
    expect(await h.escapement.doctor()).toMatchObject([
      { kind: 'no_worker', detail: expect.stringMatching(/^1 run waits since .*, and no worker lives$/) },
    ])
    h.job('another', { handler: () => {} })
    await h.advance('0s')
    expect(await h.escapement.doctor()).toMatchObject([
      { kind: 'unknown_job', subject: 'elsewhere', detail: expect.stringContaining('no worker has it') },
    ])
    await other.advance('1 second')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  })

  it('refuses a job that no worker ever published, with the one that was meant', async () => {
    const h = await openHarness({ at: AT })
    h.job('report', { handler: () => {} })
    await expect(h.schedules.put('s', { job: 'reprot', timing: every('1 day') })).rejects.toMatchObject({
      code: 'unknown_job',
      message: 'job: there is no job "reprot" (did you mean "report"?). Known: report.',
    })
  })

  it('takes a run from a worker whose lease expired, and refuses that worker’s late outcome', async () => {
    const h = await openHarness({ at: AT })
    const other = await openHarness({ at: AT, schema: h.schema })
    let release!: () => void
    let hanging!: () => void
    const hangs = new Promise<void>((resolve) => {
      hanging = resolve
    })
    h.job('work', {
      lease: '5s',
      handler: async () => {
        hanging()
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return 'late'
      },
    })
    other.job('work', { lease: '5s', handler: ({ attempt }) => `attempt ${attempt}` })
    await h.schedules.put('s', { job: 'work', timing: every('1 day') })
    const first = h.advance('0s')
    await hangs
    await other.advance('4.999s')
    expect(await other.runs.list({ schedule: 's' })).toMatchObject([{ state: 'running', attempt: 1 }])
    await other.advance({ milliseconds: 1 })
    const recovered = [{ state: 'succeeded', attempt: 2, result: 'attempt 2' }]
    expect(await other.runs.list({ schedule: 's' })).toMatchObject(recovered)
    release()
    await first
    expect(await other.runs.list({ schedule: 's' })).toMatchObject(recovered)
    const attempts = await h.escapement.database.query(`select number, code from "${h.schema}".attempts`)
    expect(attempts).toEqual([{ number: 1, code: 'lease_lost' }])
  })
})

describe('start and stop', () => {
  it('runs what is due, waits for handlers that are under way, and records what they return', async () => {
    const h = await openHarness({ at: AT })
    const { escapement } = h
    const started = new Promise<void>((resolve) => void escapement.on('run.started', () => resolve()))
    h.job('slow', { handler: () => sleep(200, 'done') })
    await h.schedules.put('s', { job: 'slow', timing: every('1 day') })
    await escapement.start()
    await escapement.start()
    await started
    await escapement.stop()
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([{ state: 'succeeded', result: 'done' }])
    expect(await escapement.database.query(`select id from "${h.schema}".workers`)).toEqual([])
  })
})
