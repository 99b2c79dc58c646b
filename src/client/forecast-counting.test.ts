import { describe, expect, it } from 'vitest'
import type { ForecastGroup } from '../store/queries/forecasting.js'
import { every, type Timing } from '../time/index.js'
import { countRuns, evenlyThrough } from './forecast-counting.js'

const FROM = Date.parse('2026-03-01T00:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const ALL = Number.POSITIVE_INFINITY

function group(timing: Timing, runs: number): ForecastGroup {
  return { timing, until_at: null, begins_at: new Date(FROM), queue: 'default', group: null, runs }
}

describe('counting runs to come', () => {
  it('lets others have their turn while it counts', async () => {
    let turns = 0
    let isCounting = true
    const turn = () => {
      turns += 1
      if (isCounting) setImmediate(turn)
    }
    setImmediate(turn)
    const range = { from: FROM, to: FROM + 10 * DAY, bucketMs: 10 * DAY }
    const { buckets } = await countRuns([group(every('1 second'), 2)], range, { scale: 1, mostWork: ALL })
    isCounting = false
    expect(buckets).toMatchObject([{ runs: 2 * 864_000 }])
    expect(turns).toBeGreaterThan(0)
  })

  it('scales up what was read of a part', async () => {
    const range = { from: FROM, to: FROM + 2 * HOUR, bucketMs: HOUR }
    const hourly = group(every('1 hour'), 3)
    const counted = await countRuns([hourly], range, { scale: 83.3, mostWork: ALL })
    expect(counted).toMatchObject({ buckets: [{ runs: 250 }, { runs: 250 }], isWhole: true })
  })

  it('misses no herd when there is little time, and lets some of the others stand for the rest', async () => {
    const range = { from: FROM, to: FROM + DAY, bucketMs: HOUR }
    const at = (minute: number) => new Date(FROM + minute * 60_000).toISOString()
    const lone = Array.from({ length: 720 }, (_, index) =>
      group(every('1 day', { anchor: at(index * 2) }), 1),
    )
    const herd = group(every('1 day', { anchor: at(9 * 60 + 30) }), 5_000)
    const { buckets, isWhole } = await countRuns([...lone, herd], range, { scale: 1, mostWork: 20_000 })
    expect(isWhole).toBe(false)
    const runsAt = (hour: number) =>
      buckets.find(({ from }) => from.getTime() === FROM + hour * HOUR)?.runs ?? 0
    expect(runsAt(9)).toBeGreaterThanOrEqual(5_000)
    const others = buckets.reduce((sum, { runs }) => sum + runs, 0) - 5_000
    // One of two hundred more or less, by rounding in each hour.
    expect(Math.abs(others - 720)).toBeLessThan(24)
    expect(buckets).toHaveLength(24)
  })

  it('refuses an answer that nobody could hold', async () => {
    const range = { from: FROM, to: FROM + 100 * HOUR, bucketMs: 60_000 }
    const groups = Array.from({ length: 40 }, (_, index) => ({
      ...group(every('1 minute'), 1),
      group: `tenant-${index}`,
    }))
    await expect(countRuns(groups, range, { scale: 1, mostWork: ALL })).rejects.toMatchObject({
      code: 'range_too_large',
      message: expect.stringMatching(/^by: .*more than 200000 entries/),
    })
  })
})

it.each([0, 1, 2, 3, 10, 97, 1_000])('goes through %d places once each', (count) => {
  const visited = [...evenlyThrough(count)]
  expect(visited.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
})

it('has the first places lie evenly among all', () => {
  const first = [...evenlyThrough(1_000)].slice(0, 100).map((place) => Math.floor(place / 100))
  for (let tenth = 0; tenth < 10; tenth++) {
    const inside = first.filter((each) => each === tenth).length
    expect(inside).toBeGreaterThanOrEqual(5)
    expect(inside).toBeLessThanOrEqual(15)
  }
})
