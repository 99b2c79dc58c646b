import { expect, it } from 'vitest'
import { every, type LocalEventMap } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  function heard<Name extends keyof LocalEventMap>(name: Name): LocalEventMap[Name][] {
    const events: LocalEventMap[Name][] = []
    h.escapement.on(name, (event) => events.push(event))
    return events
  }
  return { h, heard }
}

it('a tick tells how many schedules and runs it decided, a claim what it took and how late', async () => {
  const { h, heard } = await open()
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', queue: 'default', timing: every('1 minute') })
  const ticks = heard('scheduler.ticked')
  const claims = heard('worker.claimed')
  h.jump('45 seconds')
  await h.advance('0s')
  expect(ticks.filter(({ schedules }) => schedules > 0)).toEqual([
    { durationMs: expect.any(Number), schedules: 1, runs: 1 },
  ])
  expect(ticks.length).toBeGreaterThan(1)
  expect(claims.flatMap(({ runs }) => runs)).toEqual([
    { job: 'noop', queue: 'default', attempt: 1, latenessMs: 15_000 },
  ])
})

it('each end of an attempt is told, and each of a run that had none', async () => {
  const { h, heard } = await open()
  h.job('fails', {
    retry: { attempts: 2, backoff: ['1s'] },
    handler: () => {
      throw new Error('on purpose')
    },
  })
  h.job('closed', { gate: () => ({ reason: 'shut' }), handler: () => {} })
  h.job('works', { handler: () => {} })
  const ends = heard('run.ended')
  for (const job of ['fails', 'closed', 'works']) await h.runs.enqueue(job, null)
  const { id } = await h.runs.enqueue('works', null, { at: { in: '1 hour' } })
  await h.runs.cancel(id)
  await h.advance('1 minute')
  expect(ends.map(({ job, state }) => `${job} ${state}`).sort()).toEqual([
    'closed skipped',
    'fails failed',
    'fails retrying',
    'works cancelled',
    'works succeeded',
  ])
  for (const { state, durationMs } of ends) expect(durationMs === null).toBe(state === 'cancelled')
})

it('a lease that somebody else has by now is told once, that of a cancelled run is not', async () => {
  const { h, heard } = await open()
  const lost = heard('worker.leaseLost')
  const { query } = h.escapement.database
  h.job('loses', {
    async handler({ run, heartbeat }) {
      await query(`update "${h.schema}".runs_open set lease_token = gen_random_uuid() where id = $1`, [
        run.id,
      ])
      await heartbeat().catch(() => {})
      await heartbeat()
    },
  })
  h.job('cancelled', {
    async handler({ run, heartbeat }) {
      await h.runs.cancel(run.id)
      await heartbeat()
    },
  })
  const { id: runId } = await h.runs.enqueue('loses', null)
  await h.runs.enqueue('cancelled', null)
  await h.advance('0s')
  expect(lost).toEqual([{ runId }])
})

it('a sweep tells what it changed', async () => {
  const { h, heard } = await open()
  const swept = heard('sweeper.swept')
  await h.transitions.sweep()
  expect(swept).toEqual([{ durationMs: expect.any(Number), updated: 0, deleted: 0, quarantined: 0 }])
})

it('nobody can listen to what does not exist', async () => {
  const { h } = await open()
  expect(() => h.escapement.on('worker.claimd' as never, () => {})).toThrow('did you mean "worker.claimed"?')
})
