import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { checkWitnesses, readWitnesses } from '../support/witness.js'

const fixture = fileURLToPath(new URL('fixtures/worker.ts', import.meta.url))

async function open() {
  const database = postgresUrl()
  const schema = freshSchemaName()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-workers-'))
  const escapement = await createEscapement({ database, schema })
  // Its handlers are in the other processes: here it is only known.
  for (const name of ['at-most-once', 'slow', 'insert']) escapement.job(name, { handler: () => {} })
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
  const check = () => checkWitnesses(escapement.database, schema, readWitnesses(files))
  return {
    escapement,
    schema,
    start,
    sql,
    states,
    check,
    recoveredInMs,
    witnesses: () => readWitnesses(files),
  }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ input: index }))

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
