import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

async function open() {
  const h = await openHarness({ at: '2026-03-01T09:30:00Z' })
  h.job('noop', { handler: () => {} })
  /** How many runs there are, and how many transactions made them. */
  const made = async () =>
    (
      await h.escapement.database.query(
        `select count(*) as runs, count(distinct xmin::text) as transactions from "${h.schema}".runs_asked`,
      )
    )[0]
  return { h, made }
}

describe('more runs than one transaction makes', () => {
  it('are made by several ticks, and hold up no other schedule', async () => {
    const { h, made } = await open()
    const scopes = Array.from({ length: 7_000 }, (_, index) => `tenant-${index}`)
    h.job('tenants', { scopes: () => scopes, handler: () => {} })
    const worker = { queue: 'nobody' }
    for (const name of ['a', 'b', 'c', 'd']) {
      await h.schedules.put(name, { job: 'tenants', timing: every('1 hour'), ...worker })
    }
    await h.schedules.put('other', { job: 'noop', timing: every('1 hour'), ...worker })
    await h.advance('30 minutes')
    expect(await made()).toEqual({ runs: 28_001, transactions: 2 })
    expect(await h.escapement.doctor()).toEqual([])
  }, 60_000)

  it('are made by several transactions before a verb that settles them', async () => {
    const { h, made } = await open()
    const secondly = { job: 'noop', timing: every('1 second'), catchUp: 'all', group: 'g' } as const
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    await h.schedules.sync(Object.fromEntries(names.map((name) => [name, secondly])))
    h.jump('1 hour')
    expect(await h.schedules.pauseGroup('g')).toBe(7)
    const { runs, transactions } = (await made()) as { runs: number; transactions: number }
    expect(runs).toBe(7 * 3_601)
    expect(transactions).toBeGreaterThan(1)
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  }, 60_000)
})
