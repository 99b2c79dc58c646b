import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { planHerd } from '../../src/scheduler/herd.js'
import { lockDueHerds, recordHerds } from '../../src/store/queries/herds.js'
import { readLocked } from '../../src/store/queries/planning.js'
import { isOvertaken } from '../../src/store/queries/recording.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { TIMING_KINDS } from '../../src/time/timing.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const LIMITS = { limit: 10, kinds: TIMING_KINDS, providers: [] }

/** Due schedules as a tick has read them, and the plans that it made. */
async function plannedHerds() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const [minutely, hourly] = [every('1 minute'), every('1 hour')]
  await h.schedules.sync({
    a: { job: 'noop', timing: minutely },
    b: { job: 'noop', timing: minutely },
    c: { job: 'noop', timing: hourly },
  })
  const store = createStore(await sharedDatabase(), h.schema, createManualClock(AT))
  const { herds, now } = await lockDueHerds(store, LIMITS)
  const planned = herds.map((herd) => planHerd(herd, now!, ZONE_DATA)!)
  const record = () => store.transaction((session) => recordHerds(session, planned, store.channel))
  const planTimes = async () => Promise.all(['a', 'b', 'c'].map((name) => h.planTimes(name)))
  return { h, store, herds, planned, record, planTimes }
}

describe('herds', () => {
  it('are of schedules that are alike', async () => {
    const { herds } = await plannedHerds()
    expect(herds.map(({ names }) => [...names].sort())).toEqual(expect.arrayContaining([['a', 'b'], ['c']]))
    expect(herds).toHaveLength(2)
  })

  it('are recorded where they are as they were read', async () => {
    const { record, planTimes, store } = await plannedHerds()
    await record()
    const once = ['2026-03-01T00:00:00.000Z']
    expect(await planTimes()).toEqual([once, once, once])
    expect(await lockDueHerds(store, LIMITS)).toEqual({ herds: [], newest: null, now: null })
  })

  it.each([
    ['a schedule was written again', `update {schema}.schedules set description = 'other' where name = 'b'`],
    ['a cursor was written again', 'update {schema}.cursors set counted = counted'],
    ['a version is another', 'update {schema}.cursors set version = version + 1'],
  ])('are not recorded, none of them, where %s', async (_, change) => {
    const { h, store, record, planTimes } = await plannedHerds()
    await store.query(change)
    await expect(record()).rejects.toSatisfy(isOvertaken)
    expect(await planTimes()).toEqual([[], [], []])
    expect(await store.query('select id from {schema}.lots')).toEqual([])
    // The tick that follows leaves nobody out but whose cursor is damaged.
    await h.advance('0s')
    const [a] = await planTimes()
    expect(a).toHaveLength(change.includes('version') ? 0 : 1)
  })

  it('leave all others in the order in which they wait: one with backlog went to the back', async () => {
    const { store, herds } = await plannedHerds()
    const ids = herds.flatMap((herd) => herd.ids).sort()
    await store.query('update {schema}.cursors set wake_at = $2 where schedule_id = $1', [
      ids[0]!,
      new Date(AT + 1),
    ])
    expect((await readLocked(store, ids)).map(({ id }) => id)).toEqual([ids[1], ids[2], ids[0]])
  })

  it('are planned one by one by a tick that finds a run there already', async () => {
    const { h, store, record, planTimes } = await plannedHerds()
    await record()
    await store.query('update {schema}.cursors set next_at = $1, wake_at = $1', [new Date(AT)])
    await expect(record()).rejects.toSatisfy(isOvertaken)
    await h.advance('1 minute')
    const [first, second] = ['2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z']
    expect(await planTimes()).toEqual([[first, second], [first, second], [first]])
    expect((await h.schedules.get('a')).nextAt).toEqual(new Date('2026-03-01T00:02:00Z'))
  })
})
