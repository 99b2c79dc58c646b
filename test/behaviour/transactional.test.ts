import { describe, expect, it, vi } from 'vitest'
import type { JobDefinition } from '../../src/index.js'
import type { Database } from '../../src/store/database.js'
import { alteredDatabase, target } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'

/** One transactional run, on a database whose long transactions are what the test makes of them. */
async function open(
  job: Partial<JobDefinition>,
  through: (begin: () => Promise<unknown>) => Promise<unknown> = (begin) => begin(),
  alter: (shared: Database) => Partial<Database> = () => ({}),
) {
  const database = await alteredDatabase((shared) => ({
    longTransaction: (work, limits) => through(() => shared.longTransaction(work, limits)) as never,
    ...alter(shared),
  }))
  const h = await openHarness({ at: AT, database })
  const told: string[] = []
  for (const state of ['succeeded', 'retrying', 'failed'] as const) {
    h.escapement.on(`run.${state}`, () => void told.push(state))
  }
  const handler = vi.fn()
  h.job('work', { retry: { attempts: 1 }, handler, ...job, transactional: true } as JobDefinition)
  const { id } = await h.runs.enqueue('work', null)
  return { h, id, handler, told, run: () => h.runs.get(id) }
}

/** All connections are taken until the test lets go of them. */
function occupied() {
  let letGo = () => {}
  const free = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const asked = { is: false, ended: Promise.resolve() as Promise<unknown> }
  const through = (begin: () => Promise<unknown>) => {
    asked.is = true
    asked.ended = free.then(begin)
    return asked.ended
  }
  return { through, asked, letGo: () => letGo() }
}

describe('a transactional run', () => {
  it('that finds no connection waits for one, and spends no attempt', async () => {
    let refusals = 0
    const { h, handler, run } = await open({}, async (begin) => {
      if (refusals++ === 0) throw new Error('timeout exceeded when trying to connect')
      return begin()
    })
    await h.advance('0s')
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('that still waits for one when the worker stops is given back and never begun, also with onStale: fail', async () => {
    const { through, asked, letGo } = occupied()
    const { h, handler, run } = await open({ onStale: 'fail' }, through)
    await h.escapement.start({ roles: ['worker'] })
    await expect.poll(() => asked.is).toBe(true)
    const stopped = h.escapement.stop()
    const moving = setInterval(() => h.jump('10 seconds'), 20)
    await stopped
    clearInterval(moving)
    expect(await run()).toMatchObject({ state: 'pending', attempt: 0 })
    letGo()
    await expect(asked.ended).rejects.toThrow()
    expect(handler).not.toHaveBeenCalled()
  })

  it('that is cancelled while it waits is not begun', async () => {
    const { through, asked, letGo } = occupied()
    let hear = () => {}
    const heard = new Promise<void>((resolve) => {
      hear = resolve
    })
    const { h, id, handler } = await open({}, through, (shared) => ({
      async query(text, params) {
        const rows = await shared.query(text, params)
        // By which the lease keeper tells what was cancelled from what was lost.
        if (text.includes(`r.state = 'cancelled'`)) setImmediate(hear)
        return rows as never
      },
    }))
    await h.escapement.start({ roles: ['worker'] })
    await expect.poll(() => asked.is).toBe(true)
    await h.runs.cancel(id)
    await heard
    letGo()
    await expect(asked.ended).rejects.toThrow()
    await h.escapement.stop()
    expect(handler).not.toHaveBeenCalled()
  })

  it('whose commit is done and not answered is told as what it is: succeeded', async () => {
    const { h, run, told } = await open({}, async (begin) => {
      await begin()
      throw new Error('Connection terminated unexpectedly')
    })
    await h.advance('0s')
    expect(told).toEqual(['succeeded'])
    expect(await run()).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it.each([
    ['its own timeout', '2 minutes', 120_000],
    ['by default 30 seconds where there is one session', undefined, target === 'pglite' ? 30_000 : 3_600_000],
  ])('has %s', async (_, timeout, ms) => {
    const { h } = await open({ handler: async () => {}, ...(timeout && { timeout }) })
    const timer = vi.spyOn(globalThis, 'setTimeout')
    await h.advance('0s')
    expect(timer.mock.calls.map(([, delay]) => delay)).toContain(ms)
    timer.mockRestore()
  })
})
