import { expect, it, vi } from 'vitest'
import { compileTiming, cron, type Timing } from '../time/timing.js'
import { boundsOf, countAhead } from './bounds.js'

const CREATED = Date.parse('2026-03-01T00:00:30Z')
const fields = (timing: Timing, limit: number) => ({ timing, startAt: null, endAt: null, limit })

/** How many plan times are computed meanwhile. */
async function computedDuring(timing: Timing, work: () => unknown): Promise<number> {
  const next = vi.spyOn(compileTiming(timing), 'next')
  await work()
  const { length } = next.mock.calls
  next.mockRestore()
  return length
}

it('a limit that was counted ahead is not counted again, also for a creation a little later', async () => {
  const timing = cron('* * * * *', { zone: 'Europe/Paris' })
  const content = fields(timing, 60_000)
  let rests = 0
  const rest = async () => {
    rests += 1
  }
  expect(await computedDuring(timing, () => countAhead(content, CREATED, rest))).toBe(60_000)
  expect(rests).toBeGreaterThan(100)
  expect(await computedDuring(timing, () => countAhead(content, CREATED, rest))).toBe(0)
  expect(await computedDuring(timing, () => boundsOf(content, CREATED))).toBe(0)
  expect(await computedDuring(timing, () => boundsOf(content, CREATED + 150_000))).toBeLessThan(20)
  for (const createdAt of [CREATED, CREATED + 150_000, CREATED + 29_999, CREATED + 30_000]) {
    const [last] = compileTiming(timing).between(createdAt, Number.MAX_SAFE_INTEGER, 60_000).slice(-1)
    expect(boundsOf(content, createdAt).untilAt).toBe(last! + 1)
  }
})

it('a limit that was counted for another time is counted anew', () => {
  const content = fields(cron('*/5 * * * *', { zone: 'Europe/Paris' }), 2_000)
  const year = 365 * 86_400_000
  for (const createdAt of [CREATED, CREATED + year, CREATED - year]) {
    const [last] = compileTiming(content.timing).between(createdAt, Number.MAX_SAFE_INTEGER, 2_000).slice(-1)
    expect(boundsOf(content, createdAt).untilAt).toBe(last! + 1)
  }
})

it('an end that comes before the limit is reached stays the end', () => {
  const timing = cron('*/7 * * * *', { zone: 'Europe/Paris' })
  const content = { ...fields(timing, 1_000), endAt: '2026-03-02T00:00:00.000Z' }
  for (const later of [0, 60_000, 3_600_000]) {
    expect(boundsOf(content, CREATED + later).untilAt).toBe(Date.parse('2026-03-02T00:00:00Z'))
  }
})
