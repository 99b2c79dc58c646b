import { describe, expect, it, vi } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { type Clock, type Escapement, every, set, type TransitionChange } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { at, NOON, openPosts } from '../support/posts.js'

const publish = set('status', { from: 'draft', to: 'published' })

/** Resolves with the ids of the first `count` changes. */
function changesOf(escapement: Escapement, count: number): Promise<unknown[]> {
  return new Promise((resolve) => {
    const ids: unknown[] = []
    escapement.on('transition.applied', ({ key }: TransitionChange) => {
      ids.push(key.id)
      if (ids.length === count) resolve(ids)
    })
  })
}

describe('a sweeper', () => {
  it('sleeps until the next due time, at most for its interval, and sweeps again at once while rows are left', async () => {
    const h = await openPosts()
    const manual = createManualClock(Date.parse(NOON))
    const sleeps: number[] = []
    const clock: Clock = {
      ...manual,
      sleep(ms, signal) {
        sleeps.push(ms)
        return manual.sleep(ms, signal)
      },
    }
    const { database } = h.escapement
    const { escapement } = await assemble({ database, schema: h.schema, clock, sweeper: { batchSize: 2 } })
    await escapement.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) values (1, 'draft', $1), (2, 'draft', $1), (3, 'draft', $1), (4, 'draft', $1),
         (5, 'draft', $1), (6, 'draft', $2), (7, 'draft', $3)`,
      [at(0), at(0.5), at(10)],
    )
    const first = changesOf(escapement, 5)
    const second = changesOf(escapement, 6)
    await escapement.start({ roles: ['sweeper'] })
    expect(await first).toEqual([1, 2, 3, 4, 5])
    await expect.poll(() => sleeps).toEqual([30_000])
    manual.set(at(0.5).getTime())
    expect(await second).toEqual([1, 2, 3, 4, 5, 6])
    await expect.poll(() => sleeps).toEqual([30_000, 60_000])
    await escapement.stop()
  })

  it('is woken by what is declared, and with wake by what is written', async () => {
    const h = await openPosts({ sweeper: { wake: true } })
    await h.escapement.start({ roles: ['sweeper'] })
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1)`, [at(-1)])
    const first = changesOf(h.escapement, 1)
    const second = changesOf(h.escapement, 2)
    await h.declare({ fields: { publish_at: publish } })
    expect(await first).toEqual([1])
    await h.sql(`insert into posts (id, status, publish_at) values (2, 'draft', $1)`, [at(0)])
    expect(await second).toEqual([1, 2])
    await h.escapement.stop()
    const trigger = `select tgattr::text from pg_trigger where tgrelid = '"${h.schema}".posts'::regclass`
    expect(await h.sql(trigger)).toEqual([{ tgattr: '3' }])
  })

  it('prunes the log between its sweeps, and more of it the more it has logged', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(
      `insert into transition_log (field_id, key, due_at, applied_at, action)
       select f.id, n, $1, $1, 'set' from transition_fields as f, generate_series(1, 9000) as n`,
      [at(-60 * 24 * 91)],
    )
    await h.sql(`insert into posts (id, status, publish_at) values (10000, 'draft', $1)`, [at(-1)])
    const start = performance.now()
    // Of the upkeep's minute.
    const now = vi.spyOn(performance, 'now').mockReturnValue(start + 61_000)
    await h.escapement.start({ roles: ['sweeper'] })
    const kept = () => h.sql('select key from transition_log')
    await expect.poll(kept, { timeout: 20_000 }).toEqual([{ key: '10000' }])
    now.mockRestore()
    await h.escapement.stop()
  })

  it('stops after the sweep that is under way', async () => {
    const h = await openPosts()
    let isDone = false
    let begun: () => void = () => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    await h.declare({
      fields: { publish_at: publish },
      async onApplied() {
        begun()
        await new Promise((resolve) => setTimeout(resolve, 50))
        isDone = true
      },
    })
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1)`, [at(-1)])
    await h.escapement.start()
    await isBegun
    await h.escapement.stop()
    expect(isDone).toBe(true)
  })

  it('takes part when a test moves the clock, and what it enqueues is run at that time', async () => {
    const h = await openPosts({ sweeper: { batchSize: 1 } })
    const applied: string[] = []
    const announce = h.job('announce', {
      handler: ({ input }) => applied.push(`announced ${input} ${h.now().toISOString()}`),
    })
    await h.declare({
      fields: { publish_at: publish, archive_at: set('status', { to: 'archived' }) },
      inTransaction: (tx, [change]) => h.runs.enqueue(announce, change!.field, { tx }),
      onApplied: ({ field, appliedAt }) => applied.push(`${field} ${appliedAt.toISOString()}`),
    })
    await h.sql(`insert into posts (id, status, publish_at, archive_at) values (1, 'draft', $1, $2)`, [
      at(10),
      at(70),
    ])
    await h.advance('2 hours')
    expect(applied).toEqual([
      'publish_at 2026-03-01T12:10:00.000Z',
      'announced publish_at 2026-03-01T12:10:00.000Z',
      'archive_at 2026-03-01T13:10:00.000Z',
      'announced archive_at 2026-03-01T13:10:00.000Z',
    ])
  })

  it('can be a schedule instead: the job escapement.sweep', async () => {
    const h = await openPosts()
    const clock = createManualClock(Date.parse(NOON))
    const { database } = h.escapement
    const { escapement, scheduler, worker } = await assemble({
      database,
      schema: h.schema,
      clock,
      sweeper: { batchSize: 2 },
    })
    await escapement.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await escapement.schedules.put('sweep', { job: 'escapement.sweep', timing: every('1 hour') })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 5) as n`,
      [at(60)],
    )
    clock.set(at(60).getTime())
    await scheduler.tick()
    await worker.drain()
    const [run] = await escapement.runs.list({ schedule: 'sweep' })
    expect(run).toMatchObject({
      state: 'succeeded',
      result: { updated: 5, truncated: false },
      totals: { updated: 5 },
    })
  })
})
