import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createSharedReading } from './shared-reading.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limits = { keepMs: 1_000, patienceMs: 2_000 }

it('is asked once by all who come while it is under way, and for as long as its answer is kept', async () => {
  let asked = 0
  const read = createSharedReading(async () => ++asked, limits)
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1])
  vi.advanceTimersByTime(999)
  expect(await read()).toBe(1)
  vi.advanceTimersByTime(1)
  expect(await read()).toBe(2)
})

it('is given up on by those who wait for too long, and not asked again before it has answered', async () => {
  let asked = 0
  let answer = (_: string) => {}
  const read = createSharedReading(() => {
    asked += 1
    return new Promise<string>((resolve) => {
      answer = resolve
    })
  }, limits)
  for (let turn = 0; turn < 3; turn++) {
    const refused = expect(read()).rejects.toThrow('has not answered within 2 s')
    await vi.advanceTimersByTimeAsync(2_000)
    await refused
  }
  expect(asked).toBe(1)
  answer('late')
  expect(await read()).toBe('late')
})

it('that failed is kept as well', async () => {
  let asked = 0
  const read = createSharedReading(async () => {
    asked += 1
    throw new Error('refused')
  }, limits)
  await expect(read()).rejects.toThrow('refused')
  await expect(read()).rejects.toThrow('refused')
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(1_000)
  await expect(read()).rejects.toThrow('refused')
  expect(asked).toBe(2)
})
