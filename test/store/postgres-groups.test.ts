import { expect, it } from 'vitest'
import { every, type GroupAccess } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

/** Needs two connections: one waits for what the other has locked. */
it('a schedule that moves to another group while a verb waits for its lock is gone, with its runs', async () => {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  const { id } = await h.schedules.put('own', { job: 'noop', timing: every('1 hour'), group: 'mine' })
  const run = await h.schedules.trigger('own')
  const { database } = h.escapement
  const isWaiting = async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"${h.schema}".cursors%'`
    return (await database.query(waiting)).length > 0
  }

  async function whileWaiting(verb: (mine: GroupAccess) => Promise<unknown>): Promise<unknown> {
    await database.query(`update "${h.schema}".schedules set "group" = 'mine'`)
    let refused: Promise<unknown> = Promise.resolve()
    await database.transaction(async (tx) => {
      await tx.query(`select from "${h.schema}".cursors where schedule_id = $1 for update`, [id])
      refused = verb(h.escapement.inGroup('mine')).catch(({ code }) => code)
      await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true)
      await tx.query(`update "${h.schema}".schedules set "group" = 'theirs'`)
    })
    return refused
  }

  expect(await whileWaiting(({ schedules }) => schedules.pause('own'))).toBe('schedule_not_found')
  expect(
    await whileWaiting(({ schedules }) => schedules.put('own', { job: 'noop', timing: every('1 day') })),
  ).toBe('schedule_exists')
  expect(await whileWaiting(({ schedules }) => schedules.pauseGroup('mine'))).toBe(0)
  expect(await whileWaiting(({ runs }) => runs.cancel(run))).toBe('run_not_found')
  expect(await h.schedules.get('own')).toMatchObject({ state: 'active', version: 1 })
  expect((await h.runs.get(run)).state).toBe('pending')
})
