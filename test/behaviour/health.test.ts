import { expect, it, onTestFinished } from 'vitest'
import { createEscapement, type Escapement, type EscapementOptions } from '../../src/index.js'
import { healthResponse, readinessResponse } from '../../src/server/health.js'
import type { Database } from '../../src/store/database.js'
import { alteredDatabase, sharedDatabase } from '../support/database.js'
import { movableClock } from '../support/movable-clock.js'
import { useSchema } from '../support/schema.js'

async function open(options: EscapementOptions = {}): Promise<Escapement & { schema: string }> {
  const schema = await useSchema()
  const escapement = await createEscapement({ database: await sharedDatabase(), schema, ...options })
  onTestFinished(() => escapement.close())
  return { ...escapement, schema }
}

/** The database as it is until it is frozen: then no call is ever answered, until it thaws. */
async function freezable() {
  let thaw: Promise<void> | undefined
  let release = () => {}
  let frozenCalls = 0
  const held = async <T>(call: () => Promise<T>): Promise<T> => {
    if (thaw) frozenCalls += 1
    await thaw
    return call()
  }
  const database: Database = await alteredDatabase((shared) => ({
    query: (text, params) => held(() => shared.query(text, params)),
    transaction: (work) => held(() => shared.transaction(work)),
  }))
  return {
    database,
    frozenCalls: () => frozenCalls,
    freeze() {
      thaw = new Promise((resolve) => {
        release = resolve
      })
    },
    thaw() {
      thaw = undefined
      release()
    },
  }
}

const answerOf = async (response: Response) => ({ status: response.status, body: await response.json() })

it('a process without loops is healthy and ready; with them each is named', async () => {
  const escapement = await open()
  expect(escapement.health()).toEqual({ status: 'ok', reason: null, running: 0, loops: [] })
  await escapement.start()
  expect(escapement.health().loops.map(({ loop }) => loop)).toEqual(['scheduler', 'worker', 'sweeper'])
  expect(escapement.health()).toMatchObject({ status: 'ok', reason: null })
  expect(await answerOf(healthResponse(escapement))).toEqual({ status: 200, body: { status: 'ok' } })
  expect(await answerOf(await readinessResponse(escapement))).toEqual({
    status: 200,
    body: { status: 'ready' },
  })
})

it('a loop whose call is never answered is stuck, and named, until it goes on', async () => {
  const { database, freeze, thaw, frozenCalls } = await freezable()
  const escapement = await open({ database })
  onTestFinished(thaw)
  const move = movableClock()
  await escapement.start({ roles: ['worker'] })
  freeze()
  await expect.poll(frozenCalls, { timeout: 5_000 }).toBeGreaterThan(0)
  expect(escapement.health()).toMatchObject({ status: 'ok' })
  move(119_000)
  expect(escapement.health()).toMatchObject({ status: 'ok' })
  move(61_000)
  expect(escapement.health()).toMatchObject({
    status: 'stuck',
    reason: expect.stringMatching(/^the worker has made no pass for 18\d s$/),
    loops: [{ loop: 'worker', isStuck: true, isWaitingOut: false }],
  })
  expect(await answerOf(healthResponse(escapement))).toEqual({
    status: 503,
    body: { status: 'stuck', reason: escapement.health().reason },
  })
  expect(await escapement.ready()).toEqual({ ready: false, reason: 'database unreachable' })
  thaw()
  await expect.poll(() => escapement.health().status).toBe('ok')
  await expect.poll(() => escapement.ready(), { timeout: 5_000 }).toEqual({ ready: true, reason: null })
})

it('handlers that never end leave the worker healthy', async () => {
  const escapement = await open({ worker: { concurrency: 1, drain: '0s' } })
  const move = movableClock()
  const begun = new Promise((resolve) => {
    escapement.job('hangs', {
      handler: ({ signal }) =>
        new Promise((_, reject) => {
          resolve(undefined)
          signal.addEventListener('abort', reject)
        }),
    })
  })
  await escapement.start({ roles: ['worker'] })
  await escapement.runs.enqueue('hangs', null)
  await begun
  move(600_000)
  await expect.poll(() => escapement.health().loops[0]!.sincePassMs, { timeout: 5_000 }).toBeLessThan(60_000)
  expect(escapement.health().status).toBe('ok')
})

it('a schema that is older or newer than this program is not ready', async () => {
  const escapement = await open()
  const move = movableClock()
  const { query } = escapement.database
  const [{ number }] = (await query(
    `select max(number) as number from "${escapement.schema}".migrations`,
  )) as [{ number: number }]
  await query(`insert into "${escapement.schema}".migrations (number, name) values ($1, 'later')`, [
    number + 1,
  ])
  expect(await escapement.ready()).toEqual({ ready: false, reason: 'schema newer' })
  await query(`delete from "${escapement.schema}".migrations where number >= $1`, [number])
  move(1_000)
  expect(await escapement.ready()).toEqual({ ready: false, reason: 'schema outdated' })
  expect(await answerOf(await readinessResponse(escapement))).toEqual({
    status: 503,
    body: { status: 'unready', reason: 'schema outdated' },
  })
})

it('one that is being stopped is not ready from the call on, and is again when it was started', async () => {
  const escapement = await open()
  await escapement.start({ roles: ['scheduler'] })
  const stopped = escapement.stop()
  expect(await escapement.ready()).toEqual({ ready: false, reason: 'stopping' })
  expect(escapement.health()).toMatchObject({ status: 'ok' })
  await stopped
  expect(escapement.health().loops).toEqual([])
  await escapement.start({ roles: ['scheduler'] })
  expect(await escapement.ready()).toEqual({ ready: true, reason: null })
  await escapement.close()
  expect(await escapement.ready()).toEqual({ ready: false, reason: 'stopping' })
})

it('a scheduler that has nothing to do says once that it waits for the database', async () => {
  let refused = 0
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (!text.includes('escapement: next schedule') || refused === 3) return shared.query(text, params)
      refused += 1
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    },
  }))
  const logged: string[] = []
  const log = (_: object, message: string) => void logged.push(message)
  const escapement = await open({ database, logger: { debug() {}, info() {}, warn: log, error: log } })
  await escapement.start({ roles: ['scheduler'] })
  await expect.poll(() => refused, { timeout: 20_000 }).toBe(3)
  await expect.poll(() => escapement.health().loops[0]!.isWaitingOut, { timeout: 20_000 }).toBe(false)
  expect(logged.filter((message) => message === 'the scheduler waits for the database')).toHaveLength(1)
})
