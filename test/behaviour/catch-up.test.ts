import { describe, expect, it } from 'vitest'
import { every, type Occurrence, type ScheduleDefinition } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'

/** A schedule each minute that nobody looked at for an hour, then did. */
async function downForAnHour(fields: Partial<ScheduleDefinition>) {
  const h = await openHarness({ at: AT })
  const ran: string[] = []
  h.job('note', { handler: ({ planTime }) => void ran.push(planTime!.toISOString().slice(11, 16)) })
  await h.schedules.put('minutely', { job: 'note', timing: every('1 minute'), ...fields })
  h.jump('1 hour')
  await h.advance('0s')
  const ledger = await h.schedules.occurrences('minutely', { from: AT, to: h.now() })
  expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  return { h, ran, ledger, counts: countOf(ledger) }
}

function countOf(ledger: readonly Occurrence[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { disposition, reason } of ledger) {
    const key = reason ?? disposition
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describe('down for an hour, every minute', () => {
  it('latest runs one, the newest, and records 59 missed', async () => {
    const { ran, counts, ledger } = await downForAnHour({ grace: '1 second' })
    expect(ran).toEqual(['13:00'])
    expect(counts).toEqual({ run: 1, missed: 59 })
    expect(ledger.map(({ planTime }) => planTime.toISOString().slice(14, 16))).toEqual(
      Array.from({ length: 60 }, (_, minute) => String((minute + 1) % 60).padStart(2, '0')),
    )
  })

  it('none runs nothing stale', async () => {
    const { ran, counts } = await downForAnHour({ catchUp: 'none', grace: '1 second' })
    expect(ran).toEqual([])
    expect(counts).toEqual({ missed: 60 })
  })

  it('all runs 60, oldest first, bounded per tick', async () => {
    const { ran, counts } = await downForAnHour({ catchUp: 'all', catchUpLimit: 7 })
    expect(ran).toHaveLength(60)
    expect(ran).toEqual([...ran].sort())
    expect(counts).toEqual({ run: 60 })
  })

  it('all is bounded by the window', async () => {
    const { ran, counts } = await downForAnHour({ catchUp: 'all', catchUpWindow: '10 minutes' })
    expect(ran).toHaveLength(10)
    expect(counts).toEqual({ run: 10, expired: 50 })
  })

  it('an edit settles the backlog under the old content, whatever the limit per tick', async () => {
    const h = await openHarness({ at: AT })
    h.job('noop', { handler: () => {} })
    await h.schedules.put('s', { job: 'noop', timing: every('1 minute'), catchUp: 'all', catchUpLimit: 1 })
    h.jump('1 hour')
    await h.schedules.put('s', { job: 'noop', timing: every('1 hour') })
    expect(await h.planTimes('s')).toHaveLength(60)
    expect((await h.schedules.get('s')).nextAt).toEqual(new Date('2026-03-01T14:00:00Z'))
    expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })
})

describe('delay', () => {
  it('makes the 12:00 occurrence of every 5 minutes eligible at 12:05', async () => {
    const h = await openHarness({ at: '2026-03-01T11:59:00Z' })
    const started: string[] = []
    h.job('note', { handler: () => void started.push(h.now().toISOString().slice(11, 19)) })
    await h.schedules.put('s', { job: 'note', timing: every('5 minutes'), delay: '5 minutes' })
    await h.advance('2 minutes')
    expect(await h.runs.list({ schedule: 's' })).toMatchObject([
      {
        state: 'pending',
        planTime: new Date('2026-03-01T12:00:00Z'),
        eligibleAt: new Date('2026-03-01T12:05:00Z'),
      },
    ])
    await h.advance('4 minutes')
    expect(started).toEqual(['12:05:00'])
  })
})

describe('a schedule that cannot be planned', () => {
  it('is set aside with its error, keeps its cursor, and does not hold up the others', async () => {
    const h = await openHarness({ at: AT, scheduler: { batch: 3 } })
    h.job('noop', { handler: () => {} })
    for (let index = 0; index < 10; index++) {
      await h.schedules.put(`bad-${index}`, { job: 'noop', timing: every('1 minute') })
    }
    await h.schedules.put('good', { job: 'noop', timing: every('1 minute') })
    const { database } = h.escapement
    await database.query(
      `update "${h.schema}".schedules set timing = jsonb_set(timing, '{every}', '"nonsense"') where name like 'bad-%'`,
    )
    await h.advance('1 minute')
    expect(await h.planTimes('good')).toEqual(['2026-03-01T12:01:00.000Z'])
    expect(await h.planTimes('bad-3')).toEqual([])
    const [bad] = await database.query(
      `select plan_error, next_at from "${h.schema}".cursors join "${h.schema}".schedules on id = schedule_id where name = 'bad-3'`,
    )
    expect(bad).toEqual({
      plan_error: expect.stringContaining('nonsense'),
      next_at: new Date('2026-03-01T12:01:00Z'),
    })
    expect(await h.escapement.doctor()).toHaveLength(10)
    expect((await h.escapement.doctor())[0]).toMatchObject({
      kind: 'unplannable',
      subject: 'bad-0',
      detail: expect.stringContaining('nonsense'),
      fix: expect.stringContaining('put the schedule again'),
    })
    await h.schedules.put('bad-3', { job: 'noop', timing: every('1 hour') })
    await h.advance('1 hour')
    expect(await h.planTimes('bad-3')).toEqual(['2026-03-01T13:00:00.000Z'])
  })
})
