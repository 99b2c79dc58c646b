import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { every, type NoticeEvent, type Notification } from '../../src/index.js'
import { readOptions } from '../../src/options.js'
import type { Database, Queryable, Transaction } from '../../src/store/database.js'
import { followLater } from '../../src/store/queries/ends.js'
import { createStore } from '../../src/store/store.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { alteredDatabase, freshSchemaName } from '../support/database.js'

const BOTH = ['schedule.broken', 'run.failed'] as const
const NOTIFY: Notification[] = [
  { on: BOTH, job: 'tell', input: { to: 'all' }, priority: 5 },
  { on: ['schedule.broken'], job: 'tell', input: { to: 'breakers' } },
  { on: BOTH, job: 'tell', input: { to: 'acme' }, group: 'acme' },
]

interface Told {
  to: string
  event: NoticeEvent
  /** When it was told: minute and second. */
  at: string
}

/** One for the whole file: each test begins at an hour of its own. */
const schema = freshSchemaName()
let h: Harness
let told: Told[] = []
let tellFails = false
/** What becomes of a transaction once all of it is said. */
let beforeCommit: (tx: Queryable) => Promise<unknown> = async () => {}
let afterRollback: (over: Queryable) => Promise<unknown> = async () => {}
let sent: string[] = []

async function watchedDatabase(): Promise<Database> {
  const note = (text: string) => {
    // Events, and what handlers told of their progress, go out when their timers fire.
    if (!/pg_notify\(\$1, \$2\) where|set progress =/.test(text)) sent.push(text)
  }
  return alteredDatabase((shared) => ({
    query(text, params) {
      note(text)
      return shared.query(text, params)
    },
    async transaction(work) {
      note('begin')
      const within = async (tx: Transaction) => {
        const result = await work(tx)
        await beforeCommit(tx)
        return result
      }
      try {
        return await shared.transaction(within)
      } catch (error) {
        await afterRollback(shared)
        throw error
      }
    },
  }))
}

beforeAll(async () => {
  h = await createHarness({
    at: '2026-03-01T00:00:00Z',
    notify: NOTIFY,
    database: await watchedDatabase(),
    schema,
  })
  h.job('fine', { handler: () => {} })
  h.job('work', {
    retry: { attempts: 1 },
    handler() {
      throw new Error('it is broken')
    },
  })
  h.job('tell', {
    retry: { attempts: 1 },
    handler({ input }) {
      if (tellFails) throw new Error('nobody is there')
      told.push({ ...(input as Told), at: h.now().toISOString().slice(14, 19) })
    },
  })
})

beforeEach(() => {
  h.jump(`${3_600 - ((h.now().getTime() / 1000) % 3_600)}s`)
  told = []
})

afterEach(async () => {
  for (const { name } of await h.schedules.list()) await h.schedules.delete(name, { runs: 'delete' })
})

afterAll(async () => {
  await h.escapement.database.query(`drop schema "${schema}" cascade`)
  await h.close()
})

/** What was told, in words. */
const words = (to = 'all') =>
  told
    .filter((each) => each.to === to)
    .map(({ event, at }) => `${at} ${event.schedule ?? event.job} ${event.name}`)

/** Those of this test, newest first. */
async function notices(to = 'all') {
  const since = new Date(Math.floor(h.now().getTime() / 3_600_000) * 3_600_000)
  const { runs } = await h.runs.search({ job: 'tell', from: since })
  return runs.filter(({ input }) => (input as Told | null)?.to === to)
}

describe('notices', () => {
  it('tell of a failed run, with all about it', async () => {
    const created: string[] = []
    const stop = h.escapement.on('run.created', ({ runId }) => void created.push(runId))
    const { id } = await h.schedules.put('report', { job: 'work', timing: every('1 hour'), limit: 1 })
    const at = h.now().toISOString()
    await h.advance('0s')
    stop()
    const [run] = await h.runs.list({ schedule: 'report' })
    expect(told).toEqual([
      {
        to: 'all',
        at: '00:00',
        event: {
          name: 'run.failed',
          at,
          scheduleId: id,
          schedule: 'report',
          group: null,
          job: 'work',
          reason: null,
          until: null,
          runId: run!.id,
          attempt: 1,
          scope: 'global',
          planTime: at,
          error: { code: 'handler_error', message: 'it is broken' },
        },
      },
    ])
    const [notice] = await notices()
    expect(notice).toMatchObject({ trigger: 'direct', priority: 5, state: 'succeeded', scheduleId: null })
    expect(notice!.key).toMatch(new RegExp(`^escapement:notice:[0-9a-f]{16}:${id}:${at.slice(0, 16)}Z$`))
    expect(created).toEqual([run!.id, notice!.id])
  })

  it('are one per notification, schedule and minute', async () => {
    await h.schedules.put('a', { job: 'work', timing: every('20s'), limit: 6 })
    await h.schedules.put('b', { job: 'work', timing: every('20s'), limit: 2 })
    await h.runs.enqueueMany('work', [{ input: 1 }, { input: 2 }])
    await h.advance('5 minutes')
    expect(words().sort()).toEqual([
      '00:00 a run.failed',
      '00:00 b run.failed',
      '00:00 work run.failed',
      '01:00 a run.failed',
    ])
    const direct = told.find(({ event }) => event.scheduleId === null)!
    expect(direct.event).toMatchObject({ schedule: null, group: null, scope: null, planTime: null })
  })

  it('tell once that a schedule is broken and its run has failed, with when it is tried again', async () => {
    const breaker = { failures: 1, cooldown: '1 hour' }
    await h.schedules.put('s', { job: 'work', timing: every('20s'), breaker })
    const at = h.now()
    await h.advance('5 minutes')
    expect(words()).toEqual(['00:00 s schedule.broken'])
    expect(told[0]!.event).toMatchObject({
      job: 'work',
      reason: 'a scheduled run failed',
      until: new Date(at.getTime() + 3_600_000).toISOString(),
      planTime: at.toISOString(),
      error: { message: 'it is broken' },
    })
  })

  it('of a schedule that breaks where the minute has one come with the next minute', async () => {
    await h.schedules.put('s', { job: 'work', timing: every('20s'), breaker: { failures: 2 } })
    await h.advance('5 minutes')
    expect(words()).toEqual(['00:00 s run.failed', '01:00 s schedule.broken'])
    expect(words('breakers')).toEqual(['00:20 s schedule.broken'])
    expect(told.map(({ event }) => event.at.slice(14, 19))).toEqual(['00:00', '00:20', '00:20'])
  })

  it('of a group are of its schedules only, by the group and name that a deleted one had', async () => {
    for (const name of ['acme', 'globex', 'gone']) {
      const group = name === 'globex' ? 'globex' : 'acme'
      await h.schedules.put(name, { job: 'work', timing: every('1 hour'), group, paused: true })
      await h.schedules.trigger(name)
    }
    await h.schedules.delete('gone')
    await h.runs.enqueue('work', null)
    await h.advance('0s')
    expect(words('acme').sort()).toEqual(['00:00 acme run.failed', '00:00 gone run.failed'])
    expect(words()).toHaveLength(4)
  })

  it('that fail are told of by nobody, also when they are tried again; other runs of their job are', async () => {
    tellFails = true
    await h.runs.enqueue('work', null)
    await h.advance('0s')
    const [notice] = await notices()
    expect(notice!.state).toBe('failed')
    h.jump('5 minutes')
    await h.runs.retry(notice!.id)
    await h.advance('0s')
    expect(await notices()).toMatchObject([{ id: notice!.id, state: 'failed', attempt: 2 }])

    await h.schedules.put('s', { job: 'tell', timing: every('1 hour'), paused: true })
    await h.schedules.trigger('s')
    await h.advance('0s')
    tellFails = false
    for (const { id } of await notices()) await h.runs.retry(id)
    await h.advance('0s')
    expect(words().sort()).toEqual(['05:00 s run.failed', '05:00 work run.failed'])
  })

  it('tell of what a lost worker leaves behind', async () => {
    await h.runs.enqueue('work', null)
    await h.schedules.put('s', { job: 'work', timing: every('1 hour'), breaker: { failures: 1 } })
    await using planner = await createHarness({ at: h.now(), database: await watchedDatabase(), schema })
    await planner.advance('0s')
    await h.escapement.database.query(
      `update "${schema}".runs_open set state = 'running', attempt = 1, lease_token = gen_random_uuid(),
         lease_expires_at = '${h.now().toISOString()}', max_attempts = 1, fails_when_stale = false`,
    )
    await h.advance('0s')
    expect(words().sort()).toEqual(['00:00 s schedule.broken', '00:00 work run.failed'])
    for (const { event } of told) expect(event.error!.code).toBe('lease_lost')
  })

  it('tell of what a shutdown cuts off and must not be tried again', async () => {
    h.job('once', { onStale: 'fail', retry: { attempts: 1 }, handler: () => new Promise(() => {}) })
    const started = new Promise((resolve) => void h.escapement.on('run.started', resolve))
    await h.runs.enqueue('once', null)
    await h.escapement.start({ roles: ['worker'] })
    await started
    const stopped = h.escapement.stop()
    const moving = setInterval(() => h.jump('10 seconds'), 20)
    await stopped.finally(() => clearInterval(moving))
    await h.advance('0s')
    expect(told).toMatchObject([{ event: { job: 'once', error: { code: 'stale_lease' } } }])
  })

  it('tell of transactional jobs: of a failure, and in their own transaction of a schedule that breaks', async () => {
    h.job('careful', {
      transactional: true,
      retry: { attempts: 1 },
      handler({ input, totals }) {
        if (input === 'fail') throw new Error('no')
        totals({ errors: 1 })
      },
    })
    await h.runs.enqueue('careful', 'fail')
    await h.schedules.put('s', { job: 'careful', timing: every('1 hour'), breaker: { failures: 1 } })
    await h.advance('0s')
    expect(words().sort()).toEqual(['00:00 careful run.failed', '00:00 s schedule.broken'])
  })

  it('tell of a schedule that breaks when its run got a lane only after it was claimed', async () => {
    const { id } = await h.schedules.put('s', {
      job: 'work',
      timing: every('1 hour'),
      overlap: 'skip',
      breaker: { failures: 1 },
      paused: true,
    })
    await h.schedules.resume('s')
    const store = createStore(h.escapement.database, schema, createManualClock(h.now().getTime()))
    const ended = {
      schedule_id: id,
      state: 'failed',
      trigger: 'scheduled',
      plan_time: h.now(),
      has_errors: false,
      has_breaker: true,
      lane: 0,
    } as const
    const { broken, notices: made } = await followLater(
      store,
      [ended],
      readOptions({ notify: NOTIFY }).notify,
    )
    expect(broken).toMatchObject([{ schedule: 's' }])
    expect(made).toHaveLength(2)
    await h.advance('0s')
    expect(words()).toEqual(['00:00 s schedule.broken'])
    expect(told[0]!.event).toMatchObject({ runId: null, error: null })
  })

  it('are there if, and only if, that is written down of which they tell', async () => {
    const { id } = await h.schedules.put('s', {
      job: 'work',
      timing: every('1 hour'),
      breaker: { failures: 1 },
    })
    const look = async (over: Queryable) => {
      const [row] = await over.query<{ state: string; notices: number }>(
        `select state, (select count(*)::int from "${schema}".runs as r where r.key like '%' || s.id || '%') as notices
         from "${schema}".schedules as s where id = $1`,
        [id],
      )
      return row!
    }
    const seen: unknown[] = []
    // The process dies with all said, and not committed.
    beforeCommit = async (tx) => {
      const said = await look(tx)
      if (said.state !== 'broken' || seen.length > 0) return
      seen.push(said)
      throw new Error('Connection terminated unexpectedly')
    }
    afterRollback = async (over) => seen.push(await look(over))
    await h.advance('0s')
    beforeCommit = afterRollback = async () => {}
    expect(seen).toEqual([
      { state: 'broken', notices: 2 },
      { state: 'active', notices: 0 },
    ])
    expect(words()).toEqual(['00:00 s schedule.broken'])
  })

  it('cost nothing while nothing goes wrong', async () => {
    await using plain = await createHarness({ at: h.now(), database: await watchedDatabase(), schema })
    plain.job('fine', { handler: () => {} })
    async function statementsOf(harness: Harness): Promise<string[]> {
      await harness.runs.enqueue('fine', null)
      sent = []
      await harness.advance('0s')
      return [...sent]
    }
    for (const harness of [plain, h]) await harness.advance('0s')
    const [without, withRules] = [await statementsOf(plain), await statementsOf(h)]
    expect(withRules).toEqual(without)
    expect(without.length).toBeGreaterThan(3)
  })

  it('have keys that nobody else may use', async () => {
    await expect(h.runs.enqueue('fine', null, { key: 'escapement:notice:x' })).rejects.toThrow(
      'key: "escapement:notice:x" – keys that begin with escapement: belong to Escapement',
    )
  })
})
