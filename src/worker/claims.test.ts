import { afterEach, expect, it, vi } from 'vitest'
import { hostChance } from '../chance.js'
import { defineJob } from '../runs/job.js'
import { createJobRegistry } from '../runs/job-registry.js'
import type { Store } from '../store/store.js'
import { createClaims } from './claims.js'

let nowMs = 0
afterEach(() => vi.restoreAllMocks())

const QUEUE = { queue: 'default', priority: 0, free: new Date(0), limited: new Date(0), leases: new Date(0) }

/** A look at all of a line takes `ms`, and that for where lines begin fails where it is told to. */
function open(about: {
  ms: number
  failure?: unknown
  failsWholeClaims?: boolean
  failsShortLooks?: boolean
  rows?: object[]
}) {
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const asked: string[] = []
  let since: unknown
  let lookedFor: unknown
  const store: Store = {
    database: { kind: 'postgres' },
    clock: { elapsedMs: () => nowMs },
    now: () => null,
    async query(text: string, params: readonly unknown[]) {
      // Another worker is just counting.
      if (text.includes('pg_try_advisory_xact_lock')) return [{ is_locked: false }]
      if (text.endsWith(' as now')) {
        asked.push('now')
        return [{ now: new Date(100_000) }]
      }
      const isFronts = text.includes('fronts of lines')
      const isWhole = params[isFronts ? 6 : 11] == null
      nowMs += isWhole ? about.ms : 1
      asked.push(`${isFronts ? 'fronts' : 'claim'}${isWhole ? ' of all' : ''}`)
      const fails = isWhole ? isFronts || about.failsWholeClaims : isFronts && about.failsShortLooks
      if (fails && about.failure) throw about.failure
      if (isFronts) {
        lookedFor = { priorities: params[4], since: (params.slice(8, 10) as (Date[] | null)[]).map(String) }
        return [QUEUE]
      }
      since = params.slice(13, 15).map(String)
      return about.rows ?? []
    },
    transaction: (work: (session: unknown) => unknown) => work(store),
  } as unknown as Store
  const jobs = createJobRegistry()
  const addJob = (name: string, terms = {}) => jobs.add(defineJob(name, { ...terms, handler: () => {} }))
  addJob('noop')
  const claims = createClaims(store, jobs, { workerId: 'one', queues: ['default'], chance: hostChance })
  const asksFor = async () => {
    asked.length = 0
    await claims.take(1)
    return asked.slice()
  }
  return {
    asksFor,
    addJob,
    since: () => since,
    lookedFor: () => lookedFor as { priorities: number[]; since: string[] },
  }
}

/** Of a job without a limit and of one with. */
const sinceOf = (...ms: number[]) => ms.map((each) => String(new Date(each)))

it('claims begin where the last one ended, but for what is committed late, until it is found anew where lines begin', async () => {
  const row = { id: 'a', lot_id: null, job: 'noop', queue: 'default', priority: 0, started_at: null }
  const about: Parameters<typeof open>[0] = { ms: 1_000 }
  const { asksFor, since } = open(about)
  for (let look = 0; look < 4; look++) await asksFor()
  expect(since()).toEqual(sinceOf(-100, -100))
  about.rows = [7_000, 50_000, 9_000].map((at) => ({ ...row, eligible_at: new Date(at) }))
  await asksFor()
  expect(await asksFor()).toEqual(['claim'])
  expect(since()).toEqual(sinceOf(49_900, -100))
  nowMs += 1_000
  about.rows = []
  expect(await asksFor()).toEqual(['fronts', 'claim'])
  expect(since()).toEqual(sinceOf(-100, -100))
})

it('what is taken of a job with a limit says nothing of those before it: their keys may have been busy', async () => {
  const about: Parameters<typeof open>[0] = { ms: 1_000 }
  const { asksFor, addJob, since } = open(about)
  addJob('limited', { concurrency: 1 })
  for (let look = 0; look < 4; look++) await asksFor()
  about.rows = [
    { id: 'a', lot_id: null, job: 'limited', queue: 'default', priority: 0, eligible_at: new Date(50_000) },
  ]
  await asksFor()
  await asksFor()
  expect(since()).toEqual(sinceOf(-100, -100))
})

it('lines are looked for from ten seconds before they began: a scheduler that is behind plans what was due then', async () => {
  const { asksFor, lookedFor } = open({ ms: 1_000 })
  for (let look = 0; look < 4; look++) await asksFor()
  nowMs += 1_000
  expect(await asksFor()).toEqual(['fronts', 'claim'])
  expect(lookedFor().since).toEqual(sinceOf(-10_000, -10_000))
})

it('a line is remembered for ten minutes after the last was taken of it, and that of the usual priority for ever', async () => {
  const about: Parameters<typeof open>[0] = { ms: 1_000 }
  const { asksFor, lookedFor } = open(about)
  for (let look = 0; look < 4; look++) await asksFor()
  expect(lookedFor().priorities).toEqual([0])
  about.rows = [
    { id: 'a', lot_id: null, job: 'noop', queue: 'default', priority: 7, eligible_at: new Date(0) },
  ]
  await asksFor()
  about.rows = []
  for (const [minutes, priorities] of [
    [5, [0, 7]],
    [4, [0, 7]],
    [2, [0]],
  ] as const) {
    nowMs += minutes * 60_000
    expect(await asksFor()).toEqual(['fronts of all', 'claim'])
    expect(lookedFor().priorities).toEqual(priorities)
  }
})

it('a short look that ends when one at whole lines is due leaves that for the next time', async () => {
  const { asksFor } = open({ ms: 1_000 })
  for (let look = 0; look < 4; look++) await asksFor()
  nowMs += 18_998
  expect(await asksFor()).toEqual(['fronts', 'claim'])
  expect(await asksFor()).toEqual(['fronts of all', 'claim'])
})

it('where a first look at whole lines takes too long, what comes from then on is claimed at least', async () => {
  const tooLong = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  const about: Parameters<typeof open>[0] = { ms: 14_000, failure: tooLong, failsWholeClaims: true }
  const { asksFor, since } = open(about)
  for (let look = 0; look < 4; look++) await expect(asksFor()).rejects.toBe(tooLong)
  expect(await asksFor()).toEqual(['fronts of all', 'now', 'claim'])
  expect(since()).toEqual(sinceOf(89_900, 89_900))
})

it('where a look from where lines began takes too long, twice, what comes from then on is claimed', async () => {
  const failure = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  const about: Parameters<typeof open>[0] = { ms: 1_000 }
  const { asksFor, since } = open(about)
  for (let look = 0; look < 4; look++) await asksFor()
  nowMs += 1_000
  Object.assign(about, { failure, failsShortLooks: true })
  await expect(asksFor()).rejects.toBe(failure)
  expect(await asksFor()).toEqual(['fronts', 'now', 'claim'])
  expect(since()).toEqual(sinceOf(89_900, 89_900))
})

it('a new job is looked for in whole lines', async () => {
  const { asksFor, addJob } = open({ ms: 1_000 })
  for (let look = 0; look < 4; look++) await asksFor()
  addJob('new')
  expect(await asksFor()).toEqual(['fronts of all', 'claim'])
  expect(await asksFor()).toEqual(['claim'])
})

it('where a look at whole lines takes too long, what is known of them serves until the next', async () => {
  const about: Parameters<typeof open>[0] = { ms: 1_000 }
  const { asksFor } = open(about)
  for (let look = 0; look < 3; look++) expect(await asksFor()).toEqual(['claim of all'])
  expect(await asksFor()).toEqual(['fronts of all', 'claim'])
  about.failure = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  nowMs += 19_000
  expect(await asksFor()).toEqual(['fronts of all', 'claim'])
  expect(await asksFor()).toEqual(['fronts', 'claim'])
  nowMs += 19_000
  about.failure = new Error('the connection is gone')
  await expect(asksFor()).rejects.toThrow('the connection is gone')
})
