import { expect, it } from 'vitest'
import { every, type RecentOccurrence } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const minutely = { job: 'noop', timing: every('1 minute') }

/** `12:01 succeeded`, `12:02–12:04 missed`. */
function told({ firstPlanTime, planTime, runState, reason, scope }: RecentOccurrence): string {
  const [first, last] = [firstPlanTime, planTime].map((at) => at.toISOString().slice(11, 16))
  const where = scope === 'global' ? '' : ` in ${scope}`
  return `${first === last ? last : `${first}–${last}`} ${runState ?? reason}${where}`
}

it('a search gives what became last of each, oldest first, by whatever way it was decided', async () => {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  let isFailing = false
  h.job('noop', {
    retry: { attempts: 1 },
    handler: () => {
      if (isFailing) throw new Error('no')
    },
  })
  await h.schedules.put('s', minutely)
  await h.schedules.put('scoped', { ...minutely, timing: every('2 minutes'), scopes: ['eu', 'us'] })
  await h.schedules.put('idle', { ...minutely, timing: every('1 day'), group: 'g' })
  const recent = async (count = 30) => {
    const { schedules } = await h.schedules.search({ recent: count })
    return Object.fromEntries(schedules.map(({ name, recent: each }) => [name, each!.map(told)]))
  }
  expect(await recent()).toEqual({ idle: [], s: [], scoped: [] })

  await h.schedules.skip('s', '2026-03-01T12:02:00Z')
  await h.advance('2 minutes')
  isFailing = true
  await h.schedules.trigger('s')
  await h.advance('1 minute')
  await h.escapement.claiming.pause()
  await h.advance('1 minute')
  await h.schedules.pause('s')
  h.jump('3 minutes')
  const ofS = ['12:01 succeeded', '12:02 operator', '12:03 failed', '12:04 pending']
  expect(await recent()).toEqual({
    idle: [],
    s: [...ofS, '12:05–12:07 paused'],
    scoped: ['12:02 succeeded in eu', '12:02 succeeded in us', '12:04 pending in eu', '12:04 pending in us'],
  })

  await h.schedules.resume('s')
  await h.schedules.backfill('s', { from: '2026-03-01T12:02:00Z', to: '2026-03-01T12:03:00Z' })
  await h.escapement.claiming.resume()
  isFailing = false
  await h.advance('30 seconds')
  expect((await recent()).s).toEqual([
    '12:01 succeeded',
    '12:02 succeeded',
    '12:03 failed',
    '12:04 succeeded',
    '12:05–12:07 paused',
    '12:08 succeeded',
  ])
  expect((await recent(2)).s).toEqual(['12:05–12:07 paused', '12:08 succeeded'])
  await expect(h.schedules.search().then(({ schedules }) => schedules[0])).resolves.not.toHaveProperty(
    'recent',
  )

  const { schedules } = await h.escapement.inGroup('g').schedules.search({ recent: 3 })
  expect(schedules).toMatchObject([{ name: 'idle', recent: [] }])
  await expect(h.schedules.search({ recent: 101 })).rejects.toThrow(/recent: 101 – must be a whole number/)
})
