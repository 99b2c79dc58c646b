import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Store } from '../store/store.js'
import { createWorkerCalls } from './worker-calls.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function open(kind = 'postgres') {
  /** The channels that those who made runs were given, and what was sent beside them. */
  const told: unknown[] = []
  const query = async (_: string, params: unknown[]) => {
    told.push(params)
    return []
  }
  const calls = createWorkerCalls({ database: { kind }, channel: 'workers', query } as unknown as Store)
  const make = (news = true, ms = 0) =>
    calls.around(
      async (channel) => {
        told.push(channel)
        await vi.advanceTimersByTimeAsync(ms)
        return news
      },
      (made) => made,
    )
  return { calls, told, make }
}

it('the first tells workers in its own transaction, and those within a moment are told of together', async () => {
  const { told, make } = open()
  for (let run = 0; run < 4; run++) await make(true, 1)
  expect(told).toEqual(['workers', null, null, null])
  await vi.advanceTimersByTimeAsync(1)
  expect(told.slice(4)).toEqual([['workers', 'runs']])
  await make()
  await vi.advanceTimersByTimeAsync(5)
  expect(told.slice(5)).toEqual([null, ['workers', 'runs']])
  await vi.advanceTimersByTimeAsync(5)
  await make()
  expect(told.slice(7)).toEqual(['workers'])
})

it('of nothing new nobody is told', async () => {
  const { told, make } = open()
  await make()
  await make(false)
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['workers', null])
})

it('what is still to be told is told at the end', async () => {
  const { calls, told, make } = open()
  await make()
  await make()
  await calls.close()
  expect(told).toEqual(['workers', null, ['workers', 'runs']])
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toHaveLength(3)
})

it('inside the process each tells in its own transaction', async () => {
  const { told, make } = open('pglite')
  for (let run = 0; run < 3; run++) await make()
  expect(told).toEqual(['workers', 'workers', 'workers'])
})
