import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  h.job('failing', {
    retry: { attempts: 2, backoff: ['1s'] },
    handler: () => {
      throw new Error('no')
    },
  })
  return h
}

describe('the details of a run', () => {
  it('hold its attempts, and what its schedule was when it asked for it', async () => {
    const h = await open()
    const first = { job: 'failing', timing: every('1 hour'), input: { a: 1 }, group: 'g', description: 'one' }
    await h.schedules.put('s', first)
    const id = await h.schedules.trigger('s', { input: 5 })
    await h.advance('2 seconds')
    const { run, attempts, schedule, snapshot, drifted, lease } = await h.runs.details(id)
    expect(run).toEqual(await h.runs.get(id))
    expect(run.schedule).toBe('s')
    expect(attempts).toEqual(await h.runs.attempts(id))
    expect(attempts.map(({ number }) => number)).toEqual([1, 2])
    expect([schedule, drifted, lease]).toEqual(['s', [], null])
    expect(run.input).toBe(5)
    expect(snapshot).toMatchObject({
      name: 's',
      version: 1,
      job: 'failing',
      input: { a: 1 },
      queue: 'default',
      priority: 0,
      group: 'g',
      timing: { kind: 'every', every: '1 hour' },
      policies: { overlap: 'allow', grace: '1 minute' },
    })

    await h.schedules.patch('s', { input: { a: 2 }, overlap: 'skip', description: null })
    await h.schedules.pause('s')
    await h.schedules.rename('s', 't')
    const later = await h.runs.details(id)
    expect(later.snapshot).toEqual(snapshot)
    expect([later.schedule, later.drifted?.sort()]).toEqual([
      't',
      ['description', 'input', 'name', 'overlap'],
    ])

    const listed = async () => (await h.runs.search()).runs.map(({ schedule: name }) => name)
    expect(await listed()).toEqual(['t'])
    expect((await h.runs.list({ schedule: 't' }))[0]!.schedule).toBe('t')

    await h.schedules.delete('t')
    const last = await h.runs.details(id)
    expect(last).toMatchObject({ run: { schedule: null }, schedule: null, drifted: null, snapshot })
    expect(await listed()).toEqual([null])
  })

  it('of a direct run are the run alone, and of one that is running who works on it', async () => {
    const h = await open()
    let details: Awaited<ReturnType<typeof h.runs.details>> | undefined
    h.job('looking', {
      handler: async ({ run, workerId }) => {
        expect(run.schedule).toBeNull()
        details = await h.runs.details(run.id)
        return workerId
      },
    })
    const { id } = await h.runs.enqueue('looking', null)
    await h.advance('1 second')
    const { result } = await h.runs.get(id)
    expect(details).toMatchObject({
      run: { id, state: 'running' },
      schedule: null,
      snapshot: null,
      drifted: null,
      lease: { workerId: result, expiresAt: new Date('2026-03-01T12:01:00Z') },
    })
    expect((await h.runs.details(id)).lease).toBeNull()
    await expect(h.runs.details('nothing')).rejects.toMatchObject({ code: 'run_not_found' })
  })
})
