import { describe, expect, it } from 'vitest'
import { every, type ScheduleDefinition } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

/** Each minute, with one harness that plans and another that works: runs stay open until the worker is let go on. */
async function withoutWorker(fields: Partial<ScheduleDefinition>) {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  const planner = await openHarness({ at: '2026-03-01T12:00:30Z', schema: h.schema })
  const ran: string[] = []
  h.job('note', {
    handler: ({ planTime }) => void ran.push(planTime?.toISOString().slice(11, 16) ?? 'manual'),
  })
  await h.advance('0s')
  await planner.schedules.put('s', { job: 'note', timing: every('1 minute'), ...fields })
  const ledger = async () =>
    (await planner.schedules.occurrences('s', { from: '2026-03-01T12:00:30Z', to: planner.now() })).map(
      ({ planTime, runState, reason }) => `${planTime.toISOString().slice(11, 16)} ${runState ?? reason}`,
    )
  return { h, planner, ran, ledger }
}

describe('overlap', () => {
  it('allow: any number of runs may be open', async () => {
    const { planner, ledger } = await withoutWorker({})
    await planner.advance('3 minutes 10 seconds')
    expect(await ledger()).toEqual(['12:01 pending', '12:02 pending', '12:03 pending'])
  })

  it('skip: drops an occurrence while the previous run is open, and records it', async () => {
    const { h, planner, ran, ledger } = await withoutWorker({ overlap: 'skip' })
    await planner.advance('3 minutes 10 seconds')
    expect(await ledger()).toEqual(['12:01 pending', '12:02 overlap', '12:03 overlap'])
    await h.advance('3 minutes 10 seconds')
    await planner.advance('1 minute')
    expect(await ledger()).toEqual(['12:01 succeeded', '12:02 overlap', '12:03 overlap', '12:04 pending'])
    expect(ran).toEqual(['12:01'])
    expect(await planner.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('queue: lets one wait, skips the third, and the one that waited runs when the first has ended', async () => {
    const { h, planner, ran, ledger } = await withoutWorker({ overlap: 'queue' })
    await planner.advance('3 minutes 10 seconds')
    expect(await ledger()).toEqual(['12:01 pending', '12:02 pending', '12:03 overlap'])
    await h.advance('3 minutes 10 seconds')
    expect(ran).toEqual(['12:01', '12:02'])
  })

  it('is held for several plan times of one tick too, oldest first', async () => {
    const { planner, ledger } = await withoutWorker({ overlap: 'skip', grace: '10 minutes' })
    planner.jump('3 minutes 10 seconds')
    await planner.advance('0s')
    expect(await ledger()).toEqual(['12:01 pending', '12:02 overlap', '12:03 overlap'])
  })

  it('refuses a trigger while a run is open', async () => {
    const { planner } = await withoutWorker({ overlap: 'skip' })
    await planner.advance('1 minute')
    await expect(planner.schedules.trigger('s')).rejects.toMatchObject({ code: 'run_open' })
  })

  it('is held per scope', async () => {
    const { planner } = await withoutWorker({ overlap: 'skip', scopes: ['a', 'b'] })
    await planner.advance('1 minute')
    expect(await planner.runs.list({ schedule: 's' })).toHaveLength(2)
  })
})

describe('overlap of what is not scheduled', () => {
  /** A job that tells how many of its handlers ran at once. */
  function busyJob(h: Awaited<ReturnType<typeof openHarness>>) {
    const seen = { ran: [] as string[], most: 0 }
    let now = 0
    h.job('busy', {
      handler: async ({ planTime }) => {
        seen.most = Math.max(seen.most, ++now)
        await new Promise((resolve) => setTimeout(resolve, 5))
        now -= 1
        seen.ran.push(planTime?.toISOString().slice(11, 16) ?? 'manual')
      },
    })
    return seen
  }

  const perMinute = { job: 'busy', timing: every('1 minute') }

  it('backfilled runs take their turns, oldest first', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    const seen = busyJob(h)
    await h.schedules.put('s', { ...perMinute, overlap: 'skip', catchUp: 'none' })
    h.jump('5 minutes')
    await h.advance('0s')
    const { runIds } = await h.schedules.backfill('s', { from: '2026-03-01T12:00Z', to: h.now() })
    expect(runIds).toHaveLength(4)
    await h.advance('0s')
    expect(seen).toEqual({ ran: ['12:05', '12:01', '12:02', '12:03', '12:04'], most: 1 })
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('backfilled runs that wait are not replaced: they take their turns after the newest occurrence', async () => {
    const { h, planner, ran, ledger } = await withoutWorker({ overlap: 'replace', catchUp: 'none' })
    planner.jump('3 minutes 20 seconds')
    await planner.advance('0s')
    await planner.schedules.backfill('s', { from: '2026-03-01T12:00:30Z', to: planner.now() })
    await planner.advance('1 minute')
    await planner.advance('1 minute')
    expect(await ledger()).toEqual([
      '12:01 pending',
      '12:02 pending',
      '12:03 cancelled',
      '12:04 cancelled',
      '12:05 pending',
    ])
    await h.advance('5 minutes')
    expect(ran.slice(0, 3)).toEqual(['12:05', '12:01', '12:02'])
  })

  it('a backfilled run that waits for its next attempt is not replaced either: it begins again after the newest occurrence', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    const ran: string[] = []
    h.job('limping', {
      retry: { attempts: 2, backoff: ['10 seconds'] },
      handler: ({ planTime, attempt }) => {
        const time = planTime!.toISOString().slice(11, 16)
        ran.push(`${time} ${attempt}`)
        if (time === '12:01' && attempt === 1) throw new Error('not yet')
      },
    })
    await h.schedules.put('s', { ...perMinute, job: 'limping', overlap: 'replace', catchUp: 'none' })
    await h.schedules.skip('s', '2026-03-01T12:01Z')
    await h.advance('1 minute 25 seconds')
    await h.schedules.backfill('s', { from: '2026-03-01T12:00:30Z', to: '2026-03-01T12:01:30Z' })
    await h.advance('1 minute')
    expect(ran).toEqual(['12:01 1', '12:02 1', '12:01 2'])
  })

  it('a policy that comes later lines up the runs that are open', async () => {
    const { h, planner, ran, ledger } = await withoutWorker({})
    await planner.advance('3 minutes 10 seconds')
    await planner.schedules.patch('s', { overlap: 'skip' })
    await planner.advance('1 minute')
    expect(await ledger()).toEqual(['12:01 pending', '12:02 pending', '12:03 pending', '12:04 overlap'])
    const claimable = await h.escapement.database.query(
      `select id from "${h.schema}".runs where state = 'pending' and lane = 0`,
    )
    expect(claimable).toHaveLength(1)
    await h.advance('4 minutes 10 seconds')
    expect(ran).toEqual(['12:01', '12:02', '12:03'])
  })

  it('a policy that goes lets all go that waited', async () => {
    const { h, planner, ran } = await withoutWorker({ overlap: 'queue' })
    await planner.advance('2 minutes 10 seconds')
    await planner.schedules.patch('s', { overlap: 'allow' })
    const waiting = await h.escapement.database.query(
      `select id from "${h.schema}".runs where lane is not null`,
    )
    expect(waiting).toEqual([])
    await h.advance('2 minutes 10 seconds')
    expect(ran).toEqual(['12:01', '12:02'])
  })

  it('a run that got its lane while its handler ran lets the next one in when it ends', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    const planner = await openHarness({ at: '2026-03-01T12:00:30Z', schema: h.schema })
    const ran: string[] = []
    h.job('slow', {
      lease: '10 minutes',
      handler: async ({ planTime }) => {
        if (ran.length === 0) {
          await planner.schedules.patch('s', { overlap: 'queue' })
          await planner.advance('2 minutes')
        }
        ran.push(planTime!.toISOString().slice(11, 16))
      },
    })
    await h.schedules.put('s', { job: 'slow', timing: every('1 minute') })
    await planner.advance('1 minute')
    await h.advance('1 minute')
    await h.advance('2 minutes')
    expect(ran).toEqual(['12:01', '12:02'])
  })

  it('the run that waits of a deleted schedule is let in by the transaction that ends the one before it', async () => {
    const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
    const planner = await openHarness({ at: '2026-03-01T12:00:30Z', schema: h.schema })
    h.job('last', {
      handler: async () => {
        await planner.schedules.delete('s')
        // So that the next one stays as it was let in.
        await planner.escapement.claiming.pause()
      },
    })
    await h.schedules.put('s', { job: 'last', timing: every('1 minute'), overlap: 'queue' })
    await planner.advance('2 minutes')
    await h.advance('1 minute')
    const rows = await h.escapement.database.query(
      `select o.state, o.xmin = e.xmin as is_together from "${h.schema}".runs_open as o, "${h.schema}".runs_ended as e
       where o.lane = 0`,
    )
    expect(rows).toEqual([{ state: 'pending', is_together: true }])
  })
})
