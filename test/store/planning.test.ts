import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { planOccurrences } from '../../src/schedules/plan.js'
import { lockDueSchedules } from '../../src/store/queries/planning.js'
import { isOvertaken, recordDue, recordPlans } from '../../src/store/queries/recording.js'
import { toPlannable } from '../../src/store/rows.js'
import { createStore, instantAt, type Store } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../../src/time/instant.js'
import { TIMING_KINDS } from '../../src/time/timing.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

/** A due schedule as a tick has read it, and the plan that it made. */
async function plannedTick() {
  const at = Date.parse('2026-03-01T00:00:00Z')
  const h = await openHarness({ at })
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', timing: every('1 minute') })
  const store = createStore(await sharedDatabase(), h.schema, createManualClock(at))
  const { due, now } = await lockDueSchedules(store, { limit: 10, kinds: TIMING_KINDS, providers: [] })
  const planned = due.map((schedule) => {
    const plan = planOccurrences(toPlannable(schedule), now!)
    return { schedule, plan, wakeAt: plan.nextAt }
  })
  return { h, store, planned }
}

const told = ({ channel }: Store) => ({ channel, offered: null })

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

  it('writes nothing for a schedule that was paused after it was read', async () => {
    const { h, store, planned } = await plannedTick()
    await h.schedules.pause('s')
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    // What was due before the pause has met the state before it, once.
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
    expect(await h.schedules.get('s')).toMatchObject({ state: 'paused', nextAt: null })
  })

  it.each([
    ['version', 'version = version + 1'],
    ['cursor', `next_at = next_at + interval '1 minute'`],
  ])('writes nothing when only the %s is another', async (_, change) => {
    const { h, store, planned } = await plannedTick()
    await store.query(`update {schema}.cursors set ${change}`)
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    expect(await h.planTimes('s')).toEqual([])
  })

  it('creates no second run where the cursor was set back', async () => {
    const { h, store, planned } = await plannedTick()
    await recordPlans(store, planned, store.channel)
    await store.query(`update {schema}.cursors set next_at = $1, wake_at = $1`, [
      new Date('2026-03-01T00:00:00Z'),
    ])
    expect(await recordPlans(store, planned, store.channel)).toEqual([])
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T00:01:00Z'))
  })
})

describe('recordDue', () => {
  it('records what is as it was read', async () => {
    const { h, store, planned } = await plannedTick()
    expect((await recordDue(store, planned, told(store))).created).toHaveLength(1)
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z'])
  })

  it.each([
    ['the schedule was written again', `update {schema}.schedules set description = 'other'`],
    ['the cursor was written again', 'update {schema}.cursors set counted = counted'],
    ['the version is another', 'update {schema}.cursors set version = version + 1'],
  ])('says that it was overtaken where %s', async (_, change) => {
    const { h, store, planned } = await plannedTick()
    await store.query(change)
    await expect(store.transaction((session) => recordDue(session, planned, told(store)))).rejects.toSatisfy(
      isOvertaken,
    )
    expect(await h.planTimes('s')).toEqual([])
  })

  it('is repeated with more care by a tick that finds a run there already', async () => {
    const { h, store, planned } = await plannedTick()
    await recordDue(store, planned, told(store))
    await store.query(`update {schema}.cursors set next_at = $1, wake_at = $1`, [
      new Date('2026-03-01T00:00:00Z'),
    ])
    await h.advance('1 minute')
    expect(await h.planTimes('s')).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z'])
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T00:02:00Z'))
  })
})

it('takes instants to the database exactly, from the first to the last', async () => {
  const step = (LAST_INSTANT - FIRST_INSTANT) / 9_973
  const instants = Array.from({ length: 9_973 }, (_, n) => Math.round(FIRST_INSTANT + n * step))
  const rows = await (await sharedDatabase()).query<{ at: Date }>(
    `select ${instantAt('ms')} as at from unnest($1::float8[]) with ordinality as given (ms, n) order by n`,
    [[...instants, LAST_INSTANT]],
  )
  expect(rows.map(({ at }) => at.getTime())).toEqual([...instants, LAST_INSTANT])
})

describe('lockDueSchedules', () => {
  it('leaves timings of a kind that this program does not know to programs that do', async () => {
    const { h, store } = await plannedTick()
    await store.query(`update {schema}.cursors set kind = 'lunar'`)
    expect((await lockDueSchedules(store, { limit: 10, kinds: TIMING_KINDS, providers: [] })).due).toEqual([])
    await h.schedules.put('other', { job: 'noop', timing: every('1 minute') })
    await h.advance('0s')
    expect(await h.planTimes('other')).toHaveLength(1)
  })
})
