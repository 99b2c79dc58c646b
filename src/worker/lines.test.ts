import { afterEach, expect, it, vi } from 'vitest'
import { defineJob } from '../runs/job.js'
import { createJobRegistry } from '../runs/job-registry.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import type { Fronts } from '../store/queries/fronts.js'
import type { Store } from '../store/store.js'
import { createLines } from './lines.js'

let nowMs = 0
afterEach(() => vi.restoreAllMocks())

const DATABASE_NOW = 100_000
const TOO_LONG = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })

interface Look {
  isWhole: boolean
  priorities: number[]
  /** Of jobs without a limit and of those with. */
  since: [number, number] | null
}

/** Lines whose looks take `ms` where they are whole, and `deepMs` where not; or wait until they are answered. */
function open({
  kind = 'postgres',
  ms = 1,
  deepMs = 1,
}: {
  kind?: string
  ms?: number
  deepMs?: number
} = {}) {
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const about = {
    ms,
    front: 0,
    failure: undefined as unknown,
    waits: false,
    clockWaits: undefined as Promise<void> | undefined,
  }
  const looks: Look[] = []
  const waiting: (() => void)[] = []
  let patience: (() => void) | undefined
  const store = {
    database: { kind },
    clock: {
      after(_: number, act: () => void) {
        patience = act
        return () => {}
      },
    },
    now: () => null,
    async query(text: string, params: unknown[]) {
      if (text.endsWith(' as now')) {
        await about.clockWaits
        return [{ now: new Date(DATABASE_NOW) }]
      }
      const dates = params.slice(7, 9) as [Date[] | null, Date[] | null]
      const isWhole = dates[0] === null
      looks.push({
        isWhole,
        priorities: params[4] as number[],
        since: isWhole ? null : (dates.map((each) => each![0]!.getTime()) as [number, number]),
      })
      if (about.waits) await new Promise<void>((resolve) => waiting.push(resolve))
      nowMs += isWhole ? about.ms : deepMs
      if (about.failure) throw about.failure
      const at = new Date(about.front)
      return [{ queue: 'default', priority: 0, free: at, limited: at }]
    },
  } as unknown as Store
  const jobs = createJobRegistry()
  const addJob = (name: string, terms = {}) => jobs.add(defineJob(name, { ...terms, handler: () => {} }))
  addJob('noop')
  const onFurther = vi.fn()
  const lines = createLines(store, jobs, { queues: ['default'], onFurther })
  return {
    about,
    lines,
    addJob,
    onFurther,
    /** What the next claim would look at, and which looks were begun beside it. */
    async begin() {
      looks.length = 0
      const from = await lines.begin()
      await settled()
      return { from: sinceOf(from), looks: looks.slice() }
    },
    /** A claim takes these. */
    async claim(...rows: ClaimedRow[]) {
      lines.claimed(await lines.begin(), 1, rows)
    },
    /** Claims take long, again and again: a look at all of the lines is due, and made. */
    async litter() {
      await lines.begin()
      for (let claim = 0; claim < 3; claim++) lines.claimed(null, 100, [])
      await lines.begin()
      await settled()
      looks.length = 0
    },
    loosePatience: () => patience!(),
    async answer() {
      for (const resolve of waiting.splice(0)) resolve()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const sinceOf = (from: Fronts | null) =>
  from === null
    ? null
    : from.lines.map(({ priority, freeSince, limitedSince }) => [priority, freeSince, limitedSince])

const row = (eligibleAt: number, { job = 'noop', priority = 0 } = {}) =>
  ({ job, queue: 'default', priority, eligible_at: new Date(eligibleAt) }) as ClaimedRow

it('lines without litter are looked at whole, after one look that finds none', async () => {
  const { begin } = open()
  expect(await begin()).toMatchObject({ from: null, looks: [{ isWhole: true }] })
  expect(await begin()).toEqual({ from: null, looks: [] })
})

it('in the embedded database nobody looks where lines begin', async () => {
  const { begin } = open({ kind: 'pglite' })
  expect(await begin()).toEqual({ from: null, looks: [] })
})

it('whoever begins in the midst of much litter looks behind it after the first walk over all of it', async () => {
  const { begin, about } = open({ ms: 600 })
  about.front = 50_000
  expect(await begin()).toMatchObject({ from: [[0, 49_900, 49_900]], looks: [{ isWhole: true }] })
  expect(await begin()).toMatchObject({ from: [[0, 49_900, 49_900]], looks: [] })
})

it('a look that takes long keeps no claim waiting: what comes from now on is claimed, and then whatever it found', async () => {
  const { begin, about, lines, onFurther, loosePatience, answer } = open({ ms: 600 })
  about.waits = true
  const first = lines.begin()
  await settled()
  loosePatience()
  expect(sinceOf(await first)).toEqual([[0, 89_900, 89_900]])
  expect(await begin()).toEqual({ from: [[0, 89_900, 89_900]], looks: [] })
  about.front = 20_000
  await answer()
  expect(onFurther).toHaveBeenCalledOnce()
  expect(sinceOf(await lines.begin())).toEqual([[0, 19_900, 19_900]])
})

it('claims begin where the last one ended, but for what is committed late, until it is found anew where lines begin', async () => {
  const { begin, litter, claim } = open({ ms: 100 })
  await litter()
  expect((await begin()).from).toEqual([[0, -100, -100]])
  await claim(row(7_000), row(50_000), row(9_000))
  expect(await begin()).toEqual({ from: [[0, 49_900, -100]], looks: [] })
  nowMs += 1_000
  expect((await begin()).looks).toMatchObject([{ isWhole: false }])
  expect((await begin()).from).toEqual([[0, -100, -100]])
})

it('lines are looked for from ten seconds before they began: a scheduler that is behind plans what was due then', async () => {
  const { begin, litter, about, claim } = open({ ms: 100 })
  about.front = 30_000
  await litter()
  await claim(row(50_000))
  nowMs += 1_000
  expect((await begin()).looks).toMatchObject([{ since: [20_000, 20_000] }])
})

it('what is taken of a job with a limit says nothing of those before it, and is left behind by short looks', async () => {
  const { begin, litter, addJob, about, claim } = open({ ms: 100 })
  addJob('limited', { concurrency: 1 })
  await litter()
  await claim(row(50_000, { job: 'limited' }))
  expect(await begin()).toEqual({ from: [[0, -100, -100]], looks: [] })
  nowMs += 200
  about.front = 40_000
  expect(await begin()).toMatchObject({ from: [[0, -100, -100]], looks: [{ since: [-100, -100] }] })
  expect(await begin()).toEqual({ from: [[0, 39_900, 39_900]], looks: [] })
  // A deep one begins where lines began when that was last looked for as deep.
  nowMs += 2_000
  expect((await begin()).looks).toMatchObject([{ since: [-10_000, -10_000] }])
})

it('a line is remembered for ten minutes after the last was taken of it, and that of the usual priority for ever', async () => {
  const { begin, litter, claim } = open({ ms: 100 })
  await litter()
  await claim(row(0, { priority: 7 }))
  for (const [minutes, priorities] of [
    [5, [0, 7]],
    [4, [0, 7]],
    [2, [0]],
  ] as const) {
    nowMs += minutes * 60_000
    expect((await begin()).looks).toMatchObject([{ isWhole: true, priorities }])
  }
})

it('all of the lines are looked at for a fiftieth of the time, and as soon as that takes little claims do', async () => {
  const { begin, litter, about, onFurther } = open({ ms: 100 })
  await litter()
  nowMs += 4_899
  expect((await begin()).looks).toMatchObject([{ isWhole: false }])
  expect((await begin()).looks).toMatchObject([{ isWhole: true }])
  nowMs += 5_000
  about.ms = 3
  onFurther.mockClear()
  expect((await begin()).looks).toMatchObject([{ isWhole: true }])
  expect(onFurther).toHaveBeenCalledOnce()
  expect(await begin()).toEqual({ from: null, looks: [] })
})

it('whoever is taken from a lost worker is claimed in the place that it had, although a look that is under way has not seen it', async () => {
  const { begin, litter, lines, about, answer } = open({ ms: 100 })
  about.front = 60_000
  await litter()
  lines.stand([row(30_000), row(20_000, { priority: 5 })])
  const places = [
    [5, 20_000, 20_000],
    [0, 30_000, 30_000],
  ]
  expect((await begin()).from).toEqual(places)
  nowMs += 1_000
  about.waits = true
  expect((await begin()).looks).toMatchObject([{ since: [10_000, 10_000] }])
  lines.stand([row(25_000)])
  await answer()
  expect((await begin()).from).toEqual([[0, 25_000 - 100, 25_000 - 100]])
})

it('a new job is looked for in whole lines', async () => {
  const { begin, litter, addJob } = open({ ms: 100 })
  await litter()
  addJob('new')
  expect((await begin()).looks).toMatchObject([{ isWhole: true }])
  expect((await begin()).looks).toEqual([])
})

it('a job that is new while it is looked elsewhere is looked for next', async () => {
  const { begin, litter, addJob, about, answer } = open({ ms: 100 })
  await litter()
  nowMs += 1_000
  about.waits = true
  expect((await begin()).looks).toMatchObject([{ isWhole: false }])
  addJob('new')
  expect((await begin()).looks).toEqual([])
  about.waits = false
  await answer()
  expect((await begin()).looks).toMatchObject([{ isWhole: true }])
  expect((await begin()).looks).toEqual([])
})

it('where a first look at whole lines takes too long, what comes from then on is claimed at least, and one more is made', async () => {
  const { begin, about, lines } = open({ ms: 14_000 })
  about.failure = TOO_LONG
  const guessed = [[0, 89_900, 89_900]]
  expect(await begin()).toMatchObject({ from: guessed, looks: [{ isWhole: true }] })
  expect(lines.msUntilLook()).toBe(1_000)
  expect(await begin()).toMatchObject({ from: guessed, looks: [{ isWhole: true }] })
  expect(await begin()).toMatchObject({ from: guessed, looks: [] })
})

it('a guess does not take the place of what a look finds, be it while the guess is made or later', async () => {
  for (const isLater of [false, true]) {
    const { begin, about, lines, loosePatience, answer } = open({ ms: 600 })
    about.waits = true
    let clockAnswers = () => {}
    if (!isLater)
      about.clockWaits = new Promise((resolve) => {
        clockAnswers = resolve
      })
    const first = lines.begin()
    await settled()
    loosePatience()
    await settled()
    about.front = 20_000
    await answer()
    clockAnswers()
    await first
    expect((await begin()).from).toEqual([[0, 19_900, 19_900]])
  }
})

it('a claim that began before it was found out who stands further in front leaves nobody behind', async () => {
  const { begin, litter, lines, about, answer } = open({ ms: 100 })
  about.front = 60_000
  await litter()
  const from = await lines.begin()
  nowMs += 1_000
  about.waits = true
  await begin()
  about.front = 55_000
  await answer()
  lines.claimed(from, 1, [row(61_000)])
  expect((await begin()).from).toEqual([[0, 54_900, 54_900]])
})

it('while a look is under way, and after one that failed, nobody asks for the next at once', async () => {
  const { begin, litter, lines, about, answer } = open({ ms: 100 })
  await litter()
  nowMs += 1_000
  about.waits = true
  about.failure = new Error('the connection is gone')
  await begin()
  nowMs += 10_000
  expect(lines.msUntilLook()).toBe(1_000)
  await answer()
  expect(lines.msUntilLook()).toBe(1_000)
})

it('a deep look that took very long is followed by another within half a minute', async () => {
  const { litter, lines, begin, about } = open({ ms: 100, deepMs: 14_000 })
  await litter()
  nowMs += 1_000
  about.failure = TOO_LONG
  await begin()
  expect(lines.msUntilLook()).toBe(30_000)
})

it('where a deep or a short look takes too long, what is known serves on, and nobody looks again at once', async () => {
  const { begin, litter, about, addJob } = open({ ms: 100 })
  addJob('limited', { concurrency: 1 })
  await litter()
  about.failure = TOO_LONG
  for (const depth of ['short', 'deep', 'deep', 'deep']) {
    nowMs += depth === 'short' ? 200 : 1_000
    const since = depth === 'short' ? [-100, -100] : [-10_000, -10_000]
    expect(await begin()).toMatchObject({ from: [[0, -100, -100]], looks: [{ since }] })
    expect(await begin()).toEqual({ from: [[0, -100, -100]], looks: [] })
  }
})

it('where claims take too long, twice, although they began behind, what comes from then on is claimed', async () => {
  const { begin, litter, lines, about, loosePatience } = open({ ms: 100 })
  await litter()
  const from = await lines.begin()
  lines.cutOff(from, 14_000)
  expect((await begin()).from).toEqual([[0, -100, -100]])
  lines.claimed(from, 1, [])
  lines.cutOff(from, 14_000)
  lines.cutOff(from, 14_000)
  about.waits = true
  const next = lines.begin()
  await settled()
  loosePatience()
  expect(sinceOf(await next)).toEqual([[0, 89_900, 89_900]])
})

it('where a look at whole lines takes too long, what is known of them serves until the next', async () => {
  const { begin, litter, about } = open({ ms: 100 })
  await litter()
  about.failure = TOO_LONG
  nowMs += 4_900
  expect(await begin()).toMatchObject({ from: [[0, -100, -100]], looks: [{ isWhole: true }] })
  expect((await begin()).looks).toEqual([])
  nowMs += 1_000
  expect((await begin()).looks).toMatchObject([{ isWhole: false }])
  expect((await begin()).from).toEqual([[0, -100, -100]])
})

it('an outage fails whoever waits for a look, or else the next claim', async () => {
  const gone = new Error('the connection is gone')
  const first = open()
  first.about.failure = gone
  await expect(first.begin()).rejects.toBe(gone)
  const { begin, litter, about } = open({ ms: 100 })
  await litter()
  about.failure = gone
  nowMs += 1_000
  expect(await begin()).toMatchObject({ from: [[0, -100, -100]], looks: [{ isWhole: false }] })
  await expect(begin()).rejects.toBe(gone)
  expect(await begin()).toMatchObject({ from: [[0, -100, -100]], looks: [] })
})

it('after an outage nobody who knows nothing asks more often than once a second, and claims go on', async () => {
  const { begin, about } = open({ ms: 600 })
  about.failure = new Error('too many connections')
  await expect(begin()).rejects.toBe(about.failure)
  expect(await begin()).toEqual({ from: [[0, 89_900, 89_900]], looks: [] })
  about.failure = undefined
  nowMs += 1_000
  expect((await begin()).looks).toMatchObject([{ isWhole: true }])
})
