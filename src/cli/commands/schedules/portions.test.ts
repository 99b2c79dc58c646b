import { describe, expect, it } from 'vitest'
import { EscapementError } from '../../../errors.js'
import { findPortions, type Range } from './portions.js'

const SECOND = 1_000

/** A schedule that skipped every second, in so many scopes, and an API that takes 10,000 runs at once. */
const skipping =
  (scopes: number) =>
  async ({ from, to }: Range) => {
    const count = Math.ceil(to / SECOND) - Math.ceil(from / SECOND)
    if (count * scopes > 10_000) throw new EscapementError('range_too_large', { message: 'too many' })
    const first = Math.ceil(from / SECOND)
    return {
      planTimes: Array.from({ length: count }, (_, index) =>
        new Date((first + index) * SECOND).toISOString(),
      ),
      runIds: Array.from({ length: count * scopes }, String),
    }
  }

const isGapless = (portions: Range[]) =>
  portions.every(({ from }, index) => index === 0 || portions[index - 1]!.to >= from)

describe('a backfill in portions', () => {
  it('goes through a range that is too large for one call, oldest first, and leaves nothing out', async () => {
    const portions = await findPortions({ from: 0, to: 25_000 * SECOND }, skipping(1))
    expect(portions[0]).toEqual({ from: 0, to: 1_000 * SECOND })
    expect(portions.at(-1)!.to).toBe(25_000 * SECOND)
    expect(isGapless(portions)).toBe(true)
  })

  it('counts runs, of which a plan time has one for each scope', async () => {
    const portions = await findPortions({ from: 0, to: 12 * SECOND }, skipping(300))
    expect(portions.map(({ to }) => to / SECOND)).toEqual([3, 6, 9, 12])
    expect(await findPortions({ from: 0, to: 2 * SECOND }, skipping(5_000))).toHaveLength(2)
  })

  it('has none where nothing was skipped, and passes on what is wrong', async () => {
    expect(await findPortions({ from: 1, to: 1 }, skipping(1))).toEqual([])
    await expect(findPortions({ from: 0, to: 1 }, skipping(20_000))).rejects.toThrow('too many')
  })
})
