import { expect, it } from 'vitest'
import { databaseClock } from '../clock.js'
import { parseSchedule } from '../schedules/schedule.js'
import type { Store } from '../store/store.js'
import { cron } from '../time/timing.js'
import { audit } from './audit.js'

const FROM = Date.parse('2026-03-01T00:00:00Z')
const DAY = 86_400_000
const ID = '01960000-0000-7000-8000-000000000000'

/** One schedule for each second that was down for five days. Answers at once, so that only the audit itself takes time. */
function storeOf(): Store {
  const content = { ...parseSchedule('s', { job: 'j', timing: cron('* * * * * *') }), scopes: ['global'] }
  const through = new Date(FROM + 5 * DAY)
  const first = new Date(FROM)
  const change = {
    schedule_id: ID,
    after: content,
    state: 'active',
    boundary: new Date(FROM - 1),
    zone_data: null,
  }
  const schedule = {
    id: ID,
    name: 's',
    is_deleted: false,
    created_at: first,
    state: 'active',
    ledger_from: new Date(FROM - 1),
    decided_through: through,
    zone_data: null,
    zone_data_from: null,
  }
  const skip = { first_plan_time: first, last_plan_time: through, scope: 'global', reason: 'missed' }
  const pages = [[schedule], []]
  const answer = (statement: string): unknown[] => {
    if (statement.includes('is_deleted')) return pages.shift()!
    if (statement.includes('zone_data from {schema}.changes')) return [change]
    if (statement.includes('{schema}.skips')) return [{ ...skip, schedule_id: ID }]
    return statement.includes('as now') ? [{ now: through }] : []
  }
  const session = { query: async (statement: string) => answer(statement), now: () => null }
  return {
    ...session,
    clock: databaseClock,
    transaction: (work: (session: unknown, tx: unknown) => unknown) =>
      work(session, { script: async () => {} }),
  } as unknown as Store
}

it('lets the process go on while it goes through half a million plan times', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const { occurrences, missing, unexpected } = await audit(storeOf(), '')
  isOver = true
  expect([occurrences, missing, unexpected]).toEqual([5 * 86_400 + 1, [], []])
  // None without rests; how many there are with them is how fast this machine is.
  expect(turns).toBeGreaterThan(1)
})
