import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type Assembly, assemble } from '../../src/escapement.js'
import { silentLogger } from '../../src/logger.js'
import { createMinutes } from '../../src/scheduler/minutes.js'
import type { Store } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** One schema for all tests of the file; each begins at noon, with nothing in it, of a day long after the last. */
const schema = freshSchemaName()
let noon = Date.parse('2026-03-01T12:00:00Z')
const clock = createManualClock(noon)
const opened: Assembly[] = []

/** A process on it, which ticks and counts only when it is told to. */
async function openProcess(): Promise<Assembly> {
  const assembly = await assemble({ database: await sharedDatabase(), schema, clock })
  opened.push(assembly)
  assembly.escapement.job('work', {
    retry: { attempts: 1 },
    handler: ({ input }) => {
      if (input === 'fail') throw new Error('no')
    },
  })
  return assembly
}

let one: Assembly
let two: Assembly

const sql = async (text: string) =>
  (await sharedDatabase()).query(text.replaceAll('{schema}', `"${schema}"`)) as Promise<
    Record<string, never>[]
  >

const at = (seconds: number) => clock.set(noon + seconds * 1_000)

/** Enqueues at one instant and works on them at another. */
async function run(inputs: readonly string[], enqueuedAt: number, startedAt: number): Promise<void> {
  at(enqueuedAt)
  for (const input of inputs) await one.escapement.runs.enqueue('work', input)
  at(startedAt)
  await one.worker.drain()
}

const history = (range: object = {}) => one.escapement.statsHistory(range)
const points = async (range: object = {}) =>
  (await history(range)).points.map(({ from, succeeded, failed, cancelled, lateness }) => [
    from.toISOString().slice(11, 16),
    { succeeded, failed, cancelled, started: lateness?.runs ?? 0, max: lateness?.max ?? null },
  ])

beforeEach(async () => {
  noon += 40 * DAY
  clock.set(noon)
  one ??= await openProcess()
  two ??= await openProcess()
  await sql('truncate {schema}.runs_open, {schema}.runs_ended, {schema}.run_minutes')
  for (const { scheduler } of [one, two]) await scheduler.upkeep()
})
afterAll(async () => {
  await sql('drop schema {schema} cascade')
  for (const { escapement } of opened) await escapement.close()
})

describe('what ran in each minute', () => {
  it('is counted when the minute is over, each end and each start once', async () => {
    await run(['ok', 'ok', 'fail'], 10, 12)
    at(15)
    const { id } = await one.escapement.runs.enqueue('work', 'later', { at: '2030-01-01T00:00:00Z' })
    await one.escapement.runs.cancel(id)
    await run(['ok'], 59, 61.5)
    await one.scheduler.upkeep()
    const first = ['12:00', { succeeded: 2, failed: 1, cancelled: 1, started: 3, max: 2_000 }]
    expect(await points()).toEqual([first])
    at(121)
    await one.scheduler.upkeep()
    await two.scheduler.upkeep()
    const second = ['12:01', { succeeded: 1, failed: 0, cancelled: 0, started: 1, max: 2_500 }]
    expect(await points()).toEqual([first, second])
    expect(await history({ bucket: '1 hour' })).toEqual({
      from: new Date(noon - 58 * MINUTE),
      to: new Date(noon + 2 * MINUTE),
      bucketMs: 60 * MINUTE,
      points: [
        {
          from: new Date(noon - 58 * MINUTE),
          succeeded: 3,
          failed: 1,
          cancelled: 1,
          skipped: 0,
          lateness: { runs: 4, p50: 1_962, p95: 2_500, p99: 2_500, max: 2_500 },
        },
      ],
    })
  })

  it('counts a run that is still running by when it started, and again by nobody when it ends', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    let begun = () => {}
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    one.escapement.job('long', {
      handler: () => {
        begun()
        return ended
      },
    })
    await one.escapement.runs.enqueue('long', null)
    at(3)
    const drained = one.worker.drain()
    await begins
    at(60)
    await two.scheduler.upkeep()
    const started = ['12:00', { succeeded: 0, failed: 0, cancelled: 0, started: 1, max: 3_000 }]
    expect(await points()).toEqual([started])
    at(70)
    end()
    await drained
    at(120)
    await two.scheduler.upkeep()
    expect(await points()).toEqual([
      started,
      ['12:01', { succeeded: 1, failed: 0, cancelled: 0, started: 0, max: null }],
    ])
  })

  it('counts what was committed after its minute was counted, and keeps what is gone since', async () => {
    await run(['ok', 'fail'], 1, 1)
    at(60)
    await one.scheduler.upkeep()
    // As a transaction leaves them that was slow to commit.
    await sql(
      `insert into {schema}.runs_ended (id, state, eligible_at, started_at, finished_at, attempt)
       select gen_random_uuid(), 'succeeded', at, at + interval '500 ms', at + interval '900 ms', 1
       from (values (timestamptz '${new Date(noon + 59_000).toISOString()}')) as one (at)`,
    )
    await one.escapement.runs.retryAll()
    await one.worker.drain()
    at(120)
    await two.scheduler.upkeep()
    expect(await points()).toEqual([
      ['12:00', { succeeded: 2, failed: 1, cancelled: 0, started: 2, max: 500 }],
      ['12:01', { succeeded: 0, failed: 1, cancelled: 0, started: 1, max: 0 }],
    ])
  })

  it('writes nothing for minutes in which nothing happened, and goes on after them', async () => {
    await run(['ok'], 1, 1)
    at(60)
    await one.scheduler.upkeep()
    const [written] = await sql('select xmin::text from {schema}.run_minutes')
    for (const minute of [2, 3, 10]) {
      at(minute * 60)
      await one.scheduler.upkeep()
      await two.scheduler.upkeep()
    }
    expect(await sql('select xmin::text from {schema}.run_minutes')).toEqual([written])
    await run(['ok'], 3_000, 3_000)
    at(3_060)
    await two.scheduler.upkeep()
    expect((await points()).map(([minute]) => minute)).toEqual(['12:00', '12:50'])
  })

  it('catches up after a pause in portions, and leaves out what is hours old', async () => {
    for (const hour of [1, 3, 8]) await run(['ok'], hour * 3_600 + 1, hour * 3_600 + 2)
    at(9 * 3_600)
    const third = await openProcess()
    await third.scheduler.upkeep()
    expect((await points({ from: noon })).map(([minute]) => minute)).toEqual(['15:00', '20:00'])
  })

  it('is counted a minute later where that fails, and less at once', async () => {
    await run(['ok'], 1, 1)
    at(60)
    const { store } = one
    const [tried, told]: [number[], string[]] = [[], []]
    const failing: Store = {
      ...store,
      async query(statement, params) {
        tried.push(Number(params![3]) / MINUTE)
        if (tried.length < 3) throw new Error('canceling statement due to statement timeout')
        return store.query(statement, params)
      },
    }
    const minutes = createMinutes(failing, { ...silentLogger, warn: (_, text) => void told.push(text) })
    for (const seconds of [60, 119, 120, 180]) {
      at(seconds)
      minutes.look()
      await minutes.settled()
    }
    // The last two together are the three minutes that are over.
    expect([tried, told.length]).toEqual([[8, 4, 2, 2], 2])
    expect((await points()).map(([minute]) => minute)).toEqual(['12:00'])
  })

  it('comes to an end after a long outage: the smallest portion is more than the minute that is counted again', async () => {
    await run(['ok'], 1, 1)
    const { store } = two
    let asked = 0
    const failing: Store = {
      ...store,
      async query(statement, params) {
        asked += 1
        if (asked <= 5 || asked > 50) throw new Error('canceling statement due to statement timeout')
        return store.query(statement, params)
      },
    }
    const minutes = createMinutes(failing, silentLogger)
    for (const minute of [1, 2, 3, 4, 5, 16]) {
      at(minute * 60)
      minutes.look()
      await minutes.settled()
    }
    // Five that failed; then the sixteen minutes, in portions of two of which one is new.
    expect(asked).toBeLessThanOrEqual(5 + 16)
    expect((await points()).map(([minute]) => minute)).toEqual(['12:00'])
  })

  it('is kept for thirty days', async () => {
    await run(['ok'], 1, 1)
    at(60)
    await one.scheduler.upkeep()
    at(30 * 86_400 + 61)
    const later = await openProcess()
    await later.scheduler.upkeep()
    expect(await sql('select minute from {schema}.run_minutes')).toEqual([])
  })
})

describe('a clock that was ahead and is set right', () => {
  it('keeps no minute from being counted', async () => {
    await sql(
      `insert into {schema}.run_minutes select now() + interval '100 years', 1, 0, 0, 0, 0, '{}', null`,
    )
    await run(['ok', 'ok'], 10, 12)
    at(61)
    const minutes = createMinutes(two.store, silentLogger)
    minutes.look()
    await minutes.settled()
    expect(await points()).toEqual([
      ['12:00', { succeeded: 2, failed: 0, cancelled: 0, started: 2, max: 2_000 }],
    ])
  })
})

describe('asking for it', () => {
  it('refuses ranges that hold too much or nothing, and says which field is wrong', async () => {
    for (const [range, message] of [
      [{ bucket: '90 seconds' }, /^bucket: 90000 ms – must be a whole number of minutes$/],
      [{ bucket: '1 month' }, /^bucket: "1 month" – months and years have no fixed length/],
      [{ from: '2099-03-02T00:00:00Z' }, /^to: must be after from$/],
      [{ from: 'soon', to: 'later' }, /^to: "later".*\nfrom: "soon"/],
      [
        { from: '2026-02-25T00:00:00Z', to: '2026-02-27T00:00:00Z' },
        /^bucket: the range holds more than 1500/,
      ],
      [
        { from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z', bucket: '1 day' },
        /^from: the range must be at most 31 days/,
      ],
    ] as const) {
      await expect(history(range)).rejects.toMatchObject({
        code: 'option_invalid',
        message: expect.stringMatching(message),
      })
    }
    await expect(history({ to: '1970-01-01T00:00:00Z' })).resolves.toBeDefined()
  })
})
