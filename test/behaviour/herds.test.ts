import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { after, cron, every, once, type ScheduleDefinition } from '../../src/index.js'
import { runIdOf } from '../../src/runs/run-id.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-28T12:00:30Z'
const minutely = { job: 'noop', timing: every('1 minute') }

/** One of each that a herd might mistake for another; three of each, as herds are of several. */
const KINDS: Record<string, Partial<ScheduleDefinition>> = {
  plain: {},
  hourly: { timing: every('1 hour') },
  local: { timing: cron('*/15 * * * *', { zone: 'Europe/Paris' }) },
  elsewhere: { queue: 'mail' },
  urgent: { priority: 5 },
  scoped: { scopes: ['a', 'b'] },
  otherScope: { scopes: ['a'] },
  held: { delay: '30 seconds' },
  spread: { jitter: '40 seconds' },
  skipping: { overlap: 'skip' },
  waiting: { overlap: 'queue' },
  replacing: { overlap: 'replace' },
  limited: { limit: 2 },
  ending: { endAt: '2026-03-28T12:03:00Z' },
  single: { timing: once('2026-03-28T12:02:00Z') },
  following: { timing: after('1 minute'), overlap: 'skip' },
  caughtUp: { catchUp: 'all' },
  strict: { catchUp: 'none', grace: '0 seconds' },
  breaking: { breaker: { failures: 2 } },
}

/** Schedules of all kinds, and a scheduler that takes so many at once: more than a hundred are planned in herds. */
async function open(batch: number) {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const definitions = Object.entries(KINDS).flatMap(([kind, fields]) =>
    [1, 2, 3].map((n) => [`${kind}:${n}`, { ...minutely, ...fields, input: { n } }]),
  )
  await h.schedules.sync(Object.fromEntries(definitions))
  await h.schedules.skip('plain:2', new Date('2026-03-28T12:02:00Z'))
  const clock = createManualClock(Date.parse(AT))
  const { escapement, scheduler } = await assemble({
    database: await sharedDatabase(),
    schema: h.schema,
    clock,
    scheduler: { batch },
  })
  onTestFinished(() => escapement.close())
  const read = (text: string) =>
    escapement.database.query<Record<string, unknown>>(text.replaceAll('{schema}', `"${h.schema}"`))
  const tickAt = async (at: string) => {
    clock.set(Date.parse(at))
    for (let report = await scheduler.tick(); report.due > 0; report = await scheduler.tick());
    return {
      cursors: await read(
        `select s.name, s.state, c.next_at, c.wake_at, c.decided_through, c.counted from {schema}.cursors as c
         join {schema}.schedules as s on s.id = c.schedule_id order by s.name`,
      ),
      runs: await read(
        `select s.name, r.scope, r.plan_time, r.eligible_at, r.state, r.lane, r.job, r.queue, r.priority, r.input, r.trigger, r.schedule_version, r.created_at
         from {schema}.runs as r join {schema}.schedules as s on s.id = r.schedule_id where s.name not like 'spread%'
         order by s.name, r.plan_time, r.scope`,
      ),
      skips: await read(
        `select s.name, k.scope, k.first_plan_time, k.last_plan_time, k.reason from {schema}.skips as k
         join {schema}.schedules as s on s.id = k.schedule_id order by 1, 2, 3`,
      ),
    }
  }
  return { h, read, tickAt }
}

describe('schedules that are planned in herds', () => {
  it('come to the same as those that are planned one by one', async () => {
    const [inHerds, byRows] = [await open(1_000), await open(100)]
    for (const at of [
      '2026-03-28T12:01:00Z',
      '2026-03-28T12:02:00.200Z',
      '2026-03-28T12:03:59Z',
      // Late: some are missed, some caught up.
      '2026-03-28T12:20:00Z',
      // Over the night in which the clocks go forward.
      '2026-03-29T01:15:00Z',
    ]) {
      const expected = await byRows.tickAt(at)
      expect(await inHerds.tickAt(at)).toEqual(expected)
      expect(expected.runs.length).toBeGreaterThan(0)
    }
    for (const { h } of [inHerds, byRows]) {
      expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
    }
  })

  it('have the runs of their own occurrences, and wait in as few lots as they may', async () => {
    const { read, tickAt } = await open(1_000)
    await tickAt('2026-03-28T12:01:00Z')
    const runs = await read(
      `select id, schedule_id, scope, plan_time from {schema}.runs_asked where scope is not null`,
    )
    for (const { id, schedule_id, scope, plan_time } of runs) {
      expect(id).toBe(runIdOf(schedule_id as string, scope as string, (plan_time as Date).getTime()))
    }
    const lots = await read(
      'select queue, priority, cardinality(runs) as runs, is_scheduled from {schema}.lots order by queue, priority, 3',
    )
    // Of the usual line those of four kinds that make up herds, and of four that were planned one by one.
    expect(lots).toEqual([
      { queue: 'default', priority: 0, runs: 11, is_scheduled: true },
      { queue: 'default', priority: 0, runs: 13, is_scheduled: true },
      { queue: 'default', priority: 5, runs: 3, is_scheduled: true },
      { queue: 'mail', priority: 0, runs: 3, is_scheduled: true },
    ])
  })

  it('that cannot be planned are set aside alone, and hold up none of the others', async () => {
    const { read, tickAt } = await open(1_000)
    await read(`update {schema}.schedules set policies = policies - 'delay' where name = 'urgent:1'`)
    const { runs } = await tickAt('2026-03-28T12:01:00Z')
    const names = runs.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['plain:1', 'urgent:2', 'urgent:3', 'breaking:1']))
    expect(names).not.toContain('urgent:1')
    const [broken] = await read(
      'select s.name, c.plan_error from {schema}.cursors as c join {schema}.schedules as s on s.id = c.schedule_id where plan_error is not null',
    )
    expect(broken).toEqual({ name: 'urgent:1', plan_error: expect.stringContaining('expected a duration') })
  })

  it('are told of as any others', async () => {
    const h = await openHarness({ at: AT })
    h.job('noop', { handler: () => {} })
    await h.schedules.sync({ a: minutely, b: minutely, c: { ...minutely, overlap: 'skip' } })
    const told: (string | null)[] = []
    h.escapement.on('run.created', ({ schedule, planTime }) => {
      told.push(`${schedule} ${planTime?.toISOString()}`)
    })
    await h.advance('30s')
    expect(told.sort()).toEqual(['a', 'b', 'c'].map((name) => `${name} 2026-03-28T12:01:00.000Z`))
  })
})
