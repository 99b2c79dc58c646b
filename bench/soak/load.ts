/**
 * The mixed load: schedules that fire every minute, each at a second of its own, direct runs in bulk, one by one and under keys, some that fail at
 * their first attempt, and some of a job with a limit. It is held whatever becomes of it: nobody waits for an answer before asking
 * for more, as callers in life do not.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Escapement, every } from '../../src/index.js'

/** Of all runs that begin in a second. */
const SHARES = { scheduled: 0.2, bulk: 0.4, single: 0.2, keyed: 0.1, flaky: 0.05, limited: 0.05 }
type Direct = Exclude<keyof typeof SHARES, 'scheduled'>

const GRID_SECONDS = 60
const BEAT_MS = 50
/** One of so many keys is asked for twice. */
const REPEAT_KEY_EVERY = 10
const INPUT = { customer: 123_456, report: 'x'.repeat(50) }

export interface Load {
  /** Has so many runs begin in a second from now on. */
  setRate(perSecond: number): Promise<void>
  /** Direct runs that are asked for and not answered yet. */
  unanswered(): number
  /** Direct runs that there are since the beginning. Throws where asking has failed. */
  asked(): number
  /** Whether asking has failed, as it does under more load than is kept up with; it is then forgotten. */
  takeFailure(): boolean
  /** Asks for no more direct runs until the next rate. */
  rest(): void
  stop(): Promise<void>
}

export function createLoad({ runs, schedules }: Pick<Escapement, 'runs' | 'schedules'>): Load {
  let rate = 0
  let isOver = false
  let keys = 0
  let [unanswered, asked] = [0, 0]
  let failure: unknown
  const owed: Record<Direct, number> = { bulk: 0, single: 0, keyed: 0, flaky: 0, limited: 0 }

  const many = (job: string, count: number) =>
    runs.enqueueMany(
      job,
      Array.from({ length: count }, () => ({ input: INPUT })),
    )
  const one = (key?: string) => runs.enqueue('steady', INPUT, key === undefined ? {} : { key })
  const nextKey = () => {
    keys += 1
    return `order:${keys - Math.floor(keys / REPEAT_KEY_EVERY)}`
  }
  const ways: Record<Direct, (count: number) => Promise<{ created: boolean }[]>> = {
    bulk: (count) => many('steady', count),
    single: (count) => Promise.all(Array.from({ length: count }, () => one())),
    keyed: (count) => Promise.all(Array.from({ length: count }, () => one(nextKey()))),
    flaky: (count) => many('flaky', count),
    limited: (count) => many('limited', count),
  }

  async function ask(way: Direct, count: number): Promise<void> {
    unanswered += count
    try {
      const answers = await ways[way](count)
      asked += answers.filter(({ created }) => created).length
    } catch (error) {
      failure ??= error
    } finally {
      unanswered -= count
    }
  }

  async function beat(): Promise<void> {
    let before = performance.now()
    while (!isOver) {
      await sleep(BEAT_MS)
      const now = performance.now()
      for (const way of Object.keys(owed) as Direct[]) {
        owed[way] += (rate * SHARES[way] * (now - before)) / 1000
        const count = Math.floor(owed[way])
        owed[way] -= count
        if (count > 0) void ask(way, count)
      }
      before = now
    }
  }
  const beating = beat()

  return {
    async setRate(perSecond) {
      await schedules.sync(grids(perSecond * SHARES.scheduled), { source: 'soak', prune: true })
      rate = perSecond
    },
    unanswered: () => unanswered,
    asked() {
      if (failure) throw failure
      return asked
    },
    takeFailure() {
      const hasFailed = failure !== undefined
      failure = undefined
      return hasFailed
    },
    rest() {
      rate = 0
    },
    async stop() {
      isOver = true
      await beating
      while (unanswered > 0 && !failure) await sleep(BEAT_MS)
    },
  }
}

/** As many schedules as make so many occurrences in a second, with their seconds spread evenly. */
function grids(perSecond: number) {
  const count = Math.round(perSecond * GRID_SECONDS)
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const second = String(n % GRID_SECONDS).padStart(2, '0')
      const timing = every(`${GRID_SECONDS} seconds`, { anchor: `2026-01-01T00:00:${second}Z` })
      return [`tenant:${n}`, { job: 'steady', input: INPUT, timing }]
    }),
  )
}
