import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { databaseClock } from '../clock.js'
import { silentLogger } from '../logger.js'
import type { Store } from '../store/store.js'
import { Interrupt } from './interrupt.js'
import { createLeaseKeeper } from './lease-keeper.js'

const LEASE_MS = 6_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A keeper of one lease, and what becomes of its renewals: when each was asked, and what answers it. */
function keep(answer: (asked: number) => Promise<void>) {
  const lease = { runId: randomUUID(), lotId: null, leaseToken: randomUUID(), leaseMs: LEASE_MS }
  const beganMs = Date.now()
  const askedAtMs: number[] = []
  const query = async () => {
    askedAtMs.push(Date.now() - beganMs)
    await answer(askedAtMs.length)
    return [{ id: lease.runId, lease_token: lease.leaseToken }]
  }
  const keeper = createLeaseKeeper(
    { query, now: () => null } as unknown as Store,
    databaseClock,
    silentLogger,
    () => {},
  )
  keeper.hold(lease, new Interrupt())
  return { keeper, askedAtMs }
}

const never = () => new Promise<void>(() => {})

it('a check that comes during a renewal renews once more after it', async () => {
  let finish = () => {}
  const { keeper, askedAtMs } = keep(
    (asked) =>
      new Promise((resolve) => {
        if (asked > 1) return resolve()
        finish = resolve
      }),
  )
  void keeper.renew()
  const checks = [keeper.renew(), keeper.renew()]
  expect(askedAtMs).toHaveLength(1)
  finish()
  expect(await Promise.all(checks)).toEqual([true, true])
  expect(askedAtMs).toHaveLength(2)
  keeper.stop()
})

it('a renewal that gets no answer is followed by another in time to keep the lease', async () => {
  const { keeper, askedAtMs } = keep((asked) => (asked === 1 ? never() : Promise.resolve()))
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
  expect(askedAtMs[0]).toBe(LEASE_MS / 3)
  expect(askedAtMs[1]).toBeLessThan((LEASE_MS * 2) / 3)
  keeper.stop()
})

it('a renewal that failed is tried again at once, and again until it is heard', async () => {
  let isAway = true
  const { keeper, askedAtMs } = keep(async () => {
    if (isAway) throw new Error('the database is away')
  })
  await vi.advanceTimersByTimeAsync(LEASE_MS / 3 + 500)
  expect(askedAtMs.length).toBeGreaterThan(2)
  isAway = false
  await vi.advanceTimersByTimeAsync(1_000)
  const tried = askedAtMs.length
  // Until the next turn there is nothing more to do.
  await vi.advanceTimersByTimeAsync(499)
  expect(askedAtMs).toHaveLength(tried)
  keeper.stop()
})

it('renewals that get no answer do not take every connection', async () => {
  const { keeper, askedAtMs } = keep(never)
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
  expect(askedAtMs).toHaveLength(2)
  keeper.stop()
})
