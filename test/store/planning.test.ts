import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { planOccurrences } from '../../src/schedules/plan.js'
import { lockDueSchedules, recordPlans } from '../../src/store/queries/planning.js'
import { toPlannable } from '../../src/store/rows.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

/** A due schedule as a tick has read it, and the plan that it made. */
async function plannedTick() {
  const at = Date.parse('2026-03-01T00:00:00Z')
  const h = await openHarness({ at })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', timing: every('1 minute') })
  const store = createStore(await sharedDatabase(), h.schema, createManualClock(at))
  const { due, now } = await lockDueSchedules(store, 10)
  const planned = due.map((schedule) => ({ schedule, plan: planOccurrences(toPlannable(schedule), now!) }))
  return { h, store, planned }
}

describe('recordPlans', () => {
  it('records the same plan once, however often it is written', async () => {
    const { h, store, planned } = await plannedTick()
    expect(await recordPlans(store, planned, store.channel)).toHaveLength(1)
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
  })

  it('writes nothing for a schedule that was edited after it was read', async () => {
    const { h, store, planned } = await plannedTick()
    await h.schedules.put('s', { job: 'noop', timing: every('1 hour') })
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    // The edit has settled what was due under the old version.
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T01:00:00Z'))
  })

  it('creates no second run where the cursor was set back', async () => {
    const { h, store, planned } = await plannedTick()
    await recordPlans(store, planned, store.channel)
    await store.query(`update {schema}.schedules set next_at = $1, wake_at = $1`, [
      new Date('2026-03-01T00:00:00Z'),
    ])
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T00:01:00Z'))
  })
})
