import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { databaseClock } from '../../src/clock.js'
import { createEscapement, every } from '../../src/index.js'
import type { Param } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'
import { claimLimited } from '../../src/store/queries/claim-limited.js'
import { type Counted, claimRuns, msUntilEligible } from '../../src/store/queries/claiming.js'
import { findFronts } from '../../src/store/queries/fronts.js'
import { lockDueSchedules, msUntilWake } from '../../src/store/queries/planning.js'
import { lookAfterWorkers } from '../../src/store/queries/workers.js'
import { createStore, type Session, type Store } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { alteredDatabase, postgresUrl, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { useSchema } from '../support/schema.js'
import { registerIdleWorker } from '../support/workers.js'

const AT = '2026-03-01T12:00:30Z'
const MANY = 3_000
const ID = '00000000-0000-4000-8000-000000000000'

/** Somebody else's transaction, which sees everything as it is now. */
async function openStranger() {
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  await client.query('begin isolation level repeatable read; select 1 from pg_class')
  onTestFinished(() => client.end())
}

/** How many buffers the statements read that it asks for, each of which finds whatever lets the next one be asked. Nothing of it is kept. */
async function buffersRead(
  store: Store,
  now: number,
  ask: (session: Session) => Promise<unknown>,
): Promise<number> {
  let buffers = 0
  await store
    .transaction(async (session) => {
      await session.query('set local enable_seqscan = off; set local enable_bitmapscan = off')
      await ask({
        now: session.now,
        async query(text, params) {
          const [row] = await session.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
            `explain (analyze, buffers, format json) ${text}`,
            params,
          )
          const [{ Plan: plan }] = row!['QUERY PLAN']
          buffers += plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
          const limits = {
            is_locked: true,
            places: 1,
            keys: [],
            has_lots: true,
            begun: new Date(now),
            free: new Date(now),
            limited: new Date(now),
          }
          return [{ now: new Date(now), lot_id: null, timing: '{}', policies: '{}', ...limits }] as never[]
        },
      })
      throw new Error('nothing is to be kept')
    })
    .catch((error) => {
      if (error.message !== 'nothing is to be kept') throw error
    })
  return buffers
}

it('what was taken while a stranger keeps a transaction open is not walked over by looks that begin behind it', async () => {
  const h = await openHarness({ at: AT, worker: { concurrency: 1_000 }, scheduler: { batch: MANY } })
  h.job('noop', { handler: () => {} })
  const timing = every('1 hour', { anchor: '2026-03-01T00:01:00' })
  const storeAt = async (at: number) => createStore(await sharedDatabase(), h.schema, createManualClock(at))
  const begins = { noop: { attempts: 3, leaseMs: 30_000 } }
  await registerIdleWorker(await storeAt(h.now().getTime()), ID, null, { begins })
  await openStranger()
  for (let first = 0; first < MANY; first += 1_000) {
    const names = Array.from({ length: 1_000 }, (_, index) => `s:${first + index}`)
    await h.schedules.sync(
      Object.fromEntries(names.map((name) => [name, { job: 'noop', timing, overlap: 'skip' }])),
      {
        source: `${first}`,
      },
    )
  }
  // All of them fire, run and end: their entries stay, of cursors, of runs that waited, and of leases.
  await h.advance('1 minute')
  h.jump('10 minutes')
  await h.runs.enqueue('noop', 'the last')
  const now = h.now().getTime()
  // All that is read: whoever analyses a table while its first rows are being written takes it for an empty one.
  const tables = ['cursors', 'schedules', 'runs_asked', 'runs_open', 'lots'].map(
    (name) => `"${h.schema}".${name}`,
  )
  await h.escapement.database.query(`analyze ${tables.join(', ')}`)

  const buffersOf = async (ask: (session: Session) => Promise<unknown>) =>
    buffersRead(await storeAt(now), now, ask)
  const job = { name: 'noop', leaseMs: 1_000, retry: { attempts: 1 }, onStale: 'retry' } as const
  const jobs = [{ ...job, concurrency: null, concurrencyKey: null }]
  const limited = [{ ...job, name: 'limited', concurrency: 5, concurrencyKey: null }]
  const due = { limit: 10, kinds: ['every'], providers: [] }
  const frontsAt = (since: number | null) =>
    since === null
      ? null
      : { lines: [{ queue: 'default', priority: 0, freeSince: since, limitedSince: since }] }
  const countedAt = (since: number | null) =>
    new Map(since === null ? [] : [['noop', { begun: since, at: since, atMs: Number.POSITIVE_INFINITY }]])
  const claim = { workerId: ID, leaseToken: ID, queues: ['default'], limit: 10 }
  const looks: Record<string, (session: Session, since: number | null) => Promise<unknown>> = {
    claim: (session, since) => claimRuns({ ...session } as never, { ...claim, jobs, from: frontsAt(since) }),
    'claim under limits': (session, since) =>
      claimLimited(session, h.schema, { ...claim, jobs: [], from: frontsAt(since) }, { free: jobs, limited }),
    'places under limits': (session, since) =>
      claimLimited(
        session,
        h.schema,
        { ...claim, jobs: [], from: frontsAt(since), counted: countedAt(since) },
        { free: [], limited: [{ ...limited[0]!, name: 'noop' }] },
      ),
    'next run': (session, since) =>
      msUntilEligible(session, { queues: ['default'], jobs: ['noop'], from: frontsAt(since) }),
    tick: (session, since) => lockDueSchedules(session, { ...due, since }),
    'next schedule': (session, since) => msUntilWake(session, { ...due, since }),
    leases: (session, since) =>
      lookAfterWorkers(session, {
        id: ID,
        running: 0,
        sessionLock: null,
        unseenMs: 2_000,
        graceMs: 3_000,
        since,
      }),
    'runs that were handed over': (session, since) =>
      lookAfterWorkers(session, {
        id: ID,
        running: 0,
        sessionLock: null,
        unseenMs: 2_000,
        graceMs: 3_000,
        since: now,
        held: [],
        unheardMs: 1_000,
        heardThrough: since,
      }),
    'where lines begin': (session, since) =>
      findFronts(session, {
        queues: ['default'],
        jobs: { free: ['noop'], limited: ['limited'] },
        priorities: [0],
        from: frontsAt(since),
      }),
  }
  const walked: Record<string, [whole: number, short: number]> = {}
  for (const [name, look] of Object.entries(looks)) {
    walked[name] = [
      await buffersOf((session) => look(session, null)),
      await buffersOf((session) => look(session, now - 1_000)),
    ]
  }
  const isShorter = ([whole, short]: [whole: number, short: number]) => short < whole / 2
  expect(walked).toSatisfy((all: typeof walked) => Object.values(all).every(isShorter))
})

it('a claim takes the first of a line as they stand in the index, although the server saw few of them among many that are dead', async () => {
  const schema = await useSchema()
  const database = await sharedDatabase()
  const escapement = await createEscapement({ database, schema })
  const { inner, outer } = await openDatabase(postgresUrl())
  onTestFinished(async () => {
    await Promise.all([escapement.close(), inner.close(), outer.close()])
  })
  await openStranger()
  await database.query(
    `insert into "${schema}".runs_open (id, job, queue, priority, state, eligible_at, attempt)
     select gen_random_uuid(), 'noop', 'default', 0, 'pending', clock_timestamp(), 0 from generate_series(1, 20000)`,
  )
  await database.query(
    `delete from "${schema}".runs_open where id not in (select id from "${schema}".runs_open limit 30)`,
  )
  await database.query(`analyze "${schema}".runs_open`)
  const plans: string[] = []
  const line = { queue: 'default', priority: 0, freeSince: Date.now() - 60_000, limitedSince: 0 }
  const job = { name: 'noop', leaseMs: 60_000, concurrency: null, concurrencyKey: null }
  const explained = (session: Session) => ({
    now: session.now,
    async query(text: string, params: Param[]) {
      const rows = await session.query<{ 'QUERY PLAN': string }>(`explain ${text}`, params)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return []
    },
  })
  await createStore(inner, schema, databaseClock).transaction((session) =>
    claimRuns(explained(session) as never, {
      ...{ workerId: ID, leaseToken: ID, queues: ['default'], limit: 500 },
      jobs: [{ ...job, retry: { attempts: 3 }, onStale: 'retry' }],
      from: { lines: [line] },
    }),
  )
  expect(plans).toHaveLength(1)
  expect(plans[0]).toMatch(/Index Scan using runs_for_claiming on runs_open/)
  expect(plans[0]).not.toMatch(/Bitmap/)
})

it('a look for where lines begin passes over a thousand of those who wait, and the next one goes on from there', async () => {
  const schema = await useSchema()
  const database = await sharedDatabase()
  const escapement = await createEscapement({ database, schema })
  onTestFinished(() => escapement.close())
  const first = Date.parse(AT)
  await database.query(
    `insert into "${schema}".runs_open (id, job, queue, priority, state, eligible_at, attempt)
     select gen_random_uuid(), case n when 1500 then 'limited' else 'noop' end, 'default', 0, 'pending',
       $1::timestamptz + n * interval '1 millisecond', 0
     from generate_series(0, 1500) as n`,
    [new Date(first)],
  )
  const store = createStore(database, schema, createManualClock(first + 60_000))
  const lookFrom = async (since: { freeSince: number; limitedSince: number }) => {
    const { lines } = await findFronts(store, {
      queues: ['default'],
      jobs: { free: ['noop'], limited: ['limited'] },
      priorities: [0],
      from: { lines: [{ queue: 'default', priority: 0, ...since }] },
    })
    return lines[0]!
  }
  const passed = await lookFrom({ freeSince: first, limitedSince: first })
  expect(passed).toMatchObject({ freeSince: first, limitedSince: first + 1_000 })
  expect(await lookFrom(passed)).toMatchObject({ freeSince: first, limitedSince: first + 1_500 })
})

it('what waits for its next attempt is not read by whoever counts what is worked on', async () => {
  const schema = await useSchema()
  const database = await sharedDatabase()
  const escapement = await createEscapement({ database, schema })
  onTestFinished(() => escapement.close())
  escapement.job('one', { concurrency: 1, handler: () => {} })
  const now = Date.parse(AT)
  const store = createStore(database, schema, createManualClock(now))
  const limited = [
    {
      name: 'one',
      leaseMs: 1_000,
      concurrency: 1,
      concurrencyKey: null,
      retry: { attempts: 2 },
      onStale: 'retry',
    },
  ] as const
  const claim = { workerId: ID, leaseToken: ID, queues: ['default'], limit: 10, jobs: [] }
  const count = () =>
    buffersRead(store, now, (session) =>
      claimLimited(session, schema, claim, { free: [], limited: [...limited] }),
    )
  const before = await count()
  await database.query(
    `insert into "${schema}".runs_open (id, job, queue, priority, state, eligible_at, attempt, worker_id, started_at)
     select gen_random_uuid(), 'one', 'default', 0, 'retrying', $1::timestamptz + interval '1 hour', 1, $2, $1
     from generate_series(1, $3::int)`,
    [new Date(now), ID, MANY],
  )
  await database.query(`analyze "${schema}".runs_open`)
  expect(await count()).toBeLessThan(before + 30)
})

it('a run that comes to stand before what was taken already is found all the same, and one of another priority', async () => {
  const claims: string[] = []
  const realNow = performance.now.bind(performance)
  let passedMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs)
  onTestFinished(() => void vi.restoreAllMocks())
  let isLittered = true
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      const isClaim = /\/\* escapement: claim (runs|lots)/.test(text)
      const isShort = isClaim && Array.isArray(params!.at(-1))
      if (isClaim) claims.push(isShort ? 'short' : 'whole')
      const isWhole = (isClaim && !isShort) || text.includes('/* escapement: fronts')
      // As if there were much to walk over: longer by far than a look takes on a slow machine.
      if (isWhole && isLittered) passedMs += 1_000
      return shared.query(text, params)
    },
  }))
  const escapement = await createEscapement({ database, schema: await useSchema() })
  onTestFinished(() => escapement.close())
  const ran: unknown[] = []
  escapement.job('noop', { handler: ({ input }) => void ran.push(input) })
  await escapement.start({ roles: ['worker'] })
  const enqueued = async (input: string, options?: { at?: string; priority?: number }) => {
    await escapement.runs.enqueue('noop', input, options)
    await expect.poll(() => ran, { timeout: 10_000 }).toContain(input)
  }
  for (let n = 0; !claims.includes('short'); n++) await enqueued(`${n}`)
  // After a while all of it is looked at again.
  passedMs += 60_000
  await enqueued('earlier', { at: '2020-01-01T00:00:00Z' })
  passedMs += 60_000
  await enqueued('more important', { priority: 7 })
  expect(claims.slice(claims.indexOf('short'))).not.toContain('whole')

  isLittered = false
  passedMs += 60_000
  for (let n = 0; claims.at(-1) === 'short'; n++) await enqueued(`again ${n}`)
  expect(claims.at(-1)).toBe('whole')
})

it('a run that is taken from a lost worker is begun at once, however far in front it stands', async () => {
  const realNow = performance.now.bind(performance)
  let passedMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs)
  onTestFinished(() => void vi.restoreAllMocks())
  const looks: string[] = []
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (text.includes('/* escapement: fronts')) {
        looks.push(params![6] === null ? 'whole' : 'deep')
        if (looks.at(-1) === 'whole') passedMs += 1_000
      }
      return shared.query(text, params)
    },
  }))
  const schema = await useSchema()
  const store = createStore(database, schema, databaseClock)
  const escapement = await createEscapement({ database, schema })
  onTestFinished(() => escapement.close())
  const ran: unknown[] = []
  escapement.job('noop', { handler: ({ input }) => void ran.push(input) })
  await escapement.runs.enqueue('noop', 'lost', { at: '2020-01-01T00:00:00Z' })
  // Its lease lasts for longer than the worker needs to begin with others.
  const job = { name: 'noop', leaseMs: 3_000, concurrency: null, concurrencyKey: null }
  const jobs = [{ ...job, retry: { attempts: 3 }, onStale: 'retry' } as const]
  const claim = { workerId: ID, leaseToken: ID, queues: ['default'], limit: 1, jobs }
  expect(await claimRuns(store, claim)).toHaveLength(1)
  await escapement.start({ roles: ['worker'] })
  await escapement.runs.enqueue('noop', 'first')
  await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['first', 'lost'])
  expect(looks.filter((look) => look === 'whole')).toHaveLength(1)
}, 30_000)

it('a scheduler whose look at all cursors is cut off looks at what comes due from then on, and not at once at all of them again', async () => {
  const realNow = performance.now.bind(performance)
  let cuts = 0
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + cuts * 14_000)
  onTestFinished(() => void vi.restoreAllMocks())
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (text.includes('escapement: next schedule') && params![3] === '-infinity') {
        cuts += 1
        throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
      }
      return shared.query(text, params)
    },
  }))
  const escapement = await createEscapement({ database, schema: await useSchema() })
  onTestFinished(() => escapement.close())
  const planTimes = new Set<string>()
  const began = new Promise<void>((resolve) => {
    const handler = ({ planTime }: { planTime: Date | null }) => {
      if (planTimes.add(String(planTime)).size === 3) resolve()
    }
    escapement.job('noop', { handler })
  })
  await escapement.schedules.put('each-second', { job: 'noop', timing: every('1 second') })
  await escapement.start({ roles: ['scheduler', 'worker'] })
  await began
  expect(cuts).toBeLessThan(3)
})

/** Whose looks at all cursors take long, each of them until what `lookAtAll` returns has come about; otherwise time passes as it is told to. */
async function openScheduler(lookAtAll: (nth: number) => unknown) {
  let passedMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => passedMs)
  onTestFinished(() => void vi.restoreAllMocks())
  const looks: string[] = []
  const schema = await useSchema()
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (text.includes('escapement: next schedule') && text.includes(schema)) {
        looks.push(params![3] === '-infinity' ? 'whole' : 'behind')
        if (looks.at(-1) === 'whole') {
          passedMs += 600
          await lookAtAll(looks.filter((look) => look === 'whole').length)
        }
      }
      return shared.query(text, params)
    },
  }))
  const escapement = await createEscapement({ database, schema })
  onTestFinished(() => escapement.close())
  escapement.job('noop', { handler: () => {} })
  const pass = (ms: number) => {
    passedMs += ms
  }
  return { escapement, looks, pass, database, schema }
}

it('a scheduler that has just begun looks at all cursors once, however little it takes', async () => {
  const { escapement, looks } = await openScheduler(() => {})
  await escapement.start({ roles: ['scheduler'] })
  for (let n = 0; n < 5; n++) {
    const before = looks.length
    await escapement.schedules.put(`s${n}`, {
      job: 'noop',
      timing: every('1 year', { anchor: '2020-01-01T00:00:00' }),
    })
    await expect.poll(() => looks.length).toBeGreaterThan(before)
  }
  expect([looks[0], looks.lastIndexOf('whole')]).toEqual(['whole', 0])
})

it('while a scheduler looks at all cursors again it fires what is due, and then what stands further in front', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const { escapement, looks, pass, database, schema } = await openScheduler((nth) =>
    nth === 2 ? held : undefined,
  )
  const fired: unknown[] = []
  escapement.on('run.created', ({ planTime }) => void fired.push(planTime))
  await escapement.schedules.put('each-second', { job: 'noop', timing: every('1 second') })
  await escapement.schedules.put('late', {
    job: 'noop',
    timing: every('1 hour', { anchor: '2020-01-01T00:00:00' }),
  })
  await escapement.start({ roles: ['scheduler'] })
  const whole = () => looks.filter((look) => look === 'whole').length
  await expect.poll(() => fired.length, { timeout: 10_000 }).toBeGreaterThan(0)
  pass(5_000)
  await expect.poll(whole, { timeout: 10_000 }).toBe(2)
  await database.query(`update "${schema}".cursors as c set next_at = '2026-01-01T00:00:00Z', wake_at = '2026-01-01T00:00:00Z'
    from "${schema}".schedules as s where s.id = c.schedule_id and s.name = 'late'`)
  const isLate = async () =>
    (await database.query(`select 1 from "${schema}".cursors where wake_at < '2026-01-02'`)).length
  const before = fired.length
  await expect.poll(() => fired.length, { timeout: 10_000 }).toBeGreaterThan(before + 1)
  expect([whole(), await isLate()]).toEqual([2, 1])
  goOn()
  await expect.poll(isLate).toBe(0)
})

/** Two who claim runs of one job that works on one at a time, while lines are littered, by a clock of the test's. */
async function claimOfOne() {
  const at = Date.parse(AT)
  const clock = createManualClock(at)
  const schema = await useSchema()
  const store = createStore(await sharedDatabase(), schema, clock)
  const escapement = await createEscapement({ database: await sharedDatabase(), schema })
  onTestFinished(() => escapement.close())
  escapement.job('one', { concurrency: 1, handler: () => {} })
  await escapement.runs.enqueueMany('one', [
    { input: 1, at: '2020-01-01T00:00:00Z' },
    { input: 2, at: '2020-01-01T00:00:00Z' },
  ])
  const job = { name: 'one', leaseMs: 60_000, concurrency: 1, concurrencyKey: null }
  const jobs = [{ ...job, retry: { attempts: 3 }, onStale: 'retry' } as const]
  const workerAt = () => {
    const counted = new Map<string, Counted>()
    const line = { queue: 'default', priority: 0, freeSince: 0, limitedSince: 0 }
    return (limit: number) =>
      claimRuns(store, {
        ...{ workerId: ID, leaseToken: randomUUID(), queues: ['default'], jobs, limit, counted },
        from: { lines: [line] },
      })
  }
  const [claimByOne, claimByOther] = [workerAt(), workerAt()]
  // It counts, and finds none.
  expect(await claimByOther(0)).toEqual([])
  return { at, clock, claimByOne, claimByOther }
}

it('what is worked on is counted although it was begun by a clock that has been set back', async () => {
  const { at, clock, claimByOne, claimByOther } = await claimOfOne()
  clock.set(at - 3_600_000)
  expect(await claimByOne(2)).toHaveLength(1)
  expect(await claimByOther(2)).toEqual([])
  clock.set(at)
  expect(await claimByOther(2)).toEqual([])
  expect(await claimByOne(2)).toEqual([])
})

it('and although that clock has come as far again before anybody looks', async () => {
  const { at, clock, claimByOne, claimByOther } = await claimOfOne()
  clock.set(at - 60_000)
  expect(await claimByOne(2)).toHaveLength(1)
  const realNow = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 65_000)
  onTestFinished(() => void vi.restoreAllMocks())
  clock.set(at + 5_000)
  expect(await claimByOther(2)).toEqual([])
})

it('limits hold, and nobody waits for good, while lines are taken for littered', async () => {
  const shorts: string[] = []
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (/escapement: (claim (runs|lots)|fronts)/.test(text)) await sleep(50)
      return shared.query(text, params)
    },
    transaction: (work) =>
      shared.transaction((tx) =>
        work({
          ...tx,
          query: async (text, params) => {
            // As if there were much to walk over.
            if (text.includes('escapement: claim runs under limits')) {
              shorts.push(Array.isArray(params![11]) ? 'short' : 'whole')
              if (shorts.at(-1) === 'whole') await sleep(50)
            }
            return tx.query(text, params)
          },
        }),
      ),
  }))
  const schema = await useSchema()
  const processes = [1, 2].map(() =>
    createEscapement({ database, schema, worker: { concurrency: 20, queues: ['default', 'other'] } }),
  )
  const atWork: Record<string, number> = {}
  const most: Record<string, number> = {}
  let ended = 0
  for (const escapement of await Promise.all(processes)) {
    onTestFinished(() => escapement.close())
    const handler = (name: string) => async () => {
      atWork[name] = (atWork[name] ?? 0) + 1
      most[name] = Math.max(most[name] ?? 0, atWork[name])
      await sleep(5)
      atWork[name] -= 1
      ended += 1
    }
    escapement.job('free', { handler: handler('free') })
    escapement.job('three', { concurrency: 3, handler: handler('three') })
    escapement.job('keyed', {
      concurrencyKey: 'of',
      handler: ({ input }) => handler(`of ${(input as { of: number }).of}`)(),
    })
    await escapement.start({ roles: ['worker'] })
  }
  const { runs } = await processes[0]!
  let asked = 0
  const ask = async () => {
    for (const [job, options] of [
      ['free', {}],
      ['three', { queue: 'other' }],
      ['three', { priority: 1 }],
      ['keyed', {}],
    ] as const) {
      await runs.enqueueMany(
        job,
        Array.from({ length: 5 }, (_, of) => ({ input: { of: of % 2 }, ...options })),
      )
      asked += 5
    }
  }
  for (let n = 0; n < 10 || !shorts.includes('short'); n++) await ask()
  await ask()
  await expect.poll(() => ended, { timeout: 20_000 }).toBe(asked)
  expect(most).toMatchObject({ three: 3, 'of 0': 1, 'of 1': 1 })
}, 60_000)
