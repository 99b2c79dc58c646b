import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { every, type NoticeEvent, type Notification } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { readOptions } from '../../src/options.js'
import { insertNotices } from '../../src/store/queries/notices.js'
import { createStore } from '../../src/store/store.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { freshSchemaName, postgresUrl, sharedDatabase } from '../support/database.js'

const AT = Date.parse('2026-03-01T12:00:00Z')
const NOTIFY: Notification[] = [{ on: ['schedule.broken', 'run.failed'], job: 'tell' }]
const schema = freshSchemaName()
/** On connections of their own. */
const workers: Harness[] = []
const complaints: unknown[] = []

beforeAll(async () => {
  const complain = (facts: { err?: unknown }) => {
    if (facts.err !== undefined) complaints.push(facts.err)
  }
  const logger = { ...silentLogger, warn: complain, error: complain }
  for (let index = 0; index < 3; index++) {
    const worker = await createHarness({
      at: AT,
      database: postgresUrl(),
      schema,
      logger,
      worker: { concurrency: 5 },
      notify: NOTIFY,
    })
    worker.job('work', {
      retry: { attempts: 1 },
      handler() {
        throw new Error('it is broken')
      },
    })
    workers.push(worker)
  }
})

afterAll(async () => {
  await (await sharedDatabase()).query(`drop schema "${schema}" cascade`)
  for (const worker of workers) await worker.close()
})

/** Inserts the notices of these runs in a minute of the day, and then does something before it commits. */
async function tell(runIds: readonly string[], minute: number, during: () => unknown = () => {}) {
  const store = createStore(await sharedDatabase(), schema, createManualClock(AT + minute * 60_000))
  const noticing = { channel: store.channel, rules: readOptions({ notify: NOTIFY }).notify }
  return store.transaction(async (session) => {
    const { length } = await insertNotices(session, noticing, { failed: runIds, broken: [] })
    await during()
    return length
  })
}

/** Each of these needs several connections. */
describe('notices of several workers', () => {
  it('are one per schedule and minute, also of those that break', async () => {
    const [first] = workers as [Harness]
    const scopes = Array.from({ length: 10 }, (_, index) => `scope-${index}`)
    const schedule = { job: 'work', timing: every('1 minute'), scopes }
    for (const index of [1, 2, 3]) {
      await first.schedules.put(`fails-${index}`, schedule)
      await first.schedules.put(`breaks-${index}`, { ...schedule, breaker: { failures: 15 } })
    }
    for (let minute = 0; minute < 3; minute++) {
      await Promise.all(workers.map((worker) => worker.advance('0s')))
      for (const worker of workers) worker.jump('1 minute')
    }

    const { runs } = await first.runs.search({ job: 'tell', limit: 200 })
    const told = runs.map(({ input, eligibleAt }) => {
      const { schedule, name } = (input as { event: NoticeEvent }).event
      return { minute: eligibleAt.getUTCMinutes(), schedule: schedule!, name }
    })
    const minutesOf = (schedule: string) =>
      told.filter((notice) => notice.schedule === schedule).map(({ minute }) => minute)
    for (const index of [1, 2, 3]) {
      expect(minutesOf(`fails-${index}`).sort()).toEqual([0, 1, 2])
      // The second minute brings the fifteenth failure. It is told there or, where that minute has its notice, in the third.
      expect([
        [0, 1],
        [0, 1, 2],
      ]).toContainEqual(minutesOf(`breaks-${index}`).sort())
    }
    const broken = told.filter(({ name }) => name === 'schedule.broken').map(({ schedule }) => schedule)
    expect(broken.sort()).toEqual(['breaks-1', 'breaks-2', 'breaks-3'])
    expect(complaints).toEqual([])
  })

  it('that meet in any order wait for each other, and never in a circle', async () => {
    const ids = await failedRuns(100)
    for (const minute of [60, 61, 62]) {
      const inserted = await Promise.all(
        [ids, [...ids].reverse(), [...ids.slice(50), ...ids.slice(0, 50)]].map((order) =>
          tell(order, minute),
        ),
      )
      expect(inserted.reduce((sum, count) => sum + count)).toBe(ids.length)
    }
  })

  it('that another transaction has inserted are waited for: if that is rolled back, this one tells', async () => {
    const ids = await failedRuns(1)
    /** What the second one has inserted, where the first ends when it waits. */
    async function beside(minute: number, end: () => void): Promise<number> {
      let second: Promise<number> | undefined
      const first = tell(ids, minute, async () => {
        second = tell(ids, minute)
        await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true)
        end()
      })
      await first.catch(() => {})
      return second!
    }
    expect(await beside(120, () => {})).toBe(0)
    const die = () => {
      throw new Error('died')
    }
    expect(await beside(121, die)).toBe(1)
  })
})

async function isWaiting(): Promise<boolean> {
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"${schema}".runs_asked%'`
  return (await (await sharedDatabase()).query(waiting)).length > 0
}

/** Direct runs that have failed, each of a job of its own. */
async function failedRuns(count: number): Promise<string[]> {
  const rows = await (await sharedDatabase()).query<{ id: string }>(
    `with asked as (
       insert into "${schema}".runs_asked (id, trigger, job, input, queue, priority, created_at)
       select gen_random_uuid(), 'direct', 'work-' || number, 'null', 'default', 0, now()
       from generate_series(1, $1::int) as number returning id
     )
     insert into "${schema}".runs_ended (id, state, eligible_at, finished_at, attempt, error_code, error_message)
     select id, 'failed', now(), now(), 1, 'handler_error', 'it is broken' from asked returning id`,
    [count],
  )
  return rows.map(({ id }) => id)
}
