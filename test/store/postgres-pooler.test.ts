import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { createEscapement, type EscapementOptions, every, set } from '../../src/index.js'
import { openDatabase } from '../../src/store/open.js'
import { probeSession } from '../../src/store/pooler-probe.js'
import type { ClientLike } from '../../src/store/postgres-session.js'
import { lookAfterWorkers } from '../../src/store/queries/workers.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { freshSchemaName } from '../support/database.js'
import { type Pooler, startPooler } from '../support/pooler.js'

const AT = Date.parse('2026-03-01T00:00:30Z')
/** Without the parameter that the other tests give: poolers refuse it. */
const direct = inject('postgresUrl')
let pooler: Pooler

beforeAll(async () => {
  pooler = await startPooler(direct, { mode: 'transaction', sessions: 3 })
})

/** Whatever was done before: sessions that others share are as they were. */
afterAll(async () => {
  const client = new pg.Client({ connectionString: direct })
  await client.connect()
  const locks = await client.query('select from pg_locks where locktype = $1 and pid = any($2)', [
    'advisory',
    pooler.processes(),
  ])
  await client.end()
  const shared = new pg.Client({ connectionString: pooler.url })
  await shared.connect()
  const left = new Map<number, string>()
  for (let turn = 0; turn < 3; turn++) {
    const { rows } =
      await shared.query(`select pg_backend_pid() as pid, array(select pg_listening_channels()) as channels,
      current_setting('statement_timeout') || current_setting('lock_timeout') as timeouts`)
    left.set(rows[0].pid, `${rows[0].channels} ${rows[0].timeouts}`)
  }
  await shared.end()
  await pooler.close()
  expect(locks.rowCount).toBe(0)
  expect([...left.values()]).toEqual(Array(3).fill(' 00'))
})

function signalled<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Two processes' worth of Escapement behind the pooler, by one clock. */
async function openTwo(urls = [pooler.url, pooler.url], options: EscapementOptions = {}) {
  const schema = freshSchemaName()
  const clock = createManualClock(AT)
  const both = await Promise.all(
    urls.map((database) => assemble({ database, schema, clock, ...options } as EscapementOptions)),
  )
  const [a, b] = [both[0]!, both[1]!]
  onTestFinished(async () => {
    for (const { escapement } of both) await escapement.close()
    const client = new pg.Client({ connectionString: direct })
    await client.connect()
    await client.query(`drop schema "${schema}" cascade`)
    await client.end()
  })
  return { a, b, both, clock, schema }
}

describe('behind a transaction pooler', () => {
  it('two processes bring the schema up to date, fire each occurrence once, and work it off', async () => {
    const { a, b, both, clock } = await openTwo()
    const done: string[] = []
    for (const { escapement } of both) {
      escapement.job('work', {
        transactional: true,
        handler: async ({ tx, input, planTime }) => {
          await tx.query('select pg_sleep(0)')
          done.push(`${input} ${planTime?.toISOString()}`)
        },
      })
    }
    const names = Array.from({ length: 12 }, (_, index) => `s-${index}`)
    await a.escapement.schedules.sync(
      Object.fromEntries(
        names.map((name) => [name, { job: 'work', input: name, timing: every('1 minute') }]),
      ),
    )
    for (let minute = 1; minute <= 3; minute++) {
      clock.set(AT + minute * 60_000)
      await Promise.all(both.map(({ scheduler }) => scheduler.tickWhileDue()))
      await Promise.all(both.map(({ worker }) => worker.drain()))
    }
    const expected = names.flatMap((name) =>
      [1, 2, 3].map((minute) => `${name} 2026-03-01T00:0${minute}:00.000Z`),
    )
    expect(done.sort()).toEqual(expected.sort())
    expect(await b.escapement.audit()).toMatchObject({
      occurrences: 36,
      missing: [],
      double: [],
      unexpected: [],
    })
    expect((await b.escapement.stats()).database).toMatchObject({ kind: 'postgres', mode: 'pooled' })
  })

  it('a process finds by itself what another asks for and cancels, and has no lock to be missed by', async () => {
    const schema = freshSchemaName()
    const said: string[] = []
    const logger = {
      debug() {},
      warn() {},
      error() {},
      info: (_: object, message: string) => void said.push(message),
    }
    const a = await createEscapement({ database: pooler.url, schema, logger })
    const b = await createEscapement({ database: pooler.url, schema, pooler: true })
    onTestFinished(async () => {
      await a.close()
      await b.database.query(`drop schema "${schema}" cascade`)
      await b.close()
    })
    const started = signalled<void>()
    const aborted = signalled<unknown>()
    for (const escapement of [a, b]) {
      escapement.job('hang', {
        // Far longer than the test waits: it is not by renewing that it hears of it.
        lease: '15 minutes',
        handler: ({ signal }) =>
          new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              aborted.resolve(signal.reason)
              resolve()
            })
            started.resolve()
          }),
      })
    }
    const heard: string[] = []
    await a.onAny(({ name, isLocal }) => void heard.push(`${name} ${isLocal}`))
    await a.start()
    const { id } = await b.runs.enqueue('hang', null)
    await started.promise
    expect(await b.database.query(`select session_lock::text from "${schema}".workers`)).toEqual([
      { session_lock: null },
    ])
    await b.runs.cancel(id)
    expect(await aborted.promise).toMatchObject({ code: 'cancelled' })
    expect(heard).toEqual(['run.started true'])
    expect(said).toEqual([
      'a transaction pooler stands before the database: other processes are looked for by polling',
      'events of other processes are not heard: these connections cannot listen',
    ])
  })

  it('a living worker keeps its runs, and those of a killed one are free when their leases end', async () => {
    const own = await startPooler(direct, { mode: 'transaction', sessions: 2 })
    onTestFinished(() => own.close())
    const { a, b, clock } = await openTwo([own.url, pooler.url], { worker: { drain: '0s' } })
    const started = signalled<void>()
    a.escapement.job('work', {
      handler: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    b.escapement.job('work', { handler: ({ attempt }) => attempt })
    const { id } = await b.escapement.runs.enqueue('work', null)
    const look = () =>
      lookAfterWorkers(b.store, {
        id: b.worker.id,
        running: 0,
        sessionLock: null,
        unseenMs: 1_800,
        graceMs: 3_000,
      })
    await a.worker.start()
    await started.promise
    clock.set(AT + 20_000)
    expect(await look()).toMatchObject({ lost: [], msUntilLost: null })
    a.worker.check()
    const lease = () => b.store.query('select lease_expires_at as ends from {schema}.runs_open')
    await expect.poll(lease).toEqual([{ ends: new Date(AT + 50_000) }])
    // As a killed process: nothing is heard of it from here on.
    await own.close()
    clock.set(AT + 49_999)
    expect(await look()).toMatchObject({ lost: [], hasExpired: false })
    await b.worker.drain()
    expect(await b.escapement.runs.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    clock.set(AT + 50_000)
    await b.worker.drain()
    expect(await b.escapement.runs.get(id)).toMatchObject({ state: 'succeeded', attempt: 2, result: 2 })
  })

  it('rows are swept, once somebody with a session of their own has built the index', async () => {
    const { a, b, clock, schema } = await openTwo()
    await a.escapement.database.query(
      `create table "${schema}".posts (id int primary key, status text, publish_at timestamptz)`,
    )
    const declare = () =>
      a.escapement.transitions.declare(
        { schema, table: 'posts' },
        { fields: { publish_at: set('status', { from: 'draft', to: 'published' }) } },
      )
    const refusal = await declare().then(
      () => null,
      (error) => error,
    )
    expect(refusal).toMatchObject({ code: 'transition_invalid' })
    expect(refusal.message).toMatch(
      /cannot be built behind a transaction pooler; .*: create index concurrently/,
    )
    const statement = /create index .*/.exec(refusal.message)![0].replace(' concurrently', '')
    await b.escapement.database.query(statement)
    await declare()
    await a.escapement.database.query(`insert into "${schema}".posts values (1, 'draft', $1)`, [
      new Date(AT + 1_000),
    ])
    clock.set(AT + 1_000)
    expect(await a.sweeper.sweep()).toMatchObject({ updated: 1, errors: [] })
    await expect(a.escapement.database.session(async () => {})).rejects.toMatchObject({
      code: 'session_needed',
    })
  })

  it('a parameter in the URL that it refuses is named', async () => {
    const opening = createEscapement({ database: `${pooler.url}?options=-c%20jit%3Doff` })
    await expect(opening).rejects.toThrow(/the pooler refuses "options"\. .*ignore_startup_parameters/)
  })
})

describe('whether a pooler stands in between', () => {
  const poolOf = (connectionString: string, max?: number) => {
    const pool = new pg.Pool({ connectionString, ...(max && { max }) })
    onTestFinished(() => pool.end())
    return pool
  }

  async function clientOf(connectionString: string) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  it.each([
    ['a URL', () => direct],
    ['a pool', () => poolOf(direct)],
    ['a pool of one', () => poolOf(direct, 1)],
    ['a client', () => clientOf(direct)],
  ])('is not so of %s to the server', async (_, open) => {
    const { inner, outer } = await openDatabase(await open())
    expect([inner.mode, outer.mode]).toEqual(['direct', 'direct'])
    await inner.close()
    await outer.close()
  })

  it.each([
    ['a URL', () => pooler.url],
    ['a pool', () => poolOf(pooler.url)],
    ['a pool of one', () => poolOf(pooler.url, 1)],
    ['a client', () => clientOf(pooler.url)],
  ])('is so of %s to one', async (_, open) => {
    const { inner, outer } = await openDatabase(await open())
    expect([inner.mode, inner.canListen, outer.mode]).toEqual(['pooled', false, 'pooled'])
    await inner.close()
    await outer.close()
  })

  it('is seen with one session that all share, or with two in turns, and not where each has its own', async () => {
    const modes: string[] = []
    for (const settings of [
      { mode: 'transaction', sessions: 1 },
      { mode: 'transaction', sessions: 2 },
      { mode: 'session', sessions: 2 },
    ] as const) {
      const before = await startPooler(direct, settings)
      const pool = new pg.Pool({ connectionString: before.url })
      modes.push(await probeSession(pool, 2))
      await pool.end()
      await before.close()
    }
    expect(modes).toEqual(['pooled', 'pooled', 'direct'])
  })

  it('is taken for so where a second connection cannot be had', async () => {
    const one = await startPooler(direct, { mode: 'session', sessions: 1 })
    const pool = new pg.Pool({ connectionString: one.url, max: 2 })
    const connect = pool.connect.bind(pool)
    let asked = 0
    const scarce = {
      totalCount: 0,
      connect: async () => (asked++ === 0 ? connect() : Promise.reject(new Error('none'))),
    }
    expect(await probeSession(scarce as never, 2)).toBe('pooled')
    await pool.end()
    await one.close()
  })

  it('costs one statement on a direct connection, and is not asked where it is said', async () => {
    const client = await clientOf(direct)
    const asked: string[] = []
    const counted = {
      query: (config: { text: string }) => {
        asked.push(config.text)
        return client.query(config)
      },
      on: client.on.bind(client),
      off: client.off.bind(client),
      processID: (client as ClientLike).processID,
    } as ClientLike
    const opened = await openDatabase(counted)
    const told = await openDatabase(counted, true)
    expect([opened.inner.mode, told.inner.mode]).toEqual(['direct', 'pooled'])
    expect(asked.filter((text) => text.includes('pg_backend_pid'))).toHaveLength(1)
    expect(asked).toHaveLength(3)
  })
})
