import { describe, expect, it } from 'vitest'
import { handingOver } from './handing-over.js'

const ENDLESS = 1_000_000

describe('handing over', () => {
  it('gives the next only when the last was taken and another is asked for', async () => {
    const log: string[] = []
    const items = handingOver<number>(async (give) => {
      for (const item of [1, 2]) {
        await give(item)
        log.push(`${item} was taken`)
      }
    }, ENDLESS)
    log.push(`got ${(await items.next()).value}`)
    log.push(`got ${(await items.next()).value}`)
    expect((await items.next()).done).toBe(true)
    expect(log).toEqual(['got 1', '1 was taken', 'got 2', '2 was taken'])
  })

  it('tells whoever gives that the taker has gone, and ends when they have ended', async () => {
    let end = ''
    const items = handingOver<number>(async (give) => {
      await give(1)
        .then(() => give(2))
        .catch((error) => {
          end = error.code
        })
    }, ENDLESS)
    await items.next()
    await items.return()
    expect(end).toBe('cancelled')
  })

  it('loses patience with a taker that does not come back', async () => {
    let refused = (_: string) => {}
    const heard = new Promise<string>((resolve) => {
      refused = resolve
    })
    const items = handingOver<number>(async (give) => {
      await give(1).catch((error) => {
        refused(error.code)
        throw error
      })
    }, 1)
    await items.next()
    expect(await heard).toBe('timed_out')
    await expect(items.next()).rejects.toMatchObject({ code: 'timed_out' })
  })

  it('passes on what goes wrong', async () => {
    const items = handingOver<number>(async (give) => {
      await give(1)
      throw new Error('on purpose')
    }, ENDLESS)
    await items.next()
    await expect(items.next()).rejects.toThrow('on purpose')
  })
})
