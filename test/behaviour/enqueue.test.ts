import { ProxyTracerProvider, trace } from '@opentelemetry/api'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createEscapement, type Database, defineJob, every } from '../../src/index.js'
import { alteredDatabase, freshSchemaName, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'
const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function open(options = {}) {
  const h = await openHarness({ at: AT, ...options })
  const done: unknown[] = []
  const noop = h.job('noop', { handler: ({ input }) => void done.push(input) })
  const count = async () => {
    const [row] = await h.escapement.database.query<{ n: number }>(
      `select count(*) as n from "${h.schema}".runs`,
    )
    return row!.n
  }
  return { h, noop, done, count }
}

/** The same database, with a look at each statement that enqueues. */
async function watchedDatabase(look: (params: readonly unknown[]) => void): Promise<Database> {
  const watched =
    (query: Database['query']): Database['query'] =>
    async (text, params = []) => {
      if (text.includes("'direct'")) look(params)
      return query(text, params)
    }
  return alteredDatabase((database) => ({
    query: watched((text, params) => database.query(text, params)),
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          query: watched((text, params) => tx.query(text, params)),
          script: (text) => tx.script(text),
        }),
      ),
  }))
}

async function countingDatabase() {
  const counts = { statements: 0 }
  const database = await watchedDatabase(() => {
    counts.statements += 1
  })
  return { database, counts }
}

describe('enqueue', () => {
  it('runs the job at once with its input, and records it as a direct run', async () => {
    const { h, noop, done } = await open()
    const created: string[] = []
    h.escapement.on('run.created', ({ runId, job }) => created.push(`${job} ${runId}`))
    const { id, created: isNew } = await h.runs.enqueue(noop, { to: 'acme' })
    expect(id).toMatch(RUN_ID)
    expect(isNew).toBe(true)
    expect(created).toEqual([`noop ${id}`])
    expect(await h.runs.get(id)).toMatchObject({
      state: 'pending',
      trigger: 'direct',
      job: 'noop',
      input: { to: 'acme' },
      queue: 'default',
      priority: 0,
      key: null,
      scheduleId: null,
      planTime: null,
      eligibleAt: new Date(AT),
      createdAt: new Date(AT),
    })
    await h.advance('0s')
    expect(done).toEqual([{ to: 'acme' }])
    expect((await h.runs.get(id)).state).toBe('succeeded')
  })

  it('inside the caller’s transaction appears only if that commits; the same `key` twice is one run', async () => {
    const { h, noop, count } = await open()
    const { database } = h.escapement
    const failed = database.transaction(async (tx) => {
      await h.runs.enqueue(noop, 1, { tx })
      await h.runs.enqueueMany('noop', [{ input: 2 }, { input: 3, key: 'k' }], { tx })
      expect(await tx.query(`select from "${h.schema}".runs`)).toHaveLength(3)
      throw new Error('refused')
    })
    await expect(failed).rejects.toThrow('refused')
    expect(await count()).toBe(0)

    const first = await database.transaction((tx) => h.runs.enqueue(noop, 1, { tx, key: 'k' }))
    const second = await h.runs.enqueue(noop, 2, { key: 'k' })
    expect([first, second]).toEqual([
      { id: first.id, created: true },
      { id: first.id, created: false },
    ])
    expect(await h.runs.get(first.id)).toMatchObject({ input: 1, key: 'k' })
    expect(await count()).toBe(1)
  })

  it('tells of a run when it exists, and leaves the transactions of callers to them', async () => {
    const { h, noop } = await open()
    const created: string[] = []
    h.escapement.on('run.created', ({ runId }) => created.push(runId))
    await h.escapement.database.transaction((tx) => h.runs.enqueue(noop, 1, { tx, key: 'k' }))
    await h.runs.enqueue(noop, 1, { key: 'k' })
    const [a, , b] = await h.runs.enqueueMany(noop, [{ input: 1 }, { input: 2, key: 'k' }, { input: 3 }])
    expect(created).toEqual([a!.id, b!.id])
  })

  it('waits until its time, an instant or a span from now, and is never early', async () => {
    const { h, noop, done } = await open()
    await h.runs.enqueue(noop, 'text', { at: '2026-03-01T15:00:00+02:00' })
    await h.runs.enqueue(noop, 'span', { at: { in: '90 minutes' } })
    await h.runs.enqueue(noop, 'date', { at: new Date('2026-03-01T14:00:00Z') })
    await h.runs.enqueue(noop, 'past', { at: Date.parse(AT) - 1 })
    await h.advance('59 minutes 59 seconds 999 milliseconds')
    expect(done).toEqual(['past'])
    await h.advance('1 ms')
    expect(done).toEqual(['past', 'text'])
    await h.advance('1 hour')
    expect(done).toEqual(['past', 'text', 'span', 'date'])
  })

  it('runs higher priorities first, and equal ones in the order in which they were asked for', async () => {
    const { h, done } = await open({ worker: { concurrency: 1 } })
    await h.runs.enqueueMany('noop', [
      { input: 'low', priority: -1 },
      ...Array.from({ length: 20 }, (_, input) => ({ input })),
      { input: 'high', priority: 5 },
    ])
    await h.advance('0s')
    expect(done).toEqual(['high', ...Array.from({ length: 20 }, (_, input) => input), 'low'])
  })

  it('goes to the queue that it names', async () => {
    const { h, noop, done } = await open({ worker: { queues: ['mail'] } })
    const { id } = await h.runs.enqueue(noop, 'default')
    await h.runs.enqueue(noop, 'mail', { queue: 'mail' })
    await h.advance('0s')
    expect(done).toEqual(['mail'])
    expect((await h.runs.get(id)).state).toBe('pending')
  })

  it('stores no trace where nobody traces', async () => {
    const { h, noop } = await open()
    // As it is until somebody sets one up: another file of this process may have.
    const provider = vi.spyOn(trace, 'getTracerProvider').mockReturnValue(new ProxyTracerProvider())
    onTestFinished(() => provider.mockRestore())
    await h.runs.enqueue(noop, 1)
    expect(await h.escapement.database.query(`select trace_context from "${h.schema}".runs_asked`)).toEqual([
      { trace_context: null },
    ])
  })

  it('takes the input as it is at the call', async () => {
    const { h, noop } = await open()
    const input = { n: 1 }
    const promise = h.runs.enqueue(noop, input)
    input.n = 2
    expect((await h.runs.get((await promise).id)).input).toEqual({ n: 1 })
  })
})

describe('a key', () => {
  it('lasts as long as its run is kept', async () => {
    const { h, noop } = await open()
    const first = await h.runs.enqueue(noop, 1, { key: 'k' })
    await h.advance('1 day')
    expect((await h.runs.get(first.id)).state).toBe('succeeded')
    expect(await h.runs.enqueue(noop, 2, { key: 'k' })).toEqual({ id: first.id, created: false })
    await h.escapement.database.query(`delete from "${h.schema}".runs_asked where id = $1`, [first.id])
    expect(await h.runs.enqueue(noop, 2, { key: 'k' })).toEqual({ id: first.id, created: true })
  })

  it('is one of its job: another job has its own, whatever the names are made of', async () => {
    const { h } = await open()
    h.job('a|b', { handler: () => {} })
    h.job('a', { handler: () => {} })
    const [one, two] = [
      await h.runs.enqueue('a|b', 1, { key: 'c' }),
      await h.runs.enqueue('a', 1, { key: 'b|c' }),
    ]
    expect([one.created, two.created]).toEqual([true, true])
  })

  it('makes one run of many callers at once', async () => {
    const { h, noop, count } = await open()
    const calls = Array.from({ length: 100 }, (_, input) => h.runs.enqueue(noop, input, { key: 'k' }))
    const answers = await Promise.all(calls)
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await count()).toBe(1)
  })

  it('that an open transaction does not let go is refused with what to do, and none of those beside it', async () => {
    const database = await watchedDatabase((params) => {
      if (JSON.stringify(params).includes('held'))
        throw Object.assign(new Error('lock timeout'), { code: '55P03' })
    })
    const { h, noop, count } = await open({ database })
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const held = h.runs.enqueue(noop, 1, { key: 'held' }).catch(({ code, message }) => ({ code, message }))
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => h.runs.enqueue(noop, 1, { key })))
    let isRefused = false
    void held.then(() => {
      isRefused = true
    })
    while (!isRefused) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await held).toEqual({
      code: 'database_busy',
      message: expect.stringMatching(/^Another transaction that has not ended uses the key "held"/),
    })
    expect(await count()).toBe(4)
    await expect(h.runs.enqueueMany(noop, [{ input: 1, key: 'held' }])).rejects.toMatchObject({
      code: 'database_busy',
    })
  })
})

describe('enqueueMany', () => {
  it('makes 10,000 runs in few statements, all or none, and answers in their order', async () => {
    const { database, counts } = await countingDatabase()
    const { h, noop, count } = await open({ database })
    const items = Array.from({ length: 10_000 }, (_, input) => ({
      input,
      ...(input % 2 && { key: `k${input}` }),
    }))
    const answers = await h.runs.enqueueMany(noop, items)
    expect(counts.statements).toBe(2)
    expect(await count()).toBe(10_000)
    const rows = await database.query<{ id: string; input: number }>(
      `select id, input from "${h.schema}".runs`,
    )
    const inputs = new Map(rows.map(({ id, input }) => [id, input]))
    expect(answers.map(({ id }) => inputs.get(id))).toEqual(items.map(({ input }) => input))
    expect(answers.every(({ created }) => created)).toBe(true)

    await database.query(`alter table "${h.schema}".runs_asked add check (input <> '"bad"')`)
    const more = Array.from({ length: 6_000 }, (_, n) => ({ input: n === 5_999 ? 'bad' : n }))
    await expect(h.runs.enqueueMany(noop, more)).rejects.toMatchObject({ code: '23514' })
    expect(await count()).toBe(10_000)
  })

  it('makes one run of a key that it names twice: the first counts', async () => {
    const { h, noop } = await open()
    const answers = await h.runs.enqueueMany(noop, [
      { input: 1, key: 'b' },
      { input: 2, key: 'a' },
      { input: 3, key: 'b' },
    ])
    expect(answers.map(({ created }) => created)).toEqual([true, true, false])
    expect(answers[2]!.id).toBe(answers[0]!.id)
    expect((await h.runs.get(answers[2]!.id)).input).toBe(1)
  })

  it('cuts large inputs into statements of a size that a connection carries, still all or none', async () => {
    const { database, counts } = await countingDatabase()
    const { h, noop, count } = await open({ database })
    const items = Array.from({ length: 5 }, () => ({ input: 'x'.repeat(3_000_000) }))
    expect(await h.runs.enqueueMany(noop, items)).toHaveLength(5)
    expect(counts.statements).toBe(3)
    expect(await count()).toBe(5)
  })

  it('of nothing is nothing', async () => {
    const { database, counts } = await countingDatabase()
    const { h, noop } = await open({ database })
    expect(await h.runs.enqueueMany(noop, [])).toEqual([])
    expect(counts.statements).toBe(0)
  })
})

describe('many callers at once', () => {
  it('share statements: there are fewer of these than callers', async () => {
    const { database, counts } = await countingDatabase()
    const { h, noop, count } = await open({ database })
    const calls = Array.from({ length: 500 }, (_, input) => h.runs.enqueue(noop, input))
    expect(new Set((await Promise.all(calls)).map(({ id }) => id)).size).toBe(500)
    expect(await count()).toBe(500)
    expect(counts.statements).toBeLessThan(50)
  })

  it('are not refused for what one of them asks', async () => {
    const { h, noop, count } = await open()
    await h.escapement.database.query(`alter table "${h.schema}".runs_asked add check (input <> '"bad"')`)
    const inputs = Array.from({ length: 40 }, (_, n) => (n === 17 ? 'bad' : n))
    const answers = await Promise.allSettled(inputs.map((input) => h.runs.enqueue(noop, input)))
    expect(answers.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([17])
    expect(await count()).toBe(39)
  })
})

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('expected a refusal'),
    ({ code, message }) => ({ code, lines: message.split('\n') }),
  )

describe('what is wrong', () => {
  it('is named field by field', async () => {
    const { h, noop, count } = await open()
    const options = { prioritty: 1, priority: 2 ** 31, queue: '', key: '', at: 'tomorrow', tx: 5 }
    expect(await refusal(h.runs.enqueue(5 as never, 1, options as never))).toEqual({
      code: 'option_invalid',
      lines: [
        'tx: 5 – expected a pg client, or the tx of escapement.database.transaction',
        'job: 5 – must be a job or the name of one',
        'prioritty: unknown field (did you mean "priority"?)',
        'queue: "" – must be a text, not empty',
        'priority: 2147483648 – must be a whole number',
        'key: "" – must be a text, not empty',
        'at: "tomorrow" – is not an ISO 8601 date-time such as "2026-12-01T09:00"',
      ],
    })
    for (const [at, line] of [
      ['2026-03-01T12:00', 'at: "2026-03-01T12:00" – needs an offset, such as "2026-03-01T12:00:00Z"'],
      [{ in: '1 month' }, 'at.in: "1 month" – months and years have no fixed length; give days or hours'],
      [
        { after: '1h' },
        `at: {"after":"1h"} – expected an instant, or a span from now such as { in: '5 minutes' }`,
      ],
    ] as const) {
      expect(await refusal(h.runs.enqueue(noop, 1, { at } as never))).toMatchObject({ lines: [line] })
    }
    expect(await count()).toBe(0)
  })

  it('of many is named with its place', async () => {
    const { h, noop, count } = await open()
    const items = [{ input: 1 }, { input: 2, at: 'x' }, { input: 3, queues: 'a' }]
    expect(await refusal(h.runs.enqueueMany(noop, items as never))).toEqual({
      code: 'option_invalid',
      lines: [
        'items[1].at: "x" – is not an ISO 8601 date-time such as "2026-12-01T09:00"',
        'items[2].queues: unknown field (did you mean "queue"?)',
      ],
    })
    expect(await refusal(h.runs.enqueueMany(noop, [{ input: new Map() }, { input: { a: 1n } }]))).toEqual({
      code: 'input_invalid',
      lines: [
        'items[0].input: a Map – is not JSON; give text or a plain object',
        'items[1].input.a: a bigint – is not JSON',
      ],
    })
    expect(await refusal(h.runs.enqueueMany(noop, [1] as never))).toMatchObject({
      lines: ['items[0]: 1 – must be { input, … }'],
    })
    expect(await refusal(h.runs.enqueueMany(noop, [], { queue: 'a' } as never))).toMatchObject({
      lines: ['queue: unknown field; what is to be said of one run goes into its item'],
    })
    const wrong = Array.from({ length: 1_000 }, () => ({ input: 1, priority: 0.5 }))
    expect((await refusal(h.runs.enqueueMany(noop, wrong))).lines).toHaveLength(20)
    expect(await count()).toBe(0)
  })

  it('with the input is found by the job’s schema, and by the type of its handle', async () => {
    const { h, count } = await open()
    const report = h.job('report', { input: z.object({ customer: z.string() }), handler: () => {} })
    // @ts-expect-error The customer is text.
    expect(await refusal(h.runs.enqueue(report, { customer: 1 }))).toMatchObject({
      code: 'input_invalid',
      lines: [expect.stringMatching(/^input\.customer: /)],
    })
    const items = [{ input: { customer: 'a' } }, { input: {} }]
    // @ts-expect-error The customer of the second is missing.
    expect(await refusal(h.runs.enqueueMany(report, items))).toMatchObject({
      code: 'input_invalid',
      lines: [expect.stringMatching(/^items\[1\]\.input\.customer: /)],
    })
    // @ts-expect-error There is no such field.
    expect(await h.runs.enqueue(report, { customer: 'a', custommer: 'b' })).toBeDefined()
    // By its name the job takes anything, as far as the compiler can see.
    expect(await refusal(h.runs.enqueue('report', 1))).toMatchObject({ code: 'input_invalid' })
    expect(await h.runs.enqueue(report, { customer: 'acme' })).toMatchObject({ created: true })
    expect(await count()).toBe(2)
  })

  it('with the job is found where nobody has published it', async () => {
    const { h } = await open()
    expect(await refusal(h.runs.enqueue('nop', 1))).toEqual({
      code: 'unknown_job',
      lines: ['job: there is no job "nop" (did you mean "noop"?). Known: noop.'],
    })
    expect(await refusal(h.runs.enqueue('' as never, 1))).toMatchObject({
      lines: ['job: "" – must be a job or the name of one'],
    })
    const inside = h.escapement.database.transaction((tx) => h.runs.enqueue('nop', 1, { tx }))
    expect(await refusal(inside)).toMatchObject({ code: 'unknown_job' })
  })
})

describe('a process without the code', () => {
  it('can enqueue what a worker has published, or a job whose handle it has', async () => {
    const database = await sharedDatabase()
    const schema = freshSchemaName()
    onTestFinished(async () => void (await database.query(`drop schema "${schema}" cascade`)))
    const worker = await createEscapement({ database, schema })
    worker.job('there', { handler: () => {} })
    await worker.start({ roles: ['worker'] })
    await worker.stop()
    await worker.close()

    const other = await createEscapement({ database, schema })
    expect(await other.runs.enqueue('there', 1)).toMatchObject({ created: true })
    expect(await database.transaction((tx) => other.runs.enqueue('there', 1, { tx }))).toMatchObject({
      created: true,
    })
    const later = defineJob('later', { input: z.number(), handler: () => {} })
    expect(await other.runs.enqueue(later, 1)).toMatchObject({ created: true })
    // @ts-expect-error It is a number.
    await expect(other.runs.enqueue(later, 'a')).rejects.toMatchObject({ code: 'input_invalid' })
    await other.close()
  })

  it('has its inputs checked by the schema that a worker has published', async () => {
    const { h } = await open()
    const input = z.object({ customer: z.string() })
    h.job('typed', { input, handler: () => {} })
    h.job('told', { inputSchema: { type: 'string' }, handler: () => {} })
    h.job('untold', { input, inputSchema: false, handler: () => {} })
    await h.advance('0s')
    const other = await openHarness({ at: AT, schema: h.schema })
    const lines = async (promise: Promise<unknown>) => (await refusal(promise)).lines
    const wrong = { customer: 5 }
    expect(await refusal(other.runs.enqueue('typed', wrong))).toEqual({
      code: 'input_invalid',
      lines: ['input.customer: must be string'],
    })
    const items = [{ input: { customer: 'acme' } }, { input: {} }]
    expect(await lines(other.runs.enqueueMany('typed', items))).toEqual([
      'items[1].input.customer: is missing',
    ])
    expect(await lines(other.runs.enqueue('told', 5))).toEqual(['input: must be string'])
    const daily = { timing: every('1 day'), job: 'typed' }
    expect(await lines(other.schedules.put('s', { ...daily, input: wrong }))).toEqual([
      'input.customer: must be string',
    ])
    await other.schedules.put('s', { ...daily, input: { customer: 'acme' } })
    expect(await lines(other.schedules.trigger('s', { input: wrong }))).toEqual([
      'input.customer: must be string',
    ])
    for (const [job, given] of [
      ['typed', { customer: 'acme' }],
      ['told', 'text'],
      ['untold', wrong],
    ] as const) {
      expect(await other.runs.enqueue(job, given)).toMatchObject({ created: true })
    }
  })
})
