import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databaseClock } from '../../src/clock.js'
import { createStore } from '../../src/store/store.js'
import { postgresUrl, sharedDatabase } from '../support/database.js'
import { running } from '../support/running.js'
import { registerIdleWorker } from '../support/workers.js'

const HANDED = 'enqueue a run that may begin'
const isClaim = (purpose: string) => purpose.startsWith('claim')
const patient = { timeout: 20_000 }

type Running = Awaited<ReturnType<typeof running>>

/** Whose session holds the lock that says so. */
async function isResting({ escapement, schema }: Running): Promise<boolean> {
  const rows = await escapement.database.query(`
    select from "${schema}".workers as w join pg_locks as l
      on l.locktype = 'advisory' and l.granted and (l.classid::bigint << 32) | l.objid::bigint = w.rest_lock`)
  return rows.length > 0
}

async function atRest(parts: Running): Promise<void> {
  await parts.escapement.start({ roles: ['worker'] })
  await expect.poll(() => isResting(parts), patient).toBe(true)
  parts.purposes.length = 0
}

const stateOf = async ({ escapement }: Running, id: string) => (await escapement.runs.get(id)).state

/** Settled from outside. */
function latch() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('a run that is enqueued alone', () => {
  it('begins at a worker that has nothing to do, without being claimed', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    const begun: unknown[] = []
    escapement.job('greet', {
      handler: ({ input, attempt, run }) => {
        begun.push({ input, attempt, state: run.state, queue: run.queue, priority: run.priority })
        return { greeted: input }
      },
    })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('greet', { name: 'Ada' }, { priority: 3 })
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(begun).toEqual([
      { input: { name: 'Ada' }, attempt: 1, state: 'running', queue: 'default', priority: 3 },
    ])
    expect(purposes).toContain(HANDED)
    expect(purposes.filter(isClaim)).toEqual([])
    const run = await escapement.runs.get(id)
    expect(run).toMatchObject({ attempt: 1, trigger: 'direct', result: { greeted: { name: 'Ada' } } })
    expect(run.startedAt).toEqual(run.createdAt)
    // And so does the next.
    await expect.poll(() => isResting(parts), patient).toBe(true)
    const next = await escapement.runs.enqueue('greet', null)
    await expect.poll(() => stateOf(parts, next.id), patient).toBe('succeeded')
    expect(purposes.filter(isClaim)).toEqual([])
  })

  it('has the lease of its job from the beginning, so that a handler may keep the process busy', async () => {
    const parts = await running()
    const { escapement, schema } = parts
    const gate = latch()
    escapement.job('busy', { lease: '10 minutes', handler: () => gate.opened })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('busy', null)
    const leases = await escapement.database.query(
      `select extract(epoch from lease_expires_at - started_at)::float8 as seconds from "${schema}".runs_open`,
    )
    expect(leases).toEqual([{ seconds: 600 }])
    expect(parts.purposes).toContain(HANDED)
    gate.open()
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
  })

  it('keeps its lease for as long as its handler takes', async () => {
    const parts = await running()
    const { escapement, schema } = parts
    const gate = latch()
    escapement.job('long', { lease: '5s', handler: () => gate.opened })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('long', null)
    const lastsForMs = async () => {
      const [row] = await escapement.database.query<{ ms: number }>(
        `select extract(epoch from lease_expires_at - started_at)::float8 * 1000 as ms from "${schema}".runs_open`,
      )
      return row!.ms
    }
    expect(await lastsForMs()).toBe(5_000)
    await expect.poll(lastsForMs, patient).toBeGreaterThan(5_000)
    gate.open()
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(await escapement.runs.get(id)).toMatchObject({ attempt: 1 })
  })

  it('stands in line where the worker is busy, for its handler may keep the process busy too', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    const gate = latch()
    escapement.job('held', { handler: () => gate.opened })
    await atRest(parts)
    const first = await escapement.runs.enqueue('held', null)
    await expect.poll(() => isResting(parts), patient).toBe(false)
    const second = await escapement.runs.enqueue('held', null)
    await expect.poll(() => stateOf(parts, second.id), patient).toBe('running')
    expect(purposes.some(isClaim)).toBe(true)
    gate.open()
    for (const { id } of [first, second])
      await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
  })

  it.each([
    ['has a limit', { concurrency: 1 }, null],
    ['is attempted once, and would have failed if nobody heard of it', { retry: { attempts: 1 } }, null],
    ['must not be tried again', { retry: { attempts: 1 }, onStale: 'fail' as const }, null],
    ['has an input that no notification can carry', {}, 'x'.repeat(9_000)],
  ])('is claimed where its job %s', async (_, policies, input) => {
    const parts = await running()
    const { escapement, purposes } = parts
    escapement.job('plain', { ...policies, handler: () => {} })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('plain', input)
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(purposes.some(isClaim)).toBe(true)
  })

  it('waits while claiming is paused', async () => {
    const parts = await running()
    const { escapement } = parts
    await atRest(parts)
    await escapement.claiming.pause({ reason: 'maintenance' })
    const { id } = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, id)).toBe('pending')
    await escapement.claiming.resume()
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
  })

  it('stands in line where it is held back, or asked for in a transaction of the caller', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    await atRest(parts)
    const client = new pg.Client({ connectionString: postgresUrl() })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('begin')
    const inside = await escapement.runs.enqueue('noop', null, { tx: client })
    await client.query('commit')
    await escapement.runs.enqueue('noop', null, { at: new Date(Date.now() + 3_600_000) })
    expect(purposes).not.toContain(HANDED)
    await expect.poll(() => stateOf(parts, inside.id), patient).toBe('succeeded')
  })
})

describe('a worker that is handed a run', () => {
  it('and has no place for it gives it back, and no attempt is spent', async () => {
    const [withheld, gate] = [latch(), latch()]
    const parts = await running(
      { worker: { concurrency: 1 } },
      {
        heard(channel, passOn) {
          if (channel.startsWith('escapement-worker:')) void withheld.opened.then(passOn)
          else passOn()
        },
      },
    )
    const { escapement } = parts
    let atOnce = 0
    let most = 0
    escapement.job('one', {
      handler: async () => {
        most = Math.max(most, ++atOnce)
        await gate.opened
        atOnce -= 1
      },
    })
    await atRest(parts)
    const handed = await escapement.runs.enqueue('one', null)
    expect(await stateOf(parts, handed.id)).toBe('running')
    // Two come together, and one of them takes the only place.
    await escapement.runs.enqueueMany('one', [{ input: 1 }, { input: 2 }])
    await expect.poll(() => atOnce, patient).toBe(1)
    withheld.open()
    await expect.poll(() => stateOf(parts, handed.id), patient).toBe('pending')
    expect(await escapement.runs.get(handed.id)).toMatchObject({ attempt: 0, workerId: null })
    gate.open()
    await expect.poll(() => stateOf(parts, handed.id), patient).toBe('succeeded')
    expect(await escapement.runs.get(handed.id)).toMatchObject({ attempt: 1 })
    expect(most).toBe(1)
  })

  it('but has just been told of others looks at the line first, and then begins', async () => {
    const parts = await running(
      { worker: { concurrency: 5 } },
      { answered: async (purpose) => void (isClaim(purpose) && (await sleep(100))) },
    )
    const { escapement, purposes } = parts
    const begun: unknown[] = []
    escapement.job('noted', { handler: ({ input }) => void begun.push(input) })
    await atRest(parts)
    // Workers are told of those that come at once; the one after them is handed over while they are being claimed.
    await escapement.runs.enqueueMany('noted', [{ input: 1 }, { input: 2 }])
    await sleep(20)
    await escapement.runs.enqueue('noted', 3)
    await expect.poll(() => begun, patient).toEqual([1, 2, 3])
    expect(purposes).toContain(HANDED)
  })

  it('but waits for the database for long gives it back, and no attempt is spent', async () => {
    const parts = await running(
      { worker: { concurrency: 5 } },
      { answered: async (purpose) => void (isClaim(purpose) && (await sleep(3_000))) },
    )
    const { escapement, logged } = parts
    escapement.job('noted', { handler: () => {} })
    await atRest(parts)
    await escapement.runs.enqueueMany('noted', [{ input: 1 }, { input: 2 }])
    await sleep(20)
    const { id } = await escapement.runs.enqueue('noted', 3)
    expect(await stateOf(parts, id)).toBe('running')
    // And is handed nothing more: others may have places.
    await expect.poll(() => isResting(parts), { timeout: 1_500 }).toBe(false)
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(await escapement.runs.get(id)).toMatchObject({ attempt: 1 })
    expect(logged).toEqual([])
  })

  it('and is stopped while it looks who stands in line gives it back, and begins nothing more', async () => {
    const parts = await running(
      { worker: { concurrency: 5 } },
      { answered: async (purpose) => void (isClaim(purpose) && (await sleep(500))) },
    )
    const { escapement } = parts
    const begun: unknown[] = []
    escapement.job('noted', { handler: ({ input }) => void begun.push(input) })
    await atRest(parts)
    await escapement.runs.enqueueMany('noted', [{ input: 1 }, { input: 2 }])
    await sleep(20)
    const { id } = await escapement.runs.enqueue('noted', 3)
    expect(await stateOf(parts, id)).toBe('running')
    await escapement.stop()
    expect(await escapement.runs.get(id)).toMatchObject({ state: 'pending', attempt: 0, workerId: null })
    expect(begun).toEqual([])
  })

  it('and is stopped before it hears of it gives it back', async () => {
    const parts = await running(
      {},
      { heard: (channel, passOn) => void (channel.startsWith('escapement-worker:') || passOn()) },
    )
    const { escapement } = parts
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, id)).toBe('running')
    await escapement.stop()
    expect(await escapement.runs.get(id)).toMatchObject({ state: 'pending', attempt: 0, workerId: null })
  })

  it('and never hears of it finds it, gives it back, and no attempt is spent', async () => {
    const parts = await running(
      {},
      { heard: (channel, passOn) => void (channel.startsWith('escapement-worker:') || passOn()) },
    )
    const { escapement, schema } = parts
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, id)).toBe('running')
    // Both happened some seconds ago.
    for (const table of ['workers', 'runs_open'])
      await escapement.database.query(
        `update "${schema}".${table} set started_at = started_at - interval '5 seconds'`,
      )
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(await escapement.runs.get(id)).toMatchObject({ attempt: 1 })
    expect(parts.purposes.some(isClaim)).toBe(true)
  })

  it('and works on it for long does not take it for one of which it never heard', async () => {
    const parts = await running()
    const { escapement, schema, purposes } = parts
    const gate = latch()
    let executions = 0
    escapement.job('long', {
      handler: () => {
        executions += 1
        return gate.opened
      },
    })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('long', null)
    await escapement.database.query(
      `update "${schema}".runs_open set started_at = started_at - interval '1 minute'`,
    )
    const looks = () => purposes.filter((purpose) => purpose === 'look after workers').length
    const before = looks()
    await expect.poll(looks, patient).toBeGreaterThan(before + 1)
    expect(await escapement.runs.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    gate.open()
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(executions).toBe(1)
  })
})

/** Two handlers may not run for one enqueue, however the worker came to hear of it. */
describe('a run that is handed over is executed once', () => {
  it('where the worker could not start at first', async () => {
    let refusals = 1
    const parts = await running(
      {},
      {
        refuse: (_, text) => {
          if (text.includes('.workers (id, host') && refusals-- > 0) throw new Error('the database is away')
        },
      },
    )
    const { escapement } = parts
    let executions = 0
    escapement.job('counted', { handler: () => void executions++ })
    await expect(escapement.start({ roles: ['worker'] })).rejects.toThrow('away')
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('counted', null)
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(parts.purposes).toContain(HANDED)
    expect(executions).toBe(1)
  })

  it('where the worker hears of it when it is somebody else’s', async () => {
    const withheld = latch()
    const parts = await running(
      {},
      {
        heard(channel, passOn) {
          if (channel.startsWith('escapement-worker:')) void withheld.opened.then(passOn)
          else passOn()
        },
      },
    )
    const { escapement, schema } = parts
    let executions = 0
    escapement.job('counted', { handler: () => void executions++ })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('counted', null)
    await escapement.database.query(
      `update "${schema}".runs_open set lease_expires_at = lease_expires_at - interval '30 seconds'`,
    )
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    await sleep(3_000)
    withheld.open()
    await sleep(200)
    expect(executions).toBe(1)
  })

  it('and with what is stored, as any later attempt is', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    const inputs: string[] = []
    escapement.job('picky', {
      retry: { attempts: 2, backoff: ['0s'] },
      handler: ({ input, attempt }) => {
        inputs.push(JSON.stringify(input))
        if (attempt === 1) throw new Error('not yet')
      },
    })
    await atRest(parts)
    const { id } = await escapement.runs.enqueue('picky', { zebra: 1, ant: ['ü', 1e3], b: null })
    await expect.poll(() => stateOf(parts, id), patient).toBe('succeeded')
    expect(purposes).toContain(HANDED)
    expect(inputs).toHaveLength(2)
    expect(inputs[0]).toBe(inputs[1])
  })
})

describe('nothing is handed to a worker', () => {
  /** One that is known by its row alone, and who holds its locks. */
  async function stranger(parts: Running, id = '01a1e074-5c01-7c0e-9d53-5f0c6c1b7a01') {
    const holder = new pg.Client({ connectionString: postgresUrl() })
    await holder.connect()
    onTestFinished(() => holder.end())
    const restLock = String(4_680_000 + Math.floor(Math.random() * 1e9))
    const database = await sharedDatabase()
    const store = createStore(database, parts.schema, databaseClock)
    await registerIdleWorker(store, id, null, {
      begins: { noop: { attempts: 3, leaseMs: 30_000 } },
      restLock,
      queues: ['default'],
    })
    return { holder, restLock, id }
  }

  it('that holds no lock, as its session has broken', async () => {
    const parts = await running()
    const { holder, restLock } = await stranger(parts)
    const { escapement } = parts
    const waits = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, waits.id)).toBe('pending')
    await sleep(10)
    await holder.query('select pg_advisory_lock($1)', [restLock])
    const handed = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, handed.id)).toBe('running')
  })

  it('that is busy while another one is at rest', async () => {
    const parts = await running()
    const { escapement } = parts
    await stranger(parts, '01a1e074-5c01-7c0e-9d53-5f0c6c1b7a02')
    const { holder, restLock, id } = await stranger(parts)
    await holder.query('select pg_advisory_lock($1)', [restLock])
    for (let n = 0; n < 8; n++) {
      const run = await escapement.runs.enqueue('noop', null)
      expect(await escapement.runs.get(run.id)).toMatchObject({ state: 'running', workerId: id })
      // Those that come together share a notification.
      await sleep(20)
    }
  })

  it('that was not seen for a while, as its process stands still', async () => {
    const parts = await running()
    const { holder, restLock } = await stranger(parts)
    const { escapement, schema } = parts
    await holder.query('select pg_advisory_lock($1)', [restLock])
    await escapement.database.query(`update "${schema}".workers set seen_at = now() - interval '8 seconds'`)
    const { id } = await escapement.runs.enqueue('noop', null)
    expect(await stateOf(parts, id)).toBe('pending')
  })

  it('of another queue', async () => {
    const parts = await running()
    const { holder, restLock } = await stranger(parts)
    await holder.query('select pg_advisory_lock($1)', [restLock])
    const { id } = await parts.escapement.runs.enqueue('noop', null, { queue: 'other' })
    expect(await stateOf(parts, id)).toBe('pending')
  })
})
