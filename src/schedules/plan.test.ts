import { describe, expect, it } from 'vitest'
import { compileTiming, every, once } from '../time/timing.js'
import { firstPlanTime, planOccurrences } from './plan.js'

const at = (text: string) => Date.parse(`2026-03-01T${text}Z`)
const minutely = compileTiming(every('1 minute'))

function plan(nextAt: string, now: string, endAt: string | null = null) {
  const planned = planOccurrences(
    { timing: minutely, nextAt: at(nextAt), endAt: endAt === null ? null : at(endAt) },
    at(now),
  )
  const time = (instant: number | null) => instant && new Date(instant).toISOString().slice(11, 23)
  return {
    run: planned.run.map(time),
    skip: planned.skip.map(({ first, last, reason }) => [time(first), time(last), reason]),
    nextAt: time(planned.nextAt),
    decidedThrough: time(planned.decidedThrough),
  }
}

describe('planOccurrences', () => {
  it('decides nothing before the cursor is due', () => {
    expect(plan('10:01:00', '10:00:59.999')).toEqual({
      run: [],
      skip: [],
      nextAt: '10:01:00.000',
      decidedThrough: '10:00:59.999',
    })
  })

  it('runs a plan time that equals now', () => {
    expect(plan('10:01:00', '10:01:00')).toEqual({
      run: ['10:01:00.000'],
      skip: [],
      nextAt: '10:02:00.000',
      decidedThrough: '10:01:00.000',
    })
  })

  it('runs all that are less than a minute late', () => {
    expect(plan('10:01:00', '10:01:59.999').run).toEqual(['10:01:00.000'])
    const seconds = compileTiming(every('20 seconds'))
    const { run, skip } = planOccurrences(
      { timing: seconds, nextAt: at('10:00:20'), endAt: null },
      at('10:01:10'),
    )
    expect(run).toEqual([at('10:00:20'), at('10:00:40'), at('10:01:00')])
    expect(skip).toEqual([])
  })

  it('misses what is a minute late when something newer runs', () => {
    expect(plan('10:01:00', '10:02:00')).toMatchObject({
      run: ['10:02:00.000'],
      skip: [['10:01:00.000', '10:01:00.000', 'missed']],
    })
  })

  it('runs the newest of those that are late, and misses the others as one range', () => {
    const hourly = compileTiming(every('1 hour'))
    const { run, skip, nextAt } = planOccurrences(
      { timing: hourly, nextAt: at('01:00:00'), endAt: null },
      at('05:30:00'),
    )
    expect(run).toEqual([at('05:00:00')])
    expect(skip).toEqual([{ first: at('01:00:00'), last: at('04:00:00'), reason: 'missed' }])
    expect(nextAt).toBe(at('06:00:00'))
  })

  it('ends before endAt, also when it has passed meanwhile', () => {
    expect(plan('10:01:00', '10:01:30', '10:02:00')).toMatchObject({ run: ['10:01:00.000'], nextAt: null })
    expect(plan('10:01:00', '10:30:00', '10:05:00')).toMatchObject({
      run: ['10:04:00.000'],
      skip: [['10:01:00.000', '10:03:00.000', 'missed']],
      nextAt: null,
    })
  })

  it('keeps the cursor’s plan time where the timing no longer has it', () => {
    const { run } = planOccurrences({ timing: minutely, nextAt: at('10:00:30'), endAt: null }, at('10:00:45'))
    expect(run).toEqual([at('10:00:30')])
  })
})

describe('firstPlanTime', () => {
  const now = at('10:00:30')

  it('is the first at or after startAt, and never before now', () => {
    const first = (startAt: string | null) =>
      firstPlanTime(minutely, { startAt: startAt === null ? null : at(startAt), endAt: null, now })
    expect(first(null)).toBe(at('10:01:00'))
    expect(first('09:00:00')).toBe(at('10:01:00'))
    expect(first('11:00:00')).toBe(at('11:00:00'))
    expect(first('11:00:00.001')).toBe(at('11:01:00'))
  })

  it('is the instant of once, also when it has passed', () => {
    const timing = compileTiming(once('2026-03-01T08:00:00Z'))
    expect(firstPlanTime(timing, { startAt: null, endAt: null, now })).toBe(at('08:00:00'))
  })
})
