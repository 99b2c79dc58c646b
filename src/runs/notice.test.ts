import { describe, expect, it } from 'vitest'
import { readOrThrow } from '../time/report.js'
import { isNotice, minuteOf, type NoticeEvent, noticeRuns, noticesOf } from './notice.js'
import { type Notification, readNotifications } from './notification.js'
import { directRunIdOf } from './run-id.js'

const rulesOf = (...given: Notification[]) =>
  readOrThrow('option_invalid', (report) => readNotifications(given, 'notify', report))
const BOTH = ['schedule.broken', 'run.failed'] as const

const event = (fields: Partial<NoticeEvent>): NoticeEvent => ({
  name: 'run.failed',
  at: '2026-03-01T12:00:30.000Z',
  scheduleId: 's1',
  schedule: 'report',
  group: null,
  job: 'work',
  reason: null,
  until: null,
  runId: null,
  attempt: null,
  scope: null,
  planTime: null,
  error: null,
  ...fields,
})

describe('notices', () => {
  it('are one for each rule, and each schedule or job of direct runs', () => {
    const rules = rulesOf({ on: BOTH, job: 'page' }, { on: ['run.failed'], job: 'mail' })
    const events = [
      event({ runId: '1' }),
      event({ runId: '2' }),
      event({ runId: '3', scheduleId: 's2' }),
      event({ runId: '4', scheduleId: null }),
      event({ runId: '5', scheduleId: null }),
      event({ runId: '6', scheduleId: null, job: 'other' }),
    ]
    const told = noticesOf(rules, events).map(({ rule, event: { runId } }) => `${rule.job} ${runId}`)
    expect(told).toEqual(['page 1', 'page 3', 'page 4', 'page 6', 'mail 1', 'mail 3', 'mail 4', 'mail 6'])
  })

  it('tell of a schedule that broke rather than of its runs, with the last of them', () => {
    const error = { code: 'handler_error', message: 'no' }
    const events = [
      event({ runId: 'first', planTime: '2026-03-01T12:00:00.000Z', error }),
      event({ runId: 'last', planTime: '2026-03-01T12:00:20.000Z', attempt: 3, scope: 'global', error }),
      event({ name: 'schedule.broken', reason: '2 scheduled runs in a row failed' }),
    ]
    expect(noticesOf(rulesOf({ on: BOTH, job: 'page' }), events).map((notice) => notice.event)).toEqual([
      { ...events[1]!, name: 'schedule.broken', reason: '2 scheduled runs in a row failed' },
    ])
  })

  it('of a group are of its schedules only', () => {
    const rules = rulesOf({ on: BOTH, job: 'page', group: 'acme' })
    const events = [
      event({ runId: '1', group: 'acme' }),
      event({ runId: '2', scheduleId: 's2', group: 'globex' }),
      event({ runId: '3', scheduleId: null }),
    ]
    expect(noticesOf(rules, events).map((notice) => notice.event.runId)).toEqual(['1'])
  })

  it('have an id that follows from the rule, the schedule and the minute', () => {
    const [rule] = rulesOf({ on: BOTH, job: 'page', input: { to: 'ann' }, queue: 'alerts', priority: 9 })
    const minute = minuteOf(Date.parse('2026-03-01T12:00:59.999Z'))
    const { ids, runs } = noticeRuns([{ rule: rule!, event: event({}) }], minute, null)
    const key = `escapement:notice:${rule!.id}:s1:2026-03-01T12:00Z`
    expect(ids).toEqual([directRunIdOf('page', key)])
    expect(runs).toMatchObject([{ job: 'page', queue: 'alerts', priority: 9, key, at: null }])
    expect(JSON.parse(runs[0]!.input)).toEqual({ to: 'ann', event: event({}) })
    expect(isNotice(key)).toBe(true)
    expect(isNotice('notice:of:mine')).toBe(false)
    expect(isNotice(null)).toBe(false)
  })
})
