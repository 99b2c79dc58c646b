import { describe, expect, it } from 'vitest'
import { createGatherer } from './gather.js'

class Refused extends Error {}

/** Writes batches only when told to, and refuses those that hold `bad`. */
function open(bad?: string) {
  const batches: string[][] = []
  const gates: (() => void)[] = []
  const gatherer = createGatherer<string, string>({
    async writeBatch(items) {
      batches.push([...items])
      await new Promise<void>((resolve) => gates.push(resolve))
      if (bad !== undefined && items.includes(bad)) throw new Refused(bad)
      return items.map((item) => item.toUpperCase())
    },
    isDivisible: (error) => error instanceof Refused,
    largestBatch: 4,
  })
  /** Lets batches through until nothing is left to write. */
  async function drain() {
    let done = false
    const idle = gatherer.idle().then(() => {
      done = true
    })
    while (!done) {
      gates.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await idle
  }
  return { gatherer, batches, drain }
}

describe('gathering', () => {
  it('sends together what comes together, and what comes meanwhile, in the order in which it came', async () => {
    const { gatherer, batches, drain } = open()
    const moment = () => new Promise((resolve) => setImmediate(resolve))
    const first = ['a', 'b'].map((item) => gatherer.write(item))
    await moment()
    expect(batches).toEqual([['a', 'b']])
    const results = Promise.all([...first, ...['c', 'd', 'e', 'f', 'g'].map((item) => gatherer.write(item))])
    await drain()
    expect(batches).toEqual([['a', 'b'], ['c', 'd', 'e', 'f'], ['g']])
    expect(await results).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G'])
  })

  it('begins again after it was idle', async () => {
    const { gatherer, batches, drain } = open()
    const first = gatherer.write('a')
    await drain()
    const second = gatherer.write('b')
    await drain()
    expect([await first, await second, batches]).toEqual(['A', 'B', [['a'], ['b']]])
  })

  it('halves a refused batch until only the one that is wrong gets the error', async () => {
    const { gatherer, batches, drain } = open('c')
    const results = Promise.allSettled(['b', 'c', 'd', 'e', 'a'].map((item) => gatherer.write(item)))
    await drain()
    // Whoever came later does not wait for it.
    expect(batches.slice(0, 3)).toEqual([['b', 'c', 'd', 'e'], ['a'], ['b', 'c']])
    expect(batches.slice(3)).toEqual([['b'], ['c'], ['d', 'e']])
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
  })

  it('tries nothing again where the error is nobody’s doing', async () => {
    let batches = 0
    const { write } = createGatherer<string, string>({
      async writeBatch() {
        batches += 1
        throw new Error('the connection is gone')
      },
      isDivisible: () => false,
    })
    const results = await Promise.allSettled(['a', 'b', 'c'].map(write))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(batches).toBe(1)
  })
})
