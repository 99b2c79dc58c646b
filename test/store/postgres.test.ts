import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { createEscapement, every } from '../../src/index.js'
import { planOccurrences } from '../../src/schedules/plan.js'
import { often } from '../../src/store/often.js'
import { openDatabase } from '../../src/store/open.js'
import { silentListener } from '../../src/store/postgres-listener.js'
import { overPool } from '../../src/store/postgres-session.js'
import { claimRuns } from '../../src/store/queries/claiming.js'
import { renewLeases } from '../../src/store/queries/leases.js'
import { recordOutcomes } from '../../src/store/queries/outcomes.js'
import { lockDueSchedules } from '../../src/store/queries/planning.js'
import { recordPlans } from '../../src/store/queries/recording.js'
import { setAsideProvider } from '../../src/store/queries/set-aside.js'
import { toPlannable } from '../../src/store/rows.js'
import { createStore, type Session } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { TIMING_KINDS } from '../../src/time/timing.js'
import { freshSchemaName, openTestDatabase, postgresUrl, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const RETRIED = { retry: { attempts: 3 }, onStale: 'retry' } as const

describe('connections to PostgreSQL', () => {
  it('tell who uses them, those of a caller too unless somebody else has opened them', async () => {
    const pool = new pg.Pool({ connectionString: postgresUrl() })
    const own = await openDatabase(postgresUrl())
    onTestFinished(async () => {
      await own.inner.close()
      await own.outer.close()
      await pool.end()
    })
    const idle = { pool: 'callers', total: 1, idle: 1, waiting: 0 }
    await own.outer.query('select 1')
    expect(own.use()).toEqual([{ ...idle, pool: 'loops' }, idle])
    await own.outer.transaction(async () => {
      expect(own.use()[1]).toEqual({ ...idle, idle: 0 })
    })
    expect((await openDatabase(pool)).use()).toEqual([{ ...idle, pool: 'borrowed' }])
    expect((await openDatabase(own.outer)).use()).toEqual([])
  })

  it('of our own have the server end what our loops would hang up on, and nothing that a caller asks', async () => {
    const own = await openDatabase(postgresUrl())
    onTestFinished(async () => {
      await own.inner.close()
      await own.outer.close()
    })
    const limit = `select setting::int from pg_settings where name = 'statement_timeout'`
    const [[ofLoops], [ofCallers]] = [await own.inner.query(limit), await own.outer.query(limit)]
    expect([ofLoops, ofCallers]).toEqual([{ setting: 14_000 }, { setting: 0 }])
    await expect(
      own.inner.transaction((tx) => tx.script(`set local statement_timeout = 50; select pg_sleep(60)`)),
    ).rejects.toMatchObject({ code: '57014' })
  })

  it('have nothing compiled that our loops ask, and no line read from end to end: planned without reading small tables it counts as expensive', async () => {
    const pool = new pg.Pool({ connectionString: postgresUrl() })
    const [own, borrowed] = [await openDatabase(postgresUrl()), await openDatabase(pool)]
    onTestFinished(async () => {
      await own.inner.close()
      await own.outer.close()
      await pool.end()
    })
    const names = ['jit', 'enable_bitmapscan']
    const settings = `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`
    const all = (value: string) => [Object.fromEntries(names.map((name) => [name, value]))]
    expect([await own.inner.query(settings), await own.outer.query(settings)]).toEqual([
      all('off'),
      all('on'),
    ])
    for (const { inner } of [own, borrowed]) {
      expect(await inner.transaction((tx) => tx.query(settings))).toEqual(all('off'))
    }
  })

  it('of our own keep the plans of what is asked often, and plan what else our loops ask for what it is', async () => {
    const own = await openDatabase(postgresUrl())
    onTestFinished(async () => {
      await own.inner.close()
      await own.outer.close()
    })
    const mode = `select setting from pg_settings where name = 'plan_cache_mode'`
    const kept = often('try it', mode)
    const modes: unknown[] = []
    for (const statement of [mode, kept, kept, mode, kept, mode])
      modes.push(...(await own.inner.query<{ setting: string }>(statement)).map(({ setting }) => setting))
    const keeps = 'force_generic_plan'
    expect(modes).toEqual(['auto', keeps, keeps, 'auto', keeps, 'auto'])
    expect(await own.outer.query(kept)).toEqual([{ setting: 'auto' }])
  })

  it('of our own keep what is asked often prepared, and learn it anew where its answer has other columns', async () => {
    const schema = freshSchemaName()
    const pool = new pg.Pool({ connectionString: postgresUrl(), max: 3 })
    const own = await openDatabase(postgresUrl())
    const borrowed = await openDatabase(pool)
    onTestFinished(async () => {
      await own.outer.query(`drop schema "${schema}" cascade`)
      for (const database of [own.inner, own.outer, borrowed.inner]) await database.close()
      await pool.end()
    })
    await own.outer.transaction((tx) =>
      tx.script(`create schema "${schema}"; create table "${schema}".t as select 1 as a`),
    )
    const statement = often('try it', `select * from "${schema}".t where a >= $1::int`)
    const kept = `select count(*) as kept from pg_prepared_statements where statement like '%try it%${schema}%'`
    for (const { inner } of [own, borrowed]) {
      for (const _ of [1, 2]) expect(await inner.query(statement, [1])).toEqual([{ a: 1 }])
    }
    expect([await own.inner.query(kept), await borrowed.inner.query(kept)]).toEqual([
      [{ kept: 1 }],
      [{ kept: 0 }],
    ])
    expect(await own.inner.transaction((tx) => tx.query(statement, [1]))).toEqual([{ a: 1 }])
    await own.outer.query(`alter table "${schema}".t add column b int`)
    await expect(own.inner.query(statement, [1])).rejects.toMatchObject({ code: '0A000' })
    expect(await own.inner.query(statement, [1])).toEqual([{ a: 1, b: null }])
    await own.outer.query(`alter table "${schema}".t drop column b`)
    const inside = () => own.inner.transaction((tx) => tx.query(statement, [1]))
    await expect(inside()).rejects.toMatchObject({ code: '0A000' })
    expect(await inside()).toEqual([{ a: 1 }])
  })

  it('abandon a statement at its deadline, and its connection with it', async () => {
    const pool = new pg.Pool({ connectionString: postgresUrl(), max: 1 })
    const end = () => pool.end()
    const database = overPool(pool, {
      mode: 'direct',
      listener: silentListener,
      deadlineMs: 300,
      longTransactions: 1,
      end,
    })
    onTestFinished(() => database.close())
    const pid = () => database.query('select pg_backend_pid() as pid')
    const before = await pid()
    await expect(database.query('select pg_sleep(30)')).rejects.toThrow(/timeout/i)
    await expect(database.transaction((tx) => tx.query('select pg_sleep(30)'))).rejects.toThrow(/timeout/i)
    expect(await pid()).not.toEqual(before)
  })

  it('lose the locks of a frozen process in seconds, and wait for others only so long', async () => {
    const { inner, outer } = await openDatabase(postgresUrl())
    onTestFinished(async () => {
      await inner.close()
      await outer.close()
    })
    const settings = `select current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('lock_timeout') as lock, current_setting('transaction_isolation') as isolation`
    expect(await inner.transaction((tx) => tx.query(settings))).toEqual([
      { idle: '5s', lock: '10s', isolation: 'read committed' },
    ])
    expect(await outer.transaction((tx) => tx.query(settings))).toMatchObject([{ idle: '0', lock: '0' }])
  })

  it.each([
    ['of our own', () => postgresUrl()],
    ['of the caller’s', () => new pg.Pool({ connectionString: postgresUrl(), max: 4 })],
    [
      'of the caller’s, of which there are two',
      () => new pg.Pool({ connectionString: postgresUrl(), max: 2 }),
    ],
  ])('%s are left for the loops and for callers, however many handlers want one', async (_, source) => {
    const given = source()
    const { inner, outer } = await openDatabase(given)
    const letGo = new AbortController()
    const until = new Promise<void>((resolve) => letGo.signal.addEventListener('abort', () => resolve()))
    const holding = Array.from({ length: 20 }, () => outer.longTransaction(() => until, { silentMs: 60_000 }))
    for (const database of [inner, outer]) {
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }])
    }
    letGo.abort()
    await Promise.all(holding)
    await inner.close()
    await outer.close()
    if (typeof given !== 'string') await given.end()
  })

  it('keep some for the loops, however many a caller holds', async () => {
    const { inner, outer } = await openDatabase(postgresUrl())
    let letGo!: () => void
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const holding = Array.from({ length: 20 }, () => outer.transaction(() => held))
    expect(await inner.query('select 1 as one')).toEqual([{ one: 1 }])
    letGo()
    await Promise.all(holding)
    await inner.close()
    await outer.close()
  })

  it('lose the transaction of a handler whose process is silent, and keep that of one that only takes long', async () => {
    const { inner, outer } = await openDatabase(postgresUrl())
    onTestFinished(async () => {
      await inner.close()
      await outer.close()
    })
    const frozen = outer.longTransaction(
      async (tx) => {
        await tx.query('select 1')
        // Nothing of this process goes on meanwhile.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
        await tx.query('select 1')
      },
      { silentMs: 200 },
    )
    await expect(frozen).rejects.toThrow(/idle|terminated/i)
    await outer.longTransaction(
      async (tx) => {
        const told = () => inner.query(`select from pg_stat_activity where query = '-- a handler is at work'`)
        await expect.poll(told, { timeout: 10_000 }).not.toEqual([])
        // It was no statement: how the transaction is isolated can still be chosen.
        await tx.query('set transaction isolation level repeatable read')
      },
      { silentMs: 1_500 },
    )
  })

  it.each([
    ['a client', () => new pg.Client({ connectionString: postgresUrl() })],
    ['a pool of one', () => new pg.Pool({ connectionString: postgresUrl(), max: 1 })],
  ])(
    'refuse at once what a transactional handler asks for beside its transaction, on %s',
    async (_, make) => {
      const given = make()
      if (given instanceof pg.Client) await given.connect()
      const schema = freshSchemaName()
      const escapement = await createEscapement({ database: given, schema })
      const said: unknown[] = []
      const say = (error: unknown) => void said.push((error as { code?: unknown }).code)
      const job = escapement.job('work', {
        transactional: true,
        handler: async ({ tx, heartbeat, progress }) => {
          progress(0.5)
          await heartbeat().catch(say)
          await escapement.runs.enqueue('work', 1).catch(say)
          await escapement.database.query('select 1').catch(say)
          await escapement.database.longTransaction(async () => {}, { silentMs: 1_000 }).catch(say)
          await tx.query('select 1')
        },
      })
      const ended = new Promise<{ runId: string }>(
        (resolve) => void escapement.on('run.succeeded', (event) => resolve(event as never)),
      )
      // Asked for inside a transaction, and written when that is over.
      const progress = new Promise((resolve) => void escapement.on('run.progress', resolve))
      const { id } = await escapement.runs.enqueue(job, null)
      await escapement.start({ roles: ['worker'] })
      await ended
      expect(said).toEqual(Array(4).fill('database_busy'))
      expect(await escapement.runs.get(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
      await progress
      await escapement.close()
      await given.query(`drop schema "${schema}" cascade`)
      await given.end()
    },
  )

  it.each([
    ['a pool', 10],
    ['a pool of one', 1],
  ])('work on %s of the caller, and leave it open', async (_, max) => {
    const pool = new pg.Pool({ connectionString: postgresUrl(), max })
    const schema = freshSchemaName()
    const escapement = await createEscapement({ database: pool, schema })
    await escapement.start()
    await escapement.close()
    await pool.query(`drop schema "${schema}" cascade`)
    await pool.end()
  })

  it('work on a client of the caller, whose own type parsers do not reach us', async () => {
    const client = new pg.Client({
      connectionString: postgresUrl(),
      types: { getTypeParser: () => () => 'spoiled' } as never,
    })
    await client.connect()
    const schema = freshSchemaName()
    const escapement = await createEscapement({ database: client, schema })
    expect(await escapement.schedules.list()).toEqual([])
    expect(await escapement.database.query('select 1 as one')).toEqual([{ one: 1 }])
    await escapement.close()
    await client.query(`drop schema "${schema}" cascade`)
    await client.end()
  })
})

describe('two connections', () => {
  it('of which one has locked what is due: the other passes it over, without waiting', async () => {
    const at = Date.parse('2026-03-01T00:00:00Z')
    const h = await openHarness({ at })
    h.job('noop', { handler: () => {} })
    await h.schedules.put('s', { job: 'noop', timing: every('1 minute') })
    const store = createStore(await sharedDatabase(), h.schema, createManualClock(at))
    const limits = { limit: 10, kinds: TIMING_KINDS, providers: [] }
    await store.transaction(async (session) => {
      expect((await lockDueSchedules(session, limits)).due).toHaveLength(1)
      expect(await lockDueSchedules(store, limits)).toEqual({ due: [], now: null })
    })
    expect((await lockDueSchedules(store, limits)).due).toHaveLength(1)
  })

  it.each([
    ['one by one', 20],
    ['in herds', 120],
  ])(
    'and more that all tick at once, %s, yield one run per occurrence, and the losers are silent',
    async (_, batch) => {
      const at = Date.parse('2026-03-01T00:00:00Z')
      const h = await openHarness({ at })
      h.job('noop', { handler: () => {} })
      const names = Array.from({ length: 300 }, (_, index) => `s-${index}`)
      await h.schedules.sync(
        Object.fromEntries(names.map((name) => [name, { job: 'noop', timing: every('1 minute') }])),
      )
      const said: string[] = []
      const say = (_: object, message: string) => void said.push(message)
      const logger = { debug() {}, info() {}, warn: say, error: say }
      const schedulers = await Promise.all(
        Array.from({ length: 6 }, () =>
          assemble({
            database: postgresUrl(),
            schema: h.schema,
            clock: createManualClock(at),
            logger,
            scheduler: { batch },
          }),
        ),
      )
      onTestFinished(async () => {
        for (const { escapement } of schedulers) await escapement.close()
      })
      const created = await Promise.all(
        schedulers.map(async ({ scheduler }) => {
          let sum = 0
          for (let report = await scheduler.tick(); report.due > 0; report = await scheduler.tick()) {
            sum += report.runs
          }
          return sum
        }),
      )
      expect(created.reduce((sum, count) => sum + count, 0)).toBe(300)
      expect(said).toEqual([])
      expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
    },
  )

  it('and more that claim at once: one winner per run, and none is left', async () => {
    const at = Date.parse('2026-03-01T00:00:00Z')
    const h = await openHarness({ at })
    h.job('noop', { handler: () => {} })
    await h.runs.enqueueMany(
      'noop',
      Array.from({ length: 300 }, (_, input) => ({ input })),
    )
    const database = await openTestDatabase()
    onTestFinished(() => database.close())
    const store = createStore(database, h.schema, createManualClock(at))
    const jobs = [{ name: 'noop', leaseMs: 30_000, concurrency: null, concurrencyKey: null, ...RETRIED }]
    const claim = () =>
      claimRuns(store, {
        workerId: randomUUID(),
        leaseToken: randomUUID(),
        queues: ['default'],
        jobs,
        limit: 25,
      })
    const won: string[] = []
    for (let round = 0; won.length < 300 && round < 20; round++) {
      const claims = await Promise.all(Array.from({ length: 6 }, claim))
      won.push(...claims.flat().map(({ id }) => id))
    }
    expect(won).toHaveLength(300)
    expect(new Set(won).size).toBe(300)
  })

  it('of which one has locked a run: the others’ leases are renewed without waiting for it, and it stays ours for now', async () => {
    const at = Date.parse('2026-03-01T00:00:00Z')
    const h = await openHarness({ at })
    h.job('noop', { handler: () => {} })
    for (const input of [0, 1]) await h.runs.enqueue('noop', input)
    const clock = createManualClock(at)
    const store = createStore(await sharedDatabase(), h.schema, clock)
    const jobs = [{ name: 'noop', leaseMs: 30_000, concurrency: null, concurrencyKey: null, ...RETRIED }]
    const leaseToken = randomUUID()
    const claim = { workerId: randomUUID(), leaseToken, queues: ['default'], jobs, limit: 2 }
    const held = (await claimRuns(store, claim)).map(({ id }) => ({
      runId: id,
      lotId: null,
      leaseToken,
      leaseMs: 30_000,
    }))
    clock.set(at + 10_000)
    const kept = await store.transaction(async (session) => {
      await session.query('select from {schema}.runs_open where id = $1 for update', [held[0]!.runId])
      return renewLeases(store, held)
    })
    expect(kept.size).toBe(2)
    const leases = await store.query(
      'select lease_expires_at as at from {schema}.runs_open order by id = $1 desc',
      [held[0]!.runId],
    )
    expect(leases).toEqual([{ at: new Date(at + 30_000) }, { at: new Date(at + 40_000) }])
  })

  it('that trigger a schedule which must not overlap: one gets its run, by the index and not by a look before', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:30Z' })
    const other = await openHarness({ at: '2026-03-01T00:00:30Z', schema: h.schema, database: postgresUrl() })
    h.job('noop', { handler: () => {} })
    await h.schedules.put('s', { job: 'noop', timing: every('1 minute'), overlap: 'skip' })
    const tried = await Promise.allSettled(
      [h, other, h, other].map(({ schedules }) => schedules.trigger('s')),
    )
    expect(tried.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    const past = h.escapement.database.query(
      `insert into "${h.schema}".runs_open select (r).* from (
         select jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid())) as r from "${h.schema}".runs_open as r
       ) as copy`,
    )
    await expect(past).rejects.toThrow(/runs_one_open_per_lane/)
  })

  it('of which one fills lane 1 while the other empties lane 0: the run that waits gets its turn', async () => {
    const at = Date.parse('2026-03-01T00:00:00Z')
    const h = await openHarness({ at })
    h.job('noop', { handler: () => {} })
    await h.schedules.put('s', { job: 'noop', timing: every('1 second'), overlap: 'queue', limit: 2 })
    const clock = createManualClock(at)
    const store = createStore(await sharedDatabase(), h.schema, clock)
    const plan = async (session: Session) => {
      const limits = { limit: 10, kinds: TIMING_KINDS, providers: [] }
      const { due, now } = await lockDueSchedules(session, limits)
      const planned = due.map((schedule) => {
        const decided = planOccurrences(toPlannable(schedule), now!)
        return { schedule, plan: decided, wakeAt: decided.nextAt }
      })
      await recordPlans(session, planned, store.channel)
    }
    await store.transaction(plan)
    const jobs = [{ name: 'noop', leaseMs: 30_000, concurrency: null, concurrencyKey: null, ...RETRIED }]
    const claim = { workerId: randomUUID(), leaseToken: randomUUID(), queues: ['default'], jobs, limit: 1 }
    const [first] = await claimRuns(store, claim)
    clock.set(at + 1000)
    let outcome!: Promise<unknown>
    await store.transaction(async (session) => {
      await plan(session)
      const { schedule_id: scheduleId, trigger, plan_time: planTime } = first!
      const done = {
        runId: first!.id,
        leaseToken: claim.leaseToken,
        lotId: null,
        of: { scheduleId: scheduleId!, trigger, planTime, isLaned: true, hasBreaker: false },
        totals: null,
        state: 'succeeded',
        result: '1',
      } as const
      outcome = recordOutcomes(store, [done], [])
      // Time enough for it to be done, if it did not wait for us.
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
    await outcome
    expect(await claimRuns(store, { ...claim, leaseToken: randomUUID() })).toHaveLength(1)
  })

  it('that ask for a run under the same key: the second waits for the first, and those with another or none for nobody', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    h.job('noop', { handler: () => {} })
    let second: Promise<unknown> | undefined
    const { id } = await h.escapement.database.transaction(async (tx) => {
      const first = await h.runs.enqueue('noop', 1, { key: 'k', tx })
      const asked = Array.from({ length: 8 }, (_, n) =>
        h.runs.enqueue('noop', n, { key: n === 3 ? 'k' : `k-${n}` }),
      )
      second = asked.splice(3, 1)[0]
      await new Promise((resolve) => setTimeout(resolve, 20))
      const late = [h.runs.enqueue('noop', 8, { key: 'late' }), h.runs.enqueue('noop', 9)]
      for (const one of await Promise.all([...asked, ...late])) expect(one.created).toBe(true)
      return first
    })
    expect(await second).toEqual({ id, created: false })
  })

  it('hear of each other again after the one that listens was cut', async () => {
    const channel = freshSchemaName()
    const database = await openTestDatabase()
    onTestFinished(() => database.close())
    const heard: string[] = []
    await database.listen(channel, (payload) => heard.push(payload))
    const other = await sharedDatabase()
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %' and query like $1`,
      [`%${channel}%`],
    )
    // Told once with nothing, since something may have been missed; then as before.
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual([''])
    await other.query('select pg_notify($1, $2)', [channel, 'runs'])
    await expect.poll(() => heard).toEqual(['', 'runs'])
  })
})

describe('a worker that lives', () => {
  /** One with a run under a long lease, seen from another connection. */
  async function atWork() {
    const schema = freshSchemaName()
    const escapement = await createEscapement({ database: postgresUrl(), schema })
    let finish = () => {}
    const started = new Promise<void>((resolve) => {
      const handler = () =>
        new Promise<void>((end) => {
          finish = end
          resolve()
        })
      // Its next turn to be renewed is minutes away.
      escapement.job('work', { lease: '15 minutes', handler })
    })
    const other = new pg.Client({ connectionString: postgresUrl() })
    await other.connect()
    onTestFinished(async () => {
      finish()
      await escapement.close()
      await other.query(`drop schema "${schema}" cascade`)
      await other.end()
    })
    await escapement.runs.enqueue('work', null)
    await escapement.start({ roles: ['worker'] })
    await started
    const shorten = () =>
      other.query(`update "${schema}".runs_open set lease_expires_at = now() + interval '1 minute'`)
    const known = async () => {
      const { rows } = await other.query(`
        select w.session_lock as lock, r.lease_expires_at > now() + interval '14 minutes' as "isRenewed"
        from "${schema}".runs_open as r left join "${schema}".workers as w on w.id = r.worker_id`)
      return rows[0]
    }
    return { other, schema, shorten, known }
  }

  it('and whose session broke does not go by its lock until it has it again, and then it renews', async () => {
    const { other, shorten, known } = await atWork()
    const { lock } = await known()
    const { rows } = await other.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and granted and (classid::bigint << 32) | objid::bigint = $1`,
      [lock],
    )
    expect(rows).toHaveLength(1)
    // As if the server had not noticed yet that the session is gone.
    await other.query('select pg_advisory_lock($1)', [lock])
    await shorten()
    await expect.poll(known, { timeout: 10_000 }).toEqual({ lock: null, isRenewed: false })
    await other.query('select pg_advisory_unlock($1)', [lock])
    await expect.poll(known, { timeout: 10_000 }).toEqual({ lock, isRenewed: true })
  })

  it('and was forgotten tells of itself again, and renews', async () => {
    const { other, schema, shorten, known } = await atWork()
    const before = await known()
    await shorten()
    await other.query(`delete from "${schema}".workers`)
    await expect.poll(known, { timeout: 10_000 }).toEqual({ ...before, isRenewed: true })
  })
})

describe('setting the schedules of a scope provider aside', () => {
  it('passes over one that a verb has locked, and so never waits for it or makes it wait', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    h.job('tenants', { scopes: () => ['a'], handler: () => {} })
    for (const name of ['free', 'locked']) {
      await h.schedules.put(name, { job: 'tenants', timing: every('1 minute') })
    }
    const database = await sharedDatabase()
    const store = createStore(database, h.schema, createManualClock(h.now().getTime()))
    await database.transaction(async (tx) => {
      await tx.query(`select from "${h.schema}".cursors where schedule_id = $1 for update`, [
        (await h.schedules.get('locked')).id,
      ])
      await setAsideProvider(store, 'tenants', 'its scopes: none', 10_000)
    })
    expect(await h.escapement.doctor()).toMatchObject([{ subject: 'free', detail: 'its scopes: none' }])
  })
})
