import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { coalesce } from './coalesce.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('gives on what it has gathered soon, and then at most so often', () => {
  const given: string[][] = []
  const coalescer = coalesce<string>((words) => given.push([...words]), { soonMs: 100, everyMs: 1_000 })
  coalescer.add(['runs', 'stats'])
  coalescer.add(['runs'])
  expect(given).toEqual([])
  vi.advanceTimersByTime(100)
  expect(given).toEqual([['runs', 'stats']])
  coalescer.add(['queues'])
  vi.advanceTimersByTime(999)
  expect(given).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(given[1]).toEqual(['queues'])
})

it('is as quick as at first after it has rested', () => {
  const flush = vi.fn()
  const coalescer = coalesce<string>(flush, { soonMs: 100, everyMs: 1_000 })
  coalescer.add(['a'])
  vi.advanceTimersByTime(5_000)
  coalescer.add(['b'])
  vi.advanceTimersByTime(100)
  expect(flush).toHaveBeenCalledTimes(2)
})

it('gives nothing after it was stopped', () => {
  const flush = vi.fn()
  const coalescer = coalesce<string>(flush, { soonMs: 100, everyMs: 1_000 })
  coalescer.add(['a'])
  coalescer.stop()
  vi.advanceTimersByTime(5_000)
  expect(flush).not.toHaveBeenCalled()
})
