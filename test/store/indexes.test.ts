import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { planOccurrences } from '../../src/schedules/plan.js'
import type { Param } from '../../src/store/database.js'
import { listAudited, readFirst } from '../../src/store/queries/auditing.js'
import { listChanges, listContents } from '../../src/store/queries/changes.js'
import { recordIn } from '../../src/store/queries/outcomes.js'
import { lockDueSchedules } from '../../src/store/queries/planning.js'
import { recordAhead, recordDue, recordPlans } from '../../src/store/queries/recording.js'
import { listExpiredLeases, listFailing, listUntaken } from '../../src/store/queries/run-symptoms.js'
import { listBroken, listOverdue, listUnplannable } from '../../src/store/queries/schedule-symptoms.js'
import { listSchedules } from '../../src/store/queries/schedules.js'
import { listUnseenHolders, lookAfterWorkers } from '../../src/store/queries/workers.js'
import { countNewerZoneData } from '../../src/store/queries/zone-data.js'
import { toPlannable } from '../../src/store/rows.js'
import type { Session } from '../../src/store/store.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

const NOW = new Date('2026-03-01T12:00:30Z')
const schema = freshSchemaName()
const query = async (text: string, params?: readonly Param[]) =>
  (await sharedDatabase()).query(text.replaceAll('{schema}', `"${schema}"`), params)
let h: Harness
let id: string

/** Thousands of schedules and changes, of which each question is about a few. */
beforeAll(async () => {
  h = await createHarness({ database: await sharedDatabase(), schema, at: NOW })
  h.job('noop', { handler: () => {} })
  ;({ id } = await h.schedules.put('template', { job: 'noop', timing: every('1 hour') }))
  // By job, group and state each half of them, and of both together a few.
  await query(
    `insert into {schema}.schedules (id, name, version, job, input, queue, priority, "group", timing, policies, start_at,
       source, state, state_since, ledger_from, created_at, updated_at)
     select gen_random_uuid(), 's:' || lpad(n::text, 5, '0'), 1, case when n % 2 = 0 or n > 5980 then 'even' else 'odd' end,
       'null', 'default', 0, case when n % 2 = 0 or n > 5980 then 'even' else 'odd' end, timing, policies, start_at,
       case when n % 1000 = 0 then 'code' end,
       case when n > 5990 then 'active' when n % 2 = 0 then 'finished' else 'paused' end, state_since,
       ledger_from, created_at, updated_at
     from {schema}.schedules, generate_series(1, 6000) as n`,
  )
  await query(
    `insert into {schema}.cursors (schedule_id, version, kind, next_at, decided_through, plan_error)
     select id, 1, 'every', '2030-01-01', '2026-01-01', case when name = 's:03000' then 'odd' end
     from {schema}.schedules where name <> 'template'`,
  )
  await query(
    `insert into {schema}.changes (schedule_id, name, version, action, state, boundary, changed_at)
     select $1, 'template', 1, 'trigger ' || n, 'active', '2026-03-01', '2026-03-01' from generate_series(1, 6000) as n`,
    [id],
  )
  for (const table of ['schedules', 'cursors', 'changes']) await query(`analyze {schema}.${table}`)
  return async () => {
    await query('drop schema {schema} cascade')
    await h.close()
  }
})

interface Plan {
  'Actual Loops': number
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** Of all steps of the statements by which a question is asked. */
async function sumOf(
  ask: (session: Session) => Promise<unknown>,
  rowsOf: (step: Plan) => number,
  answer: object[] = [],
): Promise<number> {
  const sum = (step: Plan): number =>
    rowsOf(step) * step['Actual Loops'] + (step.Plans ?? []).map(sum).reduce((all, rows) => all + rows, 0)
  let total = 0
  await ask({
    now: () => NOW,
    async query(text, params) {
      const [row] = await query(`explain (analyze, format json) ${text}`, params)
      const explained = row!['QUERY PLAN'] as string | [{ Plan: Plan }]
      const [{ Plan: plan }] = typeof explained === 'string' ? JSON.parse(explained) : explained
      total += sum(plan)
      return answer as never[]
    },
  })
  return total
}

/** How many rows are read and thrown away. */
const passedOver = (ask: (session: Session) => Promise<unknown>, answer?: object[]) =>
  sumOf(
    ask,
    (step) => (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0),
    answer,
  )

const page = { after: '', limit: 100 }
const bounds = { limit: 20, most: 1_000 }
const late = { ...bounds, lateMs: 60_000 }

describe('what is asked for is found without reading past much else', () => {
  it.each<[string, (session: Session) => Promise<unknown>]>([
    ['schedules by state, the rare one', (s) => listSchedules(s, { state: 'active' }, page)],
    ['schedules by state, the usual one', (s) => listSchedules(s, { state: 'paused' }, page)],
    ['schedules by job and state', (s) => listSchedules(s, { job: 'even', state: 'paused' }, page)],
    ['schedules by group and state', (s) => listSchedules(s, { group: 'even', state: 'paused' }, page)],
    ['schedules by job', (s) => listSchedules(s, { job: 'odd' }, page)],
    ['schedules by source', (s) => listSchedules(s, { source: 'code' }, page)],
    ['schedules by a prefix and state', (s) => listSchedules(s, { prefix: 's:05', state: 'active' }, page)],
    ['what could not be planned', (s) => listUnplannable(s, bounds)],
    ['overdue schedules', (s) => listOverdue(s, late)],
    ['broken schedules', (s) => listBroken(s, bounds)],
    ['newer zone data', (s) => countNewerZoneData(s, '2026a', 1_000)],
    ['expired leases', (s) => listExpiredLeases(s, late)],
    ['workers that hold leases unseen', (s) => listUnseenHolders(s, 60_000)],
    ['runs that nobody takes', (s) => listUntaken(s, { ...late, aliveMs: 60_000 })],
    ['jobs that fail', (s) => listFailing(s, { ...bounds, atLeast: 10, withinMs: 86_400_000 })],
    ['the newest changes', (s) => listChanges(s, id, { before: null, limit: 100 })],
    ['changes further back', (s) => listChanges(s, id, { before: '3000', limit: 100 })],
    ['the contents of versions', (s) => listContents(s, id, [1])],
    ['what an audit reads of changes', (s) => readFirst(s, 'changes', [id], { limit: 501 })],
    ['schedules to audit', (s) => listAudited(s, { after: id, limit: 100 })],
  ])('%s', async (_, ask) => {
    // As many as a page holds, where every other schedule is one that was asked for.
    expect(await passedOver(ask)).toBeLessThan(150)
  })
})

it('who looks after workers reads open runs once, though none were there when they were last counted', async () => {
  const fill = (count: number) =>
    query(
      `insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at, attempt, worker_id, lease_token, lease_expires_at,
         max_attempts, fails_when_stale)
       select gen_random_uuid(), 'noop', 'default', 0, 'running', '2026-03-01', 1, gen_random_uuid(), gen_random_uuid(), '2026-03-02', 3,
         false
       from generate_series(1, $1::int)`,
      [count],
    )
  await fill(4_000)
  await query('delete from {schema}.runs_open')
  for (const table of ['runs_open', 'workers']) await query(`analyze {schema}.${table}`)
  await fill(1_000)
  const look = { id, running: 0, sessionLock: null, unseenMs: 2_000, graceMs: 3_000 }
  // All of them once for each would be a million.
  const rows = await sumOf(
    (s) => lookAfterWorkers(s, look),
    (step) => step['Actual Rows'],
    [{ now: NOW }],
  )
  expect(rows).toBeLessThan(10_000)
})

describe('what is recorded together is not compared, each with each', () => {
  const COUNT = 300
  const OVERLAPS = ['allow', 'skip', 'queue'] as const
  const UNTOLD = { channel: null, offered: null }
  const all = [{ id: null, moved: COUNT, leased_at: null }]
  const put = async (names: string[], overlap: (typeof OVERLAPS)[number]) => {
    const definition = { job: 'noop', timing: every('1 second'), overlap, catchUp: 'all' } as const
    await h.schedules.sync(Object.fromEntries(names.map((name) => [name, definition])))
  }
  const planAt = async (at: Date, isOurs: (name: string) => boolean) => {
    const limits = { limit: 10_000, kinds: ['every'], providers: [] }
    const { due } = await lockDueSchedules({ now: () => at, query: query as Session['query'] }, limits)
    return due
      .filter(({ name }) => isOurs(name))
      .map((schedule) => {
        const plan = planOccurrences(toPlannable(schedule), at.getTime(), undefined, { budget: COUNT })
        return { schedule, plan, wakeAt: plan.nextAt }
      })
  }

  it.each(OVERLAPS)('of many schedules, by a tick, with overlap %s', async (overlap) => {
    await put(
      Array.from({ length: COUNT }, (_, n) => `tick:${overlap}:${n}`),
      overlap,
    )
    const planned = await planAt(NOW, (name) => name.startsWith(`tick:${overlap}:`))
    expect(planned.flatMap(({ plan }) => plan.runs)).toHaveLength(COUNT)
    expect(await passedOver((session) => recordDue(session, planned, UNTOLD), all)).toBeLessThan(20 * COUNT)
  })

  it.each(OVERLAPS)('of many schedules that were planned ahead, with overlap %s', async (overlap) => {
    await put(
      Array.from({ length: COUNT }, (_, n) => `ahead:${overlap}:${n}`),
      overlap,
    )
    const planned = await planAt(NOW, (name) => name.startsWith(`ahead:${overlap}:`))
    expect(planned.flatMap(({ plan }) => plan.runs)).toHaveLength(COUNT)
    const ahead = planned.map((one) => ({ ...one, goodUntil: one.plan.nextAt! }))
    expect(await passedOver((session) => recordAhead(session, ahead, UNTOLD), all)).toBeLessThan(20 * COUNT)
    // They were recorded.
    expect(await planAt(NOW, (name) => name.startsWith(`ahead:${overlap}:`))).toEqual([])
  })

  it.each(OVERLAPS)('of one schedule, by a verb, with overlap %s', async (overlap) => {
    await put([`verb:${overlap}`], overlap)
    const at = new Date(NOW.getTime() + (COUNT - 1) * 1_000)
    const planned = await planAt(at, (name) => name === `verb:${overlap}`)
    expect(planned.flatMap(({ plan }) => plan.runs)).toHaveLength(COUNT)
    expect(await passedOver((session) => recordPlans(session, planned, null))).toBeLessThan(20 * COUNT)
  })
  it('failures of many runs', async () => {
    const leaseToken = randomUUID()
    const opened = await query(
      `with asked as (
         insert into {schema}.runs_asked (id, trigger, job, input, queue, priority, created_at)
         select gen_random_uuid(), 'direct', 'noop', 'null', 'default', 0, '2026-03-01' from generate_series(1, $1::int) returning id
       )
       insert into {schema}.runs_open (id, job, queue, priority, state, eligible_at, attempt, worker_id, lease_token, lease_expires_at,
         started_at, max_attempts, fails_when_stale)
       select id, 'noop', 'default', 0, 'running', '2026-03-01', 1, gen_random_uuid(), $2::uuid, '2026-03-02', '2026-03-01', 3, false
       from asked returning id`,
      [COUNT, leaseToken],
    )
    const failure = {
      leaseToken,
      lotId: null,
      of: null,
      totals: null,
      delayMs: 1_000,
      code: 'odd',
      message: 'odd',
      stack: null,
    }
    const outcomes = opened.map(({ id: runId }, index) => ({
      ...failure,
      runId: runId as string,
      state: index % 2 ? ('failed' as const) : ('retrying' as const),
    }))
    const noticing = { channel: 'none', rules: [] }
    const counted = outcomes.map((_, index) => ({ position: index + 1, lane: null }))
    const ask = (session: Session) => recordIn(session, outcomes, noticing)
    expect(await passedOver(ask, counted)).toBeLessThan(20 * COUNT)
    const [tried] = await query(`select count(*)::int as runs from {schema}.attempts where code = 'odd'`)
    expect(tried).toEqual({ runs: COUNT })
  })
})
