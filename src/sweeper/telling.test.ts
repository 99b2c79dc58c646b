import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { databaseClock as clock } from '../clock.js'
import { createEventBus } from '../events/bus.js'
import { silentLogger } from '../logger.js'
import type { Transaction } from '../store/database.js'
import type { TransitionChange } from '../transitions/change.js'
import { HookFailure, tellChanges, tellInTransaction } from './telling.js'

const change = {
  table: 'posts',
  key: { id: 1 },
  field: 'publish_at',
  action: 'set',
} as unknown as TransitionChange
const never = () => new Promise<never>(() => {})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a hook in the transaction', () => {
  const later = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms))
  const tx = { query: () => later(8_000, []) } as unknown as Transaction

  it('that is silent for five seconds is given up on, as the server gives its transaction up', async () => {
    const told = tellInTransaction({ clock, hooks: [{ inTransaction: never }] }, tx, [change])
    const failed = expect(told).rejects.toMatchObject({
      message: 'inTransaction: nothing was heard of it for 5 seconds',
      isCutOff: true,
    })
    await vi.advanceTimersByTimeAsync(5_000)
    await failed
  })

  it('may take longer with statements in between, and leaves no timer behind', async () => {
    const told = tellInTransaction(
      {
        clock,
        hooks: [
          {
            async inTransaction(given) {
              await Promise.all([given.query('select 1'), given.query('select 2')])
              await later(4_000, null)
              await given.query('select 3')
            },
          },
        ],
      },
      tx,
      [change],
    )
    await vi.advanceTimersByTimeAsync(20_000)
    await told
    expect(vi.getTimerCount()).toBe(0)
  })

  it('that the server cuts off may do with fewer rows; one that throws may not', async () => {
    const tell = (error: Error) =>
      tellInTransaction({ clock, hooks: [{ inTransaction: () => Promise.reject(error) }] }, tx, [
        change,
      ]).catch((failure: unknown) => failure instanceof HookFailure && failure.isCutOff)
    expect(await tell(Object.assign(new Error('canceled'), { code: '57014' }))).toBe(true)
    expect(await tell(new Error('Client has encountered a connection error and is not queryable'))).toBe(true)
    expect(await tell(new Error('the outbox is full'))).toBe(false)
  })
})

describe('a hook after the commit', () => {
  it('that does not come back is named and given up on once, and still hears of the other changes', async () => {
    const lines: unknown[] = []
    const heard: string[] = []
    const logger = { ...silentLogger, error: (fields: object) => void lines.push(fields) }
    const told = tellChanges([change, { ...change, key: { id: 2 } }], {
      clock,
      bus: createEventBus(silentLogger),
      logger,
      onTold: () => {},
      hooks: [
        {
          onApplied({ key }) {
            heard.push(`applied ${key.id}`)
            return never()
          },
          onSet: (_, key) => void heard.push(`set ${key.id}`),
        },
      ],
    })
    await vi.advanceTimersByTimeAsync(29_999)
    expect(heard).toEqual(['applied 1'])
    await vi.advanceTimersByTimeAsync(1)
    await told
    expect(heard).toEqual(['applied 1', 'set 1', 'applied 2', 'set 2'])
    expect(lines).toEqual([{ table: 'posts', key: { id: 1 }, field: 'publish_at', hook: 'onApplied' }])
    expect(vi.getTimerCount()).toBe(0)
  })
})
