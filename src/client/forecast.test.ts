import { expect, it } from 'vitest'
import type { Store } from '../store/store.js'
import { every } from '../time/timing.js'
import { forecast } from './forecast.js'

const FROM = Date.parse('2026-03-01T00:00:00Z')
const DAY = 86_400_000

/** Answers at once, so that nothing but the counting can let others have their turn. */
const store = {
  query: async () => [
    {
      timing: every('1 second'),
      until_at: null,
      begins_at: new Date(FROM),
      queue: 'default',
      group: null,
      runs: 2,
    },
  ],
  now: () => null,
} as unknown as Store

it('a forecast lets others have their turn while it counts', async () => {
  let turns = 0
  let isCounting = true
  const turn = () => {
    turns += 1
    if (isCounting) setImmediate(turn)
  }
  setImmediate(turn)
  const counted = await forecast(store, { from: FROM, to: FROM + 10 * DAY, bucketMs: 10 * DAY })
  isCounting = false
  expect(counted).toMatchObject([{ runs: 2 * 864_000 }])
  expect(turns).toBeGreaterThan(0)
})
