import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { startPostgres } from '../support/postgres-server.js'
import { checkWitnesses, readWitnesses } from '../support/witness.js'

const fixture = fileURLToPath(new URL('fixtures/worker.ts', import.meta.url))
const LONG = process.env.ESCAPEMENT_TEST_LONG !== undefined

async function open(database = postgresUrl()) {
  const schema = freshSchemaName()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-workers-'))
  const escapement = await createEscapement({ database, schema })
  // Its handlers are in the other processes: here it is only known.
  for (const name of ['witnessed', 'at-most-once', 'slow', 'count', 'insert'])
    escapement.job(name, { handler: () => {} })
  const processes: FixtureProcess[] = []
  const files: string[] = []
  onTestFinished(async () => {
    for (const process of processes) await process.kill()
    await escapement.database.query(`drop schema "${schema}" cascade`).catch(() => {})
    await escapement.close()
    fs.rmSync(folder, { recursive: true })
  })
  const start = async (env: Record<string, string> = {}) => {
    const file = path.join(folder, `${files.length}`)
    files.push(file)
    const worker = new FixtureProcess(fixture, [database, schema, file], { env })
    processes.push(worker)
    await worker.line('ready')
    return worker
  }
  const sql = <Row>(text: string) =>
    escapement.database.query<Row>(text.replaceAll('{schema}', `"${schema}"`))
  const states = () =>
    sql<{ state: string; runs: number }>(
      'select state, count(*) as runs from {schema}.runs group by state order by state',
    )
  /** When the last run that was tried again had succeeded. */
  const recoveredInMs = async (killedAt: number) => {
    const [row] = await sql<{ at: Date | null }>(
      `select max(finished_at) as at from {schema}.runs_ended where attempt > 1 and state = 'succeeded'`,
    )
    return row!.at && row!.at.getTime() - killedAt
  }
  /** Freezes a worker that holds runs, and says which: none of them can end any more. */
  const freezeAtWork = async (worker: FixtureProcess): Promise<Set<string>> => {
    const { ready: pid } = await worker.line('ready')
    for (;;) {
      worker.signal('SIGSTOP')
      // What it has sent already may still take effect.
      await sleep(50)
      const held = await sql<{ id: string }>(
        `select r.id from {schema}.runs_open as r join {schema}.workers as w on w.id = r.worker_id
         where w.pid = ${pid} and r.state = 'running'`,
      )
      if (held.length > 0) return new Set(held.map(({ id }) => id))
      worker.signal('SIGCONT')
      await sleep(20)
    }
  }
  const check = () => checkWitnesses(escapement.database, schema, readWitnesses(files))
  return {
    escapement,
    schema,
    start,
    sql,
    states,
    check,
    recoveredInMs,
    freezeAtWork,
    witnesses: () => readWitnesses(files),
  }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ input: index }))

it('two workers, one of them killed in the middle: each run succeeds, and only what it held is executed twice', async () => {
  const RUNS = LONG ? 20_000 : 3_000
  const { escapement, start, states, check, witnesses, recoveredInMs, freezeAtWork } = await open()
  await escapement.runs.enqueueMany('witnessed', many(RUNS))
  const [victim] = await Promise.all([start({ TAKE_MS: '10' }), start({ TAKE_MS: '10' })])
  await expect.poll(() => witnesses().size, { timeout: 30_000, interval: 20 }).toBeGreaterThan(RUNS / 4)
  const held = await freezeAtWork(victim!)
  await victim!.kill()
  const killedAt = Date.now()
  await expect.poll(states, { timeout: 60_000 }).toEqual([{ state: 'succeeded', runs: RUNS }])
  expect(await check()).toEqual([])
  const twice = [...witnesses()].filter(([, { starts }]) => starts.length > 1).map(([id]) => id)
  console.log({
    runs: RUNS,
    held: held.size,
    twice: twice.length,
    recoveredInMs: await recoveredInMs(killedAt),
  })
  expect(twice.filter((id) => !held.has(id))).toEqual([])
})

it('with onStale: fail what a killed worker held has failed, and none is executed twice', async () => {
  const [RUNS, HELD] = [200, 20]
  const { escapement, start, states, check, witnesses } = await open()
  await escapement.runs.enqueueMany('at-most-once', many(RUNS))
  // It is at work on as many as it can hold, and nobody else is there yet.
  const victim = await start({ TAKE_MS: '600000', CONCURRENCY: `${HELD}` })
  await expect.poll(() => witnesses().size, { timeout: 30_000, interval: 20 }).toBe(HELD)
  await start()
  await victim.kill()
  await expect.poll(states, { timeout: 60_000 }).toEqual([
    { state: 'failed', runs: HELD },
    { state: 'succeeded', runs: RUNS - HELD },
  ])
  expect(await check()).toEqual([])
  expect([...witnesses().values()].filter(({ starts }) => starts.length > 1)).toEqual([])
})

it('a killed worker is missed in seconds: its runs are taken over long before their lease ends', async () => {
  const { escapement, start, states, recoveredInMs } = await open()
  const victim = await start({ TAKE_MS: '600000', LEASE: '10 minutes' })
  await escapement.runs.enqueueMany('slow', many(3))
  await expect.poll(states, { timeout: 10_000 }).toEqual([{ state: 'running', runs: 3 }])
  await start({ TAKE_MS: '1', LEASE: '10 minutes' })
  await victim.kill()
  const killedAt = Date.now()
  await expect.poll(states, { timeout: 20_000 }).toEqual([{ state: 'succeeded', runs: 3 }])
  console.log({ recoveredInMs: await recoveredInMs(killedAt) })
})

it('a worker frozen for longer than its lease hears of it when it goes on, and what it says then is refused', async () => {
  const { escapement, start, sql, states, witnesses } = await open()
  await sql('create table {schema}.inserted (attempt int)')
  // One handler is still at work when it goes on. The other is in its transaction, and has ended before it hears of anything.
  const frozen = await start({ TAKE_MS: '60000', INSERT_MS: '3000' })
  const { id } = await escapement.runs.enqueue('slow', null)
  await frozen.line('started')
  await escapement.runs.enqueue('insert', null)
  await frozen.line('inserted')
  frozen.signal('SIGSTOP')
  await start({ TAKE_MS: '1' })
  await expect.poll(states, { timeout: 30_000 }).toEqual([{ state: 'succeeded', runs: 2 }])
  const runs = () => sql('select * from {schema}.runs order by id')
  const before = await runs()
  frozen.signal('SIGCONT')
  expect(await frozen.line('aborted')).toEqual({ aborted: 'lease_lost' })
  await sleep(1_500)
  expect(await runs()).toEqual(before)
  expect(await sql(`select number, code from {schema}.attempts`)).toEqual([
    { number: 1, code: 'lease_lost' },
    { number: 1, code: 'lease_lost' },
  ])
  expect(await sql('select attempt from {schema}.inserted')).toEqual([{ attempt: 2 }])
  expect(witnesses().get(id)).toMatchObject({ starts: [1, 2], ends: [2] })
})

it('a transactional counter is exact, with workers killed at random', async () => {
  const RUNS = LONG ? 10_000 : 800
  const COUNTING = { CONCURRENCY: '4', TAKE_MS: '3' }
  const { escapement, start, sql, states } = await open()
  await sql('create table {schema}.counter (value int)')
  await sql('insert into {schema}.counter values (0)')
  await escapement.runs.enqueueMany('count', many(RUNS))
  const [first, second] = [await start(COUNTING), await start(COUNTING)]
  const workers = [first, second]
  const left = async () => {
    const open = (await states()).filter(({ state }) => state !== 'succeeded')
    return open.reduce((sum, { runs }) => sum + runs, 0)
  }
  let kills = 0
  while (kills === 0 || (await left()) > RUNS / 10) {
    await sleep(1_000)
    const victim = kills++ % 2
    await workers[victim]!.kill()
    workers[victim] = await start(COUNTING)
  }
  await expect.poll(states, { timeout: 120_000 }).toEqual([{ state: 'succeeded', runs: RUNS }])
  console.log({ runs: RUNS, kills })
  expect(await sql('select value from {schema}.counter')).toEqual([{ value: RUNS }])
})

it('nothing is lost and nothing completed twice through kills of workers and restarts of PostgreSQL', async () => {
  const SECONDS = LONG ? 120 : 8
  const server = await startPostgres({ fsync: true })
  onTestFinished(() => server.remove())
  const { escapement, start, states, check, witnesses } = await open(server.url)
  const workers = await Promise.all([start({ TAKE_MS: '3' }), start({ TAKE_MS: '3' })])
  let asked = 0
  let kills = 0
  let restarts = 0
  let steps = 0
  const until = performance.now() + SECONDS * 1000
  while (performance.now() < until) {
    const batch = many(500).map(({ input }) => ({ input, key: `${asked + input}` }))
    // Asked again until it is heard: the keys keep it from being twice.
    for (let isHeard = false; !isHeard; ) {
      isHeard = await escapement.runs.enqueueMany('witnessed', batch).then(
        () => true,
        () => sleep(200, false),
      )
    }
    asked += batch.length
    await sleep(500)
    // One is killed, the server restarts, and then there is a little peace.
    const turn = steps++ % 3
    if (turn === 0) {
      const victim = kills++ % workers.length
      await workers[victim]!.kill()
      workers[victim] = await start({ TAKE_MS: '3' })
    } else if (turn === 1) {
      restarts += 1
      await server.restart()
    }
  }
  await start()
  await expect
    .poll(() => states().catch(() => []), { timeout: 90_000, interval: 250 })
    .toEqual([{ state: 'succeeded', runs: asked }])
  console.log({
    asked,
    kills,
    restarts,
    executions: [...witnesses().values()].reduce((sum, { starts }) => sum + starts.length, 0),
  })
  expect(await check()).toEqual([])
})
