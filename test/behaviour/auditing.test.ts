import { describe, expect, it } from 'vitest'
import { audit } from '../../src/client/audit.js'
import { databaseClock } from '../../src/clock.js'
import { cron, every, type ScheduleDefinition } from '../../src/index.js'
import type { Database, Param, Transaction } from '../../src/store/database.js'
import { createStore } from '../../src/store/store.js'
import { ZONE_DATA } from '../../src/time/zone-data.js'
import { openHarness } from '../support/harness.js'
import { damageOf } from '../support/process-with-zone-data.js'

const AT = '2026-03-01T12:00:30Z'
const CLEAN = { missing: [], double: [], unexpected: [], zoneData: [] }
const perMinute = { job: 'noop', timing: every('1 minute') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const damage = damageOf(h)
  /** Leaves the schedule decided through now, with nothing in its ledger. */
  const decided = async (definition: ScheduleDefinition, forHowLong: string) => {
    const { id } = await h.schedules.put('s', definition)
    h.jump(forHowLong as '1 day')
    const now = h.now().toISOString()
    await damage.cursor('s', `decided_through = '${now}', next_at = '2030-01-01', wake_at = '2030-01-01'`)
    return id
  }
  return { h, damage, decided }
}

/** Audits, and says how large the largest answer was, and how often others had their turn between the statements. */
async function watchedAudit(h: Awaited<ReturnType<typeof open>>['h']) {
  let mostRows = 0
  let turns = 0
  let isComputing = false
  const watched = (tx: Transaction): Transaction => ({
    async query<Row>(text: string, params?: readonly Param[]) {
      isComputing = false
      const rows = await tx.query<Row>(text, params)
      isComputing = true
      mostRows = Math.max(mostRows, rows.length)
      return rows
    },
    script: (text) => tx.script(text),
  })
  const { database } = h.escapement
  const transaction: Database['transaction'] = (work) =>
    database.transaction((tx) => work(watched(tx)).finally(() => (isComputing = false)))
  let isOver = false
  const turn = () => {
    if (isComputing) turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const clock = { ...databaseClock, now: () => h.now().getTime() }
  const store = createStore({ ...database, transaction }, h.schema, clock)
  const report = await audit(store, ZONE_DATA).finally(() => {
    isOver = true
  })
  return { report, mostRows, turns }
}

describe('the audit of a long history', () => {
  it('reads runs, skips and changes in portions, and sees each of them', async () => {
    const { h, damage, decided } = await open()
    const id = await decided(perMinute, '14 days')
    const times = (from: string, to: string) =>
      `generate_series('${from}'::timestamptz, '${to}', interval '1 minute') as at`
    await damage.query(
      `insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
         priority, created_at)
       select gen_random_uuid(), $1, 'global', at, 1, 'scheduled', 'noop', 'null', 'default', 0, at
       from ${times('2026-03-01T12:01Z', '2026-03-08T12:00Z')} where at <> '2026-03-05T00:00Z'`,
      [id],
    )
    await damage.query(
      `insert into {schema}.skips select $1, 'global', 1, at, at, 'overlap', at
       from ${times('2026-03-08T12:01Z', '2026-03-15T12:00Z')} where at <> '2026-03-12T00:00Z'`,
      [id],
    )
    await damage.query(
      `insert into {schema}.changes (schedule_id, name, version, action, after, state, boundary, zone_data, changed_at)
       select $1, 's', 1, 'pause', after, 'active', at, zone_data, at
       from {schema}.changes, ${times('2026-03-02T00:00Z', '2026-03-06T00:00Z')}`,
      [id],
    )
    const { report, mostRows } = await watchedAudit(h)
    expect(report).toMatchObject({
      ...CLEAN,
      schedules: 1,
      occurrences: 14 * 24 * 60,
      missing: [{ planTime: '2026-03-05T00:00:00.000Z' }, { planTime: '2026-03-12T00:00:00.000Z' }],
    })
    expect(mostRows).toBeLessThanOrEqual(5_000)
  })

  it('sees all of it, however few schedules are asked for at a time', async () => {
    const { h } = await open()
    await h.schedules.put('s', perMinute)
    await h.advance('5 minutes')
    expect(await h.escapement.audit({ limit: 1 })).toMatchObject({ ...CLEAN, schedules: 1, occurrences: 5 })
  })

  it('steps over a skipped range of any length, and counts what lies in it', async () => {
    const { h } = await open()
    await h.schedules.put('s', { job: 'noop', timing: every('1 second'), catchUp: 'none', grace: '1 second' })
    h.jump('3650 days')
    await h.advance('0s')
    expect(await h.escapement.audit()).toMatchObject({ ...CLEAN, occurrences: 3650 * 86_400 + 1 })
  })

  it('lets others have their turn while it counts the plan times of a zoned timing', async () => {
    const { h } = await open()
    const timing = cron('* * * * * *', { zone: 'Europe/Paris' })
    await h.schedules.put('s', { job: 'noop', timing, catchUp: 'none', grace: '1 second' })
    // A quick machine counts those of a week in the time of five turns.
    h.jump('28 days')
    await h.advance('0s')
    const { report, turns } = await watchedAudit(h)
    expect(report).toMatchObject({ ...CLEAN, occurrences: 28 * 86_400 + 1 })
    expect(turns).toBeGreaterThan(5)
  })
})

describe('the audit of a skipped range', () => {
  const range = (id: string, scope: string, first: string, last: string, reason = 'missed') =>
    `insert into {schema}.skips values ('${id}', '${scope}', 1, '2026-03-01T${first}Z', '2026-03-01T${last}Z', '${reason}', now())`
  const run = (id: string, scope: string, at: string) =>
    `insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
       priority, created_at)
     values (gen_random_uuid(), '${id}', '${scope}', '2026-03-01T${at}Z', 1, 'scheduled', 'noop', 'null', 'default', 0, now())`
  const shown = (findings: readonly { scope: string; planTime: string; detail: string }[]) =>
    findings.map(({ scope, planTime, detail }) => `${scope} ${planTime.slice(11, 16)} ${detail}`)

  it('sees a run inside it, another range over it, and where it ends in one scope only', async () => {
    const { h, damage, decided } = await open()
    const id = await decided({ ...perMinute, scopes: ['a', 'b'] }, '30 minutes')
    for (const statement of [
      range(id, 'a', '12:01', '12:30'),
      range(id, 'b', '12:01', '12:20'),
      range(id, 'b', '12:24', '12:30'),
      run(id, 'a', '12:07'),
      range(id, 'a', '12:10', '12:11', 'overlap'),
    ]) {
      await damage.query(statement)
    }
    const report = await h.escapement.audit()
    expect(report.occurrences).toBe(60)
    expect(shown(report.missing)).toEqual([
      'b 12:21 active, no answer',
      'b 12:22 active, no answer',
      'b 12:23 active, no answer',
    ])
    expect(shown(report.double)).toEqual([
      'a 12:07 a scheduled run and a skip',
      'a 12:10 2 skips',
      'a 12:11 2 skips',
    ])
    expect(report.unexpected).toEqual([])
  })

  it('calls it unexpected where its ends are no plan times, or where it cannot be, at each plan time', async () => {
    const { h, damage, decided } = await open()
    const id = await decided({ ...perMinute, scopes: ['a'] }, '10 minutes')
    for (const statement of [
      range(id, 'a', '12:00:40', '12:02:10'),
      range(id, 'a', '12:03', '12:04', 'paused'),
      range(id, 'a', '12:05', '12:10'),
      range(id, 'other', '12:05', '12:06'),
    ]) {
      await damage.query(statement)
    }
    const report = await h.escapement.audit()
    expect(shown(report.unexpected)).toEqual([
      'a 12:00 a skip (missed)',
      'a 12:03 skipped as paused while active',
      'a 12:04 skipped as paused while active',
      'other 12:05 a skip (missed)',
    ])
    expect([report.missing, report.double]).toEqual([[], []])
  })
})
