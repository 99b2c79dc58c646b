import { once } from 'node:events'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { EventClient } from '../support/event-client.js'

const fixture = fileURLToPath(new URL('fixtures/event-server.mjs', import.meta.url))
const MB = 1024 * 1024

async function open() {
  const schema = freshSchemaName()
  const database = postgresUrl()
  const escapement = await createEscapement({ database, schema })
  escapement.job('count', { handler: () => {} })
  const processes: FixtureProcess[] = []
  const clients: EventClient[] = []
  onTestFinished(async () => {
    for (const client of clients) client.stop()
    for (const process of processes) await process.kill()
    await escapement.database.query(`drop schema "${schema}" cascade`)
    await escapement.close()
  })
  const start = async (roles: string, env: Record<string, string> = {}) => {
    const options = { env, nodeOptions: ['--expose-gc'] }
    const process = new FixtureProcess(fixture, [database, schema, roles], options)
    processes.push(process)
    await process.line('ready')
    return process
  }
  const watch = async (url: string, hear: (name: string, data: string, id: string) => void) => {
    const client = new EventClient(url, hear)
    clients.push(client)
    await client.start()
    return client
  }
  return { schema, escapement, start, watch }
}

const urlOf = async (server: FixtureProcess) => (await server.line('url')).url as string

interface Memory {
  /** What the engine has in use, buffers included. */
  inUse: number
  rss: number
}

async function collected(server: FixtureProcess): Promise<Memory> {
  const said = () => server.lines.flatMap(({ collected }) => (collected ? [collected as Memory] : []))
  const before = said().length
  server.signal('SIGUSR2')
  await expect.poll(() => said().length, { interval: 10 }).toBe(before + 1)
  return said().at(-1)!
}

const ENDS = ['', 'run.succeeded', 'run.failed'] as const

/** What a client knows that reads all it is sent. */
class Watcher {
  /** How each run ended, by its number. */
  readonly ends = new Uint8Array(60_000)
  events = 0
  resyncs = 0
  readonly mistakes: string[] = []
  readonly #numberOf: (runId: string) => number
  #sequence = 0

  constructor(numberOf: (runId: string) => number) {
    this.#numberOf = numberOf
  }

  readonly hear = (name: string, data: string, id: string): void => {
    const sequence = Number(id.slice(id.indexOf('-') + 1))
    if (sequence <= this.#sequence) this.mistakes.push(`${id} came after ${this.#sequence}`)
    this.#sequence = sequence
    this.events += 1
    if (name === 'resync') this.resyncs += 1
    const end = ENDS.indexOf(name as (typeof ENDS)[number])
    if (end < 1) return
    const at = data.indexOf('"runId":"') + 9
    this.ends[this.#numberOf(data.slice(at, at + 36))] = end
  }
}

it('200 clients watch 50,000 runs: memory is bounded, nobody waits for another, nothing is invented', async () => {
  const RUNS = 50_000
  const STUCK = 20
  const { escapement, schema, start, watch } = await open()
  const [server] = await Promise.all([
    start('server,worker', { CONCURRENCY: '200' }),
    start('worker', { CONCURRENCY: '200' }),
  ])
  const url = `${await urlOf(server)}/api/v1/events`

  // The runs that anybody has heard of, numbered, so that each client remembers a byte of each.
  const numbers = new Map<string, number>()
  const numberOf = (runId: string) => {
    const number = numbers.get(runId) ?? numbers.size
    numbers.set(runId, number)
    return number
  }
  const watchers = Array.from({ length: 200 - STUCK }, () => new Watcher(numberOf))
  const clients = await Promise.all(
    watchers.map(({ hear }, n) => watch(n % 2 ? url : `${url}?names=run.succeeded,run.failed`, hear)),
  )
  // These never read what they are sent.
  const stuck = Array.from({ length: STUCK }, () => http.get(url, { agent: false }))
  onTestFinished(() => {
    for (const request of stuck) request.destroy()
  })
  await Promise.all(stuck.map((request) => once(request, 'response')))

  const before = await collected(server)
  const enqueue = async (count: number) => {
    const items = Array.from({ length: count }, (_, n) => ({ input: n % 50 === 0 ? 'fail' : {} }))
    return (await escapement.runs.enqueueMany('count', items)).map(({ id }) => id)
  }
  const startedMs = performance.now()
  for (let n = 0; n < RUNS; n += 5_000) await enqueue(5_000)
  const left = () => escapement.database.query(`select 1 from "${schema}".runs_open limit 1`)
  await expect.poll(left, { timeout: 60_000, interval: 100 }).toEqual([])
  const endedMs = performance.now()

  // In the quiet after it each of them sees each end. What is still missing from the flood may be told in the first rounds.
  for (let rounds = 0, isQuiet = false; !isQuiet; rounds++) {
    expect(rounds).toBeLessThan(10)
    const resyncs = watchers.map((watcher) => watcher.resyncs)
    const asked = (await enqueue(4)).map(numberOf)
    const hasSeen = (watcher: Watcher) => asked.every((number) => watcher.ends[number]! > 0)
    const unsure = () => watchers.filter((watcher, n) => !hasSeen(watcher) && watcher.resyncs === resyncs[n])
    await expect.poll(() => unsure().length, { timeout: 10_000 }).toBe(0)
    isQuiet = watchers.every((watcher, n) => hasSeen(watcher) && watcher.resyncs === resyncs[n])
  }

  const memories = server.lines.flatMap(({ memory }) => (memory ? [memory as Memory] : []))
  const after = await collected(server)
  const most = (of: (memory: Memory) => number) => Math.round(Math.max(...memories.map(of)) / MB)
  console.log({
    seconds: Math.round(endedMs - startedMs) / 1000,
    eventsPerClient: Math.max(...watchers.map(({ events }) => events)),
    resyncs: Math.max(...watchers.map(({ resyncs }) => resyncs)),
    reconnects: clients.reduce((sum, { reconnects }) => sum + reconnects, 0),
    inUseMB: {
      before: Math.round(before.inUse / MB),
      most: most(({ inUse }) => inUse),
      after: Math.round(after.inUse / MB),
    },
    rssMB: { before: Math.round(before.rss / MB), most: most(({ rss }) => rss) },
  })

  expect(watchers.flatMap(({ mistakes }) => mistakes)).toEqual([])
  const runs = await escapement.database.query<{ id: string; state: string }>(
    `select id, state from "${schema}".runs`,
  )
  const endOf = new Map(
    runs.map(({ id, state }) => [id, ENDS.indexOf(`run.${state}` as (typeof ENDS)[number])]),
  )
  for (const [runId, number] of numbers) {
    const told = new Set(watchers.map(({ ends }) => ends[number]!))
    told.delete(0)
    for (const end of told) expect([runId, ENDS[end]]).toEqual([runId, ENDS[endOf.get(runId) ?? 0]])
  }
  for (const { ends, resyncs } of watchers) {
    const seen = ends.reduce((sum, end) => sum + (end > 0 ? 1 : 0), 0)
    expect(seen).toBeGreaterThan(100)
    expect(seen === runs.length || resyncs > 0).toBe(true)
  }
  // The 150,000 events are 40 MB: kept, or waiting for each of those that do not read, they would show.
  expect(after.inUse - before.inUse).toBeLessThan(20 * MB)
  expect(most(({ inUse }) => inUse)).toBeLessThan(250)
})

it('what one process does is seen by the clients of another server within a second', async () => {
  const { start, watch } = await open()
  const [a, b, one, two] = await Promise.all([
    start('server'),
    start('server'),
    start('worker', { QUEUE: 'one', SAY_RUNS: '1' }),
    start('worker', { QUEUE: 'two', SAY_RUNS: '1' }),
  ])
  const heard: { name: string; data: Record<string, unknown>; atMs: number }[] = []
  await watch(`${await urlOf(b!)}/api/v1/events`, (name, data) => {
    heard.push({ name, data: JSON.parse(data), atMs: performance.now() })
  })
  const act = async (given: object) => {
    const response = await fetch(`${await urlOf(a!)}/act`, { method: 'POST', body: JSON.stringify(given) })
    const answer = (await response.json()) as { id: string }
    return { id: answer?.id, atMs: performance.now() }
  }
  const tookMs: Record<string, number> = {}
  /** Waits longer than it may take: what comes late on a busy machine is not lost. */
  const seen = async (name: string, field: string, value: unknown, sinceMs: number, label = name) => {
    const find = () => heard.find((event) => event.name === name && event.data[field] === value)
    await expect.poll(find, { timeout: 3_000, interval: 5 }).toBeDefined()
    tookMs[label] = Math.round(find()!.atMs - sinceMs)
  }

  const put = await act({ act: 'put', name: 'daily' })
  await seen('schedule.changed', 'schedule', 'daily', put.atMs)
  const pause = await act({ act: 'pause', name: 'daily' })
  await seen('schedule.paused', 'schedule', 'daily', pause.atMs)
  for (const [queue, worker] of [
    ['one', one!],
    ['two', two!],
  ] as const) {
    const run = await act({ act: 'enqueue', queue })
    await worker.line(run.id)
    const handledMs = performance.now()
    await seen('run.created', 'runId', run.id, run.atMs, `run.created (${queue})`)
    await seen('run.succeeded', 'runId', run.id, handledMs, `run.succeeded (${queue})`)
  }
  const waiting = await act({ act: 'enqueue', queue: 'of nobody' })
  const cancel = await act({ act: 'cancel', id: waiting.id })
  await seen('run.cancelled', 'runId', waiting.id, cancel.atMs)
  console.log('milliseconds from the answer to the event:', tookMs)
  expect(heard.map(({ name }) => name)).not.toContain('resync')
})
