import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sharedRead } from './shared-read.js'

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A read that takes so long, and numbers its answers. */
function counting(takesMs: number, now: () => Date | null = () => null) {
  let reads = 0
  const read = async () => {
    reads += 1
    const number = reads
    await wait(takesMs)
    return number
  }
  const ask = sharedRead({ query: async () => [], now }, read)
  const answer = async () => {
    const asked = ask()
    await vi.advanceTimersByTimeAsync(takesMs)
    return asked
  }
  return { ask, answer }
}

describe('a read that callers share', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('is one for all who ask at the same time', async () => {
    const { ask } = counting(10)
    const both = Promise.all([ask(), ask()])
    await vi.advanceTimersByTimeAsync(10)
    expect(await both).toEqual([1, 1])
  })

  it('is made anew for each where it takes a moment', async () => {
    const { answer } = counting(10)
    expect([await answer(), await answer()]).toEqual([1, 2])
  })

  it.each([
    [200, 1_800],
    [2_000, 5_000],
  ])('is given again where it takes long: one of %i ms for %i ms', async (takesMs, keptMs) => {
    const { ask, answer } = counting(takesMs)
    expect(await answer()).toBe(1)
    await vi.advanceTimersByTimeAsync(keptMs - 1)
    expect(await ask()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await answer()).toBe(2)
  })

  it('is made anew once the clock was moved', async () => {
    let now = 0
    const { answer } = counting(200, () => new Date(now))
    expect(await answer()).toBe(1)
    now = 1
    expect(await answer()).toBe(2)
  })

  it('is not kept where it failed', async () => {
    let isBroken = true
    const ask = sharedRead({ query: async () => [], now: () => null }, async () => {
      await wait(200)
      if (isBroken) throw new Error('broken')
      return 'mended'
    })
    const failed = expect(ask()).rejects.toThrow('broken')
    await vi.advanceTimersByTimeAsync(200)
    await failed
    isBroken = false
    const asked = ask()
    await vi.advanceTimersByTimeAsync(200)
    expect(await asked).toBe('mended')
  })
})
