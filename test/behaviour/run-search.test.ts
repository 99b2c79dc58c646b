import { expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

it('smoke', async () => {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  h.job('bad', {
    handler: () => {
      throw new Error('no')
    },
    retry: { attempts: 1 },
  })
  await h.schedules.put('s', { job: 'noop', timing: every('1 minute'), group: 'g' })
  await h.schedules.put('t', { job: 'bad', timing: every('1 minute') })
  await h.advance('3 minutes')
  await h.runs.enqueue('noop', null, { at: { in: '1 hour' } })
  for (const options of [
    {},
    { state: 'failed' },
    { state: ['pending', 'failed'] },
    { schedule: 's' },
    { job: 'bad' },
    { limit: 2 },
    { state: 'running' },
  ] as const) {
    const page = await h.runs.search(options)
    console.log(
      options,
      page.runs.map((r) => [r.state, r.job, r.planTime?.toISOString()].join(' ')),
      page.nextPageToken,
    )
  }
  const g = h.escapement.inGroup('g')
  console.log((await g.runs.search()).runs.length, (await g.runs.search({ state: 'failed' })).runs.length)
  const {
    runs: [run],
  } = await h.runs.search({ schedule: 's' })
  console.dir(await h.runs.details(run!.id), { depth: 5 })
  console.dir(
    [
      await h.escapement.jobs(),
      await h.escapement.workers(),
      await h.escapement.queues(),
      await h.escapement.stats(),
    ],
    { depth: 5 },
  )
  expect(1).toBe(1)
})
