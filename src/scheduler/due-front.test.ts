import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Store } from '../store/store.js'
import { createDueFront } from './due-front.js'

/** What the database has: cursors that wait, in order, and how long a look takes that walks over all that was taken before `litteredTo`. */
let cursors: number[]
let now: number
let walkMs: number
let litteredTo: number
let failure: Error | undefined
let looks: (number | 'whole')[]
/** By the clock that nobody sets. */
let passedMs: number

beforeEach(() => {
  cursors = []
  now = 1_000_000
  walkMs = 600
  litteredTo = now
  failure = undefined
  looks = []
  passedMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => passedMs)
  return () => void vi.restoreAllMocks()
})

function pass(ms: number): void {
  passedMs += ms
  now += ms
}

async function query(_text: string, params: readonly unknown[]): Promise<unknown[]> {
  // The clock alone is asked for after a look was cut off.
  if (params.length < 4) return [{ now: new Date(now) }]
  const since = params[3] instanceof Date ? params[3].getTime() : Number.NEGATIVE_INFINITY
  looks.push(since === Number.NEGATIVE_INFINITY ? 'whole' : since)
  if (failure) {
    pass(14_000)
    throw failure
  }
  const first = cursors.find((at) => at >= since)
  const isWalk = since === Number.NEGATIVE_INFINITY && (first === undefined || first >= litteredTo)
  pass(isWalk ? walkMs : 1)
  return [{ wake_at: first === undefined ? null : new Date(first), now: new Date(now) }]
}

function open({ onFurther = () => {} } = {}) {
  const store = { query, now: () => null, database: { kind: 'postgres' } } as unknown as Store
  const warnings: string[] = []
  const logger = { warn: (_: unknown, text: string) => void warnings.push(text) }
  const front = createDueFront(store, logger as never, { onFurther })
  const look = () => front.msUntilWake({ kinds: [], providers: [] })
  /** It takes some, the last of them due since then, or nothing. One that comes to the end of what is due walks over all litter. */
  const tick = ({ taken = null, isAll = true }: { taken?: number | null; isAll?: boolean }) => {
    const since = front.since()
    const ms = since === null && isAll ? walkMs : 1
    pass(ms)
    front.looked({ since, ms, count: taken === null ? 0 : 1, newest: taken, isAll })
    return since
  }
  return { front, look, tick, warnings }
}

const TIMEOUT = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })

describe('where a scheduler looks for what is due', () => {
  it('is the beginning, while looks at all of it are quick', async () => {
    walkMs = 5
    const { front, look, tick } = open()
    for (let n = 0; n < 5; n++) {
      await look()
      expect(tick({ taken: now })).toBe(null)
    }
    expect(front.since()).toBe(null)
    expect(looks).toEqual(Array(5).fill('whole'))
  })

  it('is behind after one very slow look, although nothing was taken', async () => {
    cursors = [1_000_900]
    const { front, look, tick } = open()
    expect(await look()).toBe(300)
    // Nothing woke when the look began.
    expect(front.since()).toBe(999_000)
    expect(tick({})).toBe(999_000)
    expect(await look()).toBe(298)
    expect(looks).toEqual(['whole', 990_000])
    await look()
    expect(looks.at(-1)).toBe(999_601)
  })

  it('is what was taken, until more is known', async () => {
    cursors = [1_000_500]
    const { front, look, tick } = open()
    expect(await look()).toBe(0)
    expect(tick({ taken: 1_000_500, isAll: false })).toBe(999_000)
    expect(front.since()).toBe(999_500)
    front.reached(1_000_700)
    front.reached(1_000_600)
    expect(front.since()).toBe(999_700)
  })

  it('is not the place of what somebody else holds, once all others are taken, but for some seconds', async () => {
    const { front, look, tick } = open()
    await look()
    cursors = [now]
    const held = now
    const seen: (number | null)[] = []
    for (let n = 0; n < 30; n++) {
      pass(500)
      await look()
      seen.push(tick({}))
    }
    // From there at first, and again each second for some time.
    expect(seen.filter((since) => since === held - 1_000).length).toBeGreaterThan(5)
    expect(seen.slice(-5).every((since) => since! > held + 2_000)).toBe(true)
    cursors = [now + 250]
    await look()
    expect(front.since()).toBeGreaterThan(held)
  })

  it('is further in front for what was committed late, within a second', async () => {
    const { front, look, tick } = open()
    await look()
    for (let n = 0; n < 3; n++) {
      pass(400)
      await look()
      tick({ taken: now })
    }
    cursors = [now - 8_000]
    const late = cursors[0]!
    for (let n = 0; n < 3 && (await look()) > 0; n++) pass(400)
    expect(front.since()).toBeLessThan(late)
  })

  it('is further in front for what was passed over, once somebody has said its scopes', async () => {
    const { front, look, tick } = open()
    await look()
    const passed = now
    // Whoever is asked is left out of looks meanwhile.
    for (let n = 0; n < 10; n++) {
      pass(500)
      await look()
      tick({ taken: now })
    }
    await look()
    cursors = [passed]
    front.lookDeep()
    expect(await look()).toBe(0)
    expect(front.since()).toBe(passed - 1_000)
  })

  it('is further in front for what a scheduler died with that has caught up, however long ago that was due', async () => {
    const { front, look, tick } = open()
    await look()
    const held = now
    cursors = [held]
    pass(100)
    await look()
    for (let n = 1; n < 10; n++) tick({ taken: held + 20_000 * n, isAll: false })
    expect(front.since()).toBe(held + 179_000)
    pass(1_000)
    expect(await look()).toBe(0)
    expect(front.since()).toBe(held - 1_000)
  })

  it('is the beginning once, where a look beside the ticks finds something there', async () => {
    let told = 0
    const { front, look, tick } = open({ onFurther: () => void told++ })
    await look()
    cursors = [5_000]
    pass(5_000)
    await look()
    await front.settled()
    expect([told, await look(), front.since()]).toEqual([1, 0, null])
    // There are more than it takes.
    expect(tick({ taken: 5_000, isAll: false })).toBe(null)
    expect(tick({ taken: 7_000 })).toBe(4_000)
    cursors = []
    await look()
    expect(front.since()).toBeGreaterThan(1_000_000)
    const before = looks.length
    pass(20_000)
    await look()
    await front.settled()
    expect(looks.slice(before)).not.toContain('whole')
  })

  it('is the beginning for good when a look beside the ticks is quick, and found nothing', async () => {
    const { front, look } = open()
    await look()
    litteredTo = walkMs = 1
    pass(5_000)
    await look()
    await front.settled()
    expect(front.since()).toBe(null)
  })

  it('is what comes due from now on after a look that was cut off, wherever it began', async () => {
    const { front, look } = open()
    failure = TIMEOUT
    await expect(look()).rejects.toThrow(TIMEOUT)
    expect(front.since()).toBe(999_000)
    failure = undefined
    await look()
    expect(looks).toEqual(['whole', 990_000])
    failure = TIMEOUT
    const before = now
    pass(2_000)
    await expect(look()).rejects.toThrow(TIMEOUT)
    expect(front.since()).toBe(before + 1_000)
  })

  it('is that also after a tick that was cut off with a single schedule', async () => {
    const { front, look } = open()
    cursors = [5_000]
    await look()
    expect(front.since()).toBe(null)
    await front.cutOff({ since: null, ms: 14_000 })
    expect(front.since()).toBe(now - 15_000)
  })

  it('is known still when a look at all of it fails, which is told and not repeated at once', async () => {
    const { front, look, warnings } = open()
    await look()
    const since = front.since()
    pass(5_000)
    failure = new Error('away')
    await expect(look()).rejects.toThrow('away')
    await front.settled()
    expect([warnings.length, front.since()]).toEqual([1, since])
    failure = undefined
    const before = looks.length
    for (let n = 0; n < 3; n++) await look()
    expect(looks.slice(before)).not.toContain('whole')
    pass(5_000)
    await look()
    await front.settled()
    expect(looks.slice(before)).toContain('whole')
  })
})
