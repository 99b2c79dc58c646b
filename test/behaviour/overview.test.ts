import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createEscapement, every } from '../../src/index.js'
import { sharedDatabase, target } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'

describe('the overview', () => {
  it('shows jobs with their policies, and which workers have them', async () => {
    const h = await openHarness({ at: AT })
    h.job('mail', {
      input: z.object({ to: z.string() }),
      retry: { attempts: 5 },
      gate: () => true,
      handler: () => {},
    })
    h.job('report', { scopes: () => [], concurrency: 2, concurrencyKey: 'order.id', handler: () => {} })
    expect(await h.escapement.jobs()).toMatchObject([
      { name: 'mail', publishedAt: null, isLocal: true, workers: [] },
      { name: 'report', publishedAt: null, isLocal: true, workers: [] },
    ])
    await h.advance('1 second')
    const other = await createEscapement({ database: await sharedDatabase(), schema: h.schema })
    other.job('own', { handler: () => {} })
    const { id } = (await other.workers())[0]!
    const published = { publishedAt: new Date(AT), workers: [{ id, seenAt: new Date(AT) }] }
    expect(await other.jobs()).toMatchObject([
      {
        ...published,
        name: 'mail',
        isLocal: false,
        gate: true,
        provider: false,
        retry: { attempts: 5 },
        inputSchema: { properties: { to: { type: 'string' } } },
      },
      { name: 'own', isLocal: true, publishedAt: null, workers: [] },
      {
        ...published,
        name: 'report',
        isLocal: false,
        gate: false,
        provider: true,
        concurrency: 2,
        concurrencyKey: ['order', 'id'],
        inputSchema: null,
      },
    ])
    await other.close()
  })

  it('shows workers, and takes those for lost that were not seen for a while', async () => {
    const h = await openHarness({ at: AT, worker: { queues: ['default', 'mail'], concurrency: 3 } })
    h.job('noop', { handler: () => {} })
    await h.advance('1 second')
    const worker = {
      queues: ['default', 'mail'],
      concurrency: 3,
      jobs: ['noop'],
      running: 0,
      pid: process.pid,
    }
    expect(await h.escapement.workers()).toMatchObject([
      { ...worker, state: 'alive', startedAt: new Date(AT), seenAt: new Date(AT) },
    ])
    h.jump('1 minute')
    expect(await h.escapement.workers()).toMatchObject([{ ...worker, state: 'lost' }])
    expect(await h.escapement.jobs()).toMatchObject([{ name: 'noop', workers: [{ isAlive: false }] }])
  })

  it('counts the open runs of each queue, those of workers too that are empty', async () => {
    const h = await openHarness({ at: AT, worker: { queues: ['default', 'mail', 'idle'] } })
    h.job('noop', { handler: () => {} })
    h.job('failing', {
      handler: () => {
        throw new Error('no')
      },
    })
    h.job('looking', { handler: () => h.escapement.queues() })
    await h.runs.enqueue('failing', null, { queue: 'mail' })
    const { id } = await h.runs.enqueue('looking', null)
    await h.runs.enqueue('noop', null, { at: { in: '1 day' } })
    await h.advance('1 second')
    const none = { ready: 0, waiting: 0, retrying: 0, running: 0 }
    expect((await h.runs.get(id)).result).toMatchObject([
      { name: 'default', waiting: 1, running: 1 },
      { name: 'idle', ...none },
      { name: 'mail' },
    ])
    await h.escapement.claiming.pause()
    await h.schedules.put('s', { job: 'noop', timing: every('1 hour'), overlap: 'queue' })
    await h.advance('2 hours')
    expect(await h.escapement.queues()).toEqual([
      { name: 'default', ...none, ready: 1, waiting: 2, oldestReadyAt: new Date('2026-03-01T13:00:00Z') },
      { name: 'idle', ...none, oldestReadyAt: null },
      { name: 'mail', ...none, retrying: 1, oldestReadyAt: new Date('2026-03-01T12:00:40Z') },
    ])
  })

  it('counts schedules, runs and what is late, and says what the database is', async () => {
    const h = await openHarness({ at: AT })
    h.job('noop', { handler: () => {} })
    h.job('failing', {
      retry: { attempts: 1 },
      handler: () => {
        throw new Error('no')
      },
    })
    for (const name of ['a', 'b', 'c']) await h.schedules.put(name, { job: 'noop', timing: every('1 hour') })
    await h.schedules.pause('c')
    await h.escapement.claiming.pause({ reason: 'tired' })
    for (const job of ['noop', 'failing']) await h.runs.enqueue(job, null)
    h.jump('2 seconds')
    const paused = await h.escapement.claiming.status()
    await h.escapement.claiming.resume()
    await h.advance('1 second')
    await h.runs.enqueue('noop', null, { at: { in: '1 day' } })
    h.jump('1 hour 59 minutes')
    const stats = await h.escapement.stats()
    expect(stats).toMatchObject({
      asOf: h.now(),
      schedules: { active: 2, paused: 1, broken: 0, finished: 0 },
      open: { pending: 1, running: 0, retrying: 0 },
      ended: {
        lastHour: { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 },
        lastDay: { succeeded: 1, failed: 1, cancelled: 0, skipped: 0 },
      },
      overdue: { schedules: 2, since: new Date('2026-03-01T13:00:00Z') },
      lateness: { runs: 1, p50: 2_000, p95: 2_000, p99: 2_000 },
      claiming: { paused: false },
      database: { kind: target, schema: h.schema },
    })
    expect(paused).toMatchObject({ paused: true, reason: 'tired' })
    expect(stats.database.version).toMatch(/^\d+\.\d+/)
    expect(stats.database.schemaVersion).toBeGreaterThanOrEqual(13)
  })
})
